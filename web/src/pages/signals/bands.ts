// bands.ts: states and flags as stretches of colour with their value, which a line between 0 and 1 shows badly.
import type {Trace} from '../../live/decimate';
import type {Segment} from '../../ui/chart';

/** A state has few values, whole and small. */
const MOST_STATES = 8;
const GREATEST_STATE = 31;
/** What parts of robots call their states. */
const STATES = /(^|\.)(pressed|brownout|held|kind|gear|on)$/;
/** Numbers that count are no states, however few of them there are yet. */
const COUNTS = /(^|\.)(ticks|step|count)$/;

export function isState(name: string, unit: string, {values}: Trace): boolean {
  if (unit !== '1' || COUNTS.test(name)) return false;
  if (STATES.test(name)) return true;
  const seen = new Set<number>();
  for (const value of values) {
    if (!Number.isInteger(value) || value < 0 || value > GREATEST_STATE) return false;
    if (seen.add(value).size > MOST_STATES) return false;
  }
  return seen.size > 1;
}

/** Each value up to the next other one; the last up to where the trace ends. */
export function segmentsOf({times, values}: Trace, show: (value: number) => string, colourOf: (value: number) => string): Segment[] {
  const segments: Segment[] = [];
  let begin = 0;
  for (let i = 1; i <= times.length; i++) {
    if (i < times.length && Object.is(values[i], values[begin])) continue;
    const value = values[begin]!;
    if (!Number.isNaN(value)) segments.push({from: times[begin]!, to: times[Math.min(i, times.length - 1)]!, text: show(value), colour: colourOf(value), rest: value === 0});
    begin = i;
  }
  return segments;
}
