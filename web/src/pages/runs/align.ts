// align.ts: runs laid over one another: which moment of each is 0, and how far one is from another.
import type {RunDetail, RunSamples} from './types';

/** start; motion: of the first body; or an event, as `eventName` calls it. */
export type Alignment = string;
export const START = 'start';
export const MOTION = 'motion';

export function eventName({source, text}: {source: string; text: string}): string {
  return source ? `${source}: ${text}` : text;
}

/** Events that every run has, in the order in which the first has them. */
export function commonEvents(runs: RunDetail[]): string[] {
  const [first, ...others] = runs.map((run) => new Set(run.events.map(eventName)));
  return [...(first ?? [])].filter((name) => others.every((names) => names.has(name)));
}

/** s of the run that becomes 0; null: it has no such moment. */
export function zeroOf(run: RunDetail | null, alignment: Alignment): number | null {
  if (alignment === START) return 0;
  if (!run) return null;
  if (alignment === MOTION) return run.moved;
  return run.events.find((event) => eventName(event) === alignment)?.time ?? null;
}

export interface Aligned {
  times: number[];
  values: number[];
}

/** One signal of a run, its times moved so that `zero` is 0. */
export function aligned(samples: RunSamples, index: number, zero: number): Aligned {
  return {times: zero === 0 ? samples.time : samples.time.map((time) => time - zero), values: samples.values[index] ?? []};
}

/** Between two samples on the line between them; NaN before the first and behind the last. */
export function valueAt({times, values}: Aligned, time: number): number {
  if (!times.length || !(time >= times[0]!) || time > times[times.length - 1]!) return NaN;
  let low = 0;
  let high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= time) low = middle;
    else high = middle;
  }
  const span = times[high]! - times[low]!;
  const share = span > 0 ? (time - times[low]!) / span : 0;
  return values[low]! + share * (values[high]! - values[low]!);
}

/** A trace less another, at the times of the first at which both are known. */
export function difference(of: Aligned, from: Aligned): Aligned {
  const times: number[] = [];
  const values: number[] = [];
  of.times.forEach((time, i) => {
    const value = of.values[i]! - valueAt(from, time);
    if (Number.isNaN(value)) return;
    times.push(time);
    values.push(value);
  });
  return {times, values};
}

/** Least and greatest of what is seen; NaN of nothing. */
export function extremes({times, values}: Aligned, from: number, to: number): [number, number] {
  let least = Infinity;
  let greatest = -Infinity;
  for (let i = 0; i < times.length; i++) {
    if (times[i]! < from || times[i]! > to || !Number.isFinite(values[i]!)) continue;
    if (values[i]! < least) least = values[i]!;
    if (values[i]! > greatest) greatest = values[i]!;
  }
  return least <= greatest ? [least, greatest] : [NaN, NaN];
}
