// measure.ts: what is measured of a trace: where two cursors stand, and statistics of what is seen.
import type {Trace} from '../../live/decimate';

export interface Statistics {
  least: number;
  greatest: number;
  mean: number;
  rms: number;
}

/** What a trace has at a time between two of its samples, on the line between them. */
function between({times, values}: Trace, i: number, time: number): number {
  const share = (time - times[i]!) / (times[i + 1]! - times[i]!);
  return values[i]! + share * (values[i + 1]! - values[i]!);
}

/** Of the line through the samples, from `from` to `to`; NaN where there is none. Samples may lie beyond both ends, and as close as they like. */
export function statistics(trace: Trace, from: number, to: number): Statistics {
  const {times, values} = trace;
  let least = Infinity;
  let greatest = -Infinity;
  let duration = 0;
  let area = 0;
  let square = 0;
  for (let i = 0; i < times.length; i++) {
    const value = values[i]!;
    if (times[i]! >= from && times[i]! <= to && Number.isFinite(value)) {
      least = Math.min(least, value);
      greatest = Math.max(greatest, value);
    }
    const begin = Math.max(from, times[i]!);
    const end = Math.min(to, times[i + 1] ?? -Infinity);
    if (!(end > begin)) continue;
    const a = between(trace, i, begin);
    const b = between(trace, i, end);
    if (!Number.isFinite(a) || !Number.isFinite(b)) continue;
    least = Math.min(least, a, b);
    greatest = Math.max(greatest, a, b);
    duration += end - begin;
    area += ((a + b) / 2) * (end - begin);
    square += ((a * a + a * b + b * b) / 3) * (end - begin);
  }
  if (least > greatest) return {least: NaN, greatest: NaN, mean: NaN, rms: NaN};
  if (duration === 0) return {least, greatest, mean: least, rms: Math.abs(least)};
  return {least, greatest, mean: area / duration, rms: Math.sqrt(square / duration)};
}

/** The value held at a time: of the last sample not after it. */
export function heldAt({times, values}: Trace, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= time) low = middle + 1;
    else high = middle;
  }
  return low ? values[low - 1]! : NaN;
}
