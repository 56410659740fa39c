// span.ts: the stretch of time of a device that is looked at, as it stands in the address (10m, all, 2026-11-22T14:00:00Z..2026-11-22T14:10:00Z)
// and as moments, ms UTC.

/** `last`: the newest so many ms, which go on; `all`: everything there is; `between`: what stands still. */
export type Span = {kind: 'last'; ms: number} | {kind: 'all'} | {kind: 'between'; from: number; to: number};

/** ms UTC. */
export interface Moments {
  from: number;
  to: number;
}

const UNITS: Record<string, number> = {s: 1000, m: 60e3, h: 3600e3, d: 86400e3};
const LEAST_MS = 1;
/** What the program takes for a moment: some millennia around ours. */
const MOST_MS = 8e15;

export const SPANS = [
  {value: '1m', text: '1 min'},
  {value: '10m', text: '10 min'},
  {value: '1h', text: '1 h'},
  {value: '1d', text: '1 day'},
  {value: '7d', text: '1 week'},
  {value: '30d', text: '30 days'},
  {value: '365d', text: '1 year'},
  {value: 'all', text: 'All'},
] as const;

export function parseSpan(text: string | null): Span | null {
  if (!text) return null;
  if (text === 'all') return {kind: 'all'};
  const last = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text);
  if (last) {
    const ms = Number(last[1]) * UNITS[last[2]!]!;
    return ms >= LEAST_MS && ms < MOST_MS ? {kind: 'last', ms} : null;
  }
  const [from, to] = text.split('..').map((moment) => Date.parse(moment));
  return from !== undefined && to !== undefined && from < to ? {kind: 'between', from, to} : null;
}

export function writeSpan(span: Span): string {
  if (span.kind === 'all') return 'all';
  if (span.kind === 'between') return `${iso(span.from)}..${iso(span.to)}`;
  const unit = ['d', 'h', 'm', 's'].find((name) => span.ms % UNITS[name]! === 0) ?? 's';
  return `${span.ms / UNITS[unit]!}${unit}`;
}

/** As the program reads it; without what is zero behind the seconds. */
export function iso(ms: number): string {
  return new Date(Math.round(ms)).toISOString().replace('.000Z', 'Z');
}

/** `there`: from the first to the newest sample, null: nothing is stored, or it is not known yet; `now` ms. The newest is later than now where a world is
 *  faster than the clock. */
export function momentsOf(span: Span, there: Moments | null, now: number): Moments {
  const end = Math.max(now, there?.to ?? now);
  if (span.kind === 'between') return {from: span.from, to: span.to};
  if (span.kind === 'last') return {from: end - span.ms, to: end};
  return there ?? {from: 0, to: end};
}

/** Whether new samples come into it. */
export function goesOn(span: Span): boolean {
  return span.kind !== 'between';
}

export function between({from, to}: Moments): Span {
  const least = Math.max(to, from + LEAST_MS);
  return {kind: 'between', from: Math.max(from, -MOST_MS), to: Math.min(least, MOST_MS)};
}

/** Twice as long around the same middle, not beyond what is there or now. */
export function wider({from, to}: Moments, there: Moments | null, now: number): Span {
  const half = to - from;
  const middle = (from + to) / 2;
  const end = Math.max(to, Math.min(middle + half, Math.max(now, there?.to ?? now)));
  return between({from: end - 2 * half, to: end});
}
