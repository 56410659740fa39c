// measured.ts: statistics of what is seen and values at the cursors, of each trace, computed no oftener than people read them.
import {heldAt as drawnAt, pastArrived, remembers, traceOf} from '../../live/moment';
import {cursors, frozen, visible} from './plots';
import {heldAt, statistics} from './measure';
import type {Statistics} from './measure';

/** More samples are taken by the least and the greatest of each stretch. */
const BUCKETS = 4000;
const PERIOD_MS = 400;
/** Of the time: what took long is not done again at once. */
const SHARE = 0.1;

interface Known {
  /** Of what: a stretch that stays, and as much of its past as had come; '' while it moves on. */
  of: string;
  until: number; // ms
  found: Seen;
}
const known = new Map<string, Known>();
/** As few points as so many samples become, once they are taken by their least and greatest. */
const THINNED = 1.4 * BUCKETS;

export interface Seen extends Statistics {
  /** Mean and rms are of the least and the greatest of each stretch, since there are too many samples. */
  about: boolean;
}

export function statisticsOf(name: string): Seen {
  const {from, to} = visible();
  const now = performance.now();
  const of = frozen.peek() ? `${from} ${to} ${pastArrived.peek()}` : '';
  const before = known.get(name);
  if (before?.of === of && now < before.until) return before.found;
  const trace = traceOf(name, from, to, BUCKETS);
  const found = {...statistics(trace, from, to), about: trace.times.length >= THINNED};
  if (known.size > 200) known.clear();
  known.set(name, {of, found, until: now + Math.max(PERIOD_MS, (performance.now() - now) / SHARE)});
  return found;
}

/** The value at a cursor. */
export function atCursor(name: string, which: 0 | 1): number {
  const time = cursors.peek()?.[which];
  if (time === undefined) return NaN;
  const {from, to} = visible();
  return remembers(name) ? drawnAt(name, time, from, to) : heldAt(traceOf(name, time - 1, time, BUCKETS), time);
}
