// timeline_stretch.ts: stretches of a run that a time line shows: zoomed, moved, and turned like a page.

export interface Stretch {
  from: number; // s of the run
  to: number;
}

/** Narrower than this nothing is told apart any more, s. */
const NARROWEST = 0.2;

/** What an address says: FROM,TO in s. */
export function parseStretch(text: string | null): Stretch | null {
  const [from = NaN, to = NaN] = text?.split(',').map(Number) ?? [];
  return from >= 0 && to - from >= NARROWEST && Number.isFinite(to) ? {from, to} : null;
}

/** A stretch of this length, moved into the run; null: it is all of the run. */
function within(from: number, length: number, end: number): Stretch | null {
  if (length >= end) return null;
  const begin = Math.min(Math.max(0, from), end - length);
  return {from: begin, to: begin + length};
}

/** Where a time is between both ends, 0…1. */
export function shareOf(time: number, {from, to}: Stretch): number {
  return to > from ? Math.min(1, Math.max(0, (time - from) / (to - from))) : 0;
}

/** The stretch `factor` times as long that has a time at a share of it: where it was, if nothing else is said. */
export function zoomed(stretch: Stretch, time: number, factor: number, end: number, share = shareOf(time, stretch)): Stretch | null {
  const length = Math.max(NARROWEST, factor * (stretch.to - stretch.from));
  return within(time - share * length, length, end);
}

/** Moved by so many s. */
export function panned({from, to}: Stretch, by: number, end: number): Stretch | null {
  return within(from + by, to - from, end);
}

/** Where the hand has left it, the stretch that has the hand again: by whole lengths, so that what lies ahead is seen. */
export function turned({from, to}: Stretch, time: number, end: number): Stretch | null {
  const length = to - from;
  return time >= from && time <= to ? {from, to} : within(from + Math.floor((time - from) / length) * length, length, end);
}
