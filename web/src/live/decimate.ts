// decimate.ts: what is drawn of a ring in a stretch of time: of each bucket the first, least, greatest and last sample, so
// that every spike stays visible and a line of an hour costs no more than one of a second.

export interface Trace {
  times: number[];
  values: number[];
}

/** Samples in the order of their times: a ring, or a trace. */
export interface Series {
  readonly length: number;
  time(index: number): number;
  value(index: number): number;
  /** Index of the first sample at or after `time`; `length` when there is none. */
  find(time: number): number;
}

/** Samples of [from, to], with one beyond each end so that lines reach the edge; at most 4 a bucket. */
export function decimate(series: Series, from: number, to: number, buckets: number): Trace {
  const begin = Math.max(0, series.find(from) - 1);
  const end = Math.min(series.length, series.find(to) + 1);
  const trace: Trace = {times: [], values: []};
  if (end - begin <= 4 * buckets) {
    for (let i = begin; i < end; i++) add(trace, series, i);
    return trace;
  }
  // Buckets are anchored to absolute sample times, not to the window, so that a moving window doesn't shimmer.
  const width = (to - from) / buckets;
  for (let i = begin; i < end; ) {
    const limit = (Math.floor(series.time(i) / width) + 1) * width;
    let stop = i + 1;
    let least = i;
    let greatest = i;
    for (; stop < end && series.time(stop) < limit; stop++) {
      if (series.value(stop) < series.value(least)) least = stop;
      if (series.value(stop) > series.value(greatest)) greatest = stop;
    }
    let previous = -1;
    for (const index of [i, Math.min(least, greatest), Math.max(least, greatest), stop - 1]) {
      if (index > previous) add(trace, series, (previous = index));
    }
    i = stop;
  }
  return trace;
}

function add(trace: Trace, series: Series, index: number): void {
  trace.times.push(series.time(index));
  trace.values.push(series.value(index));
}

/** The same of a trace. */
export function thinned(whole: Trace, from: number, to: number, buckets: number): Trace {
  const {times, values} = whole;
  if (times.length <= 4 * buckets) return whole;
  const series: Series = {length: times.length, time: (i) => times[i]!, value: (i) => values[i]!, find: (time) => firstAt(times, time)};
  return decimate(series, from, to, buckets);
}

/** Index of the first time at or after `time`. */
export function firstAt(times: ArrayLike<number>, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
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
