// decimate.ts: what is drawn of a ring in a stretch of time: of each bucket the first, least, greatest and last sample, so
// that every spike stays visible and a line of an hour costs no more than one of a second.
import type {Ring} from './ring';

export interface Trace {
  times: number[];
  values: number[];
}

/** Samples of [from, to], with one beyond each end so that lines reach the edge; at most 4 a bucket. */
export function decimate(ring: Ring, from: number, to: number, buckets: number): Trace {
  const begin = Math.max(0, ring.find(from) - 1);
  const end = Math.min(ring.length, ring.find(to) + 1);
  const trace: Trace = {times: [], values: []};
  if (end - begin <= 4 * buckets) {
    for (let i = begin; i < end; i++) add(trace, ring, i);
    return trace;
  }
  // Buckets are anchored to absolute sample times, not to the window, so that a moving window doesn't shimmer.
  const width = (to - from) / buckets;
  for (let i = begin; i < end; ) {
    const limit = (Math.floor(ring.time(i) / width) + 1) * width;
    let stop = i + 1;
    let least = i;
    let greatest = i;
    for (; stop < end && ring.time(stop) < limit; stop++) {
      if (ring.value(stop) < ring.value(least)) least = stop;
      if (ring.value(stop) > ring.value(greatest)) greatest = stop;
    }
    let previous = -1;
    for (const index of [i, Math.min(least, greatest), Math.max(least, greatest), stop - 1]) {
      if (index > previous) add(trace, ring, (previous = index));
    }
    i = stop;
  }
  return trace;
}

function add(trace: Trace, ring: Ring, index: number): void {
  trace.times.push(ring.time(index));
  trace.values.push(ring.value(index));
}

/** Traces on one time axis, as plots want them: the union of all times, null where a trace has no sample of its own. */
export function align(traces: Trace[]): [number[], ...(number | null)[][]] {
  const times = [...new Set(traces.flatMap((trace) => trace.times))].sort((a, b) => a - b);
  const rows = traces.map((trace) => {
    const row: (number | null | undefined)[] = new Array(times.length);
    let next = 0;
    for (let i = 0; i < times.length; i++) {
      if (next < trace.times.length && trace.times[next] === times[i]) row[i] = trace.values[next++];
      else row[i] = undefined; // no sample: the line goes on
    }
    return row as (number | null)[];
  });
  return [times, ...rows];
}
