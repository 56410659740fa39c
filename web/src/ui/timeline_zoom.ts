// timeline_zoom.ts: what the time line shows of the run: all of it, or the stretch that somebody looks at closer. The address has it.
import {effect, signal} from '@preact/signals';
import {isLive, isPlaying, moment, now} from '../live/moment';
import {param, setParams} from '../route';
import {panned, parseStretch, turned, zoomed} from './timeline_stretch';
import type {Stretch} from './timeline_stretch';

/** By a key. */
const STEP = 2;
/** What goes farther at once was put there, s. */
const JUMP = 5;

const address = param('bar');
let written: string | null = null;
const chosen = signal<Stretch | null>(null);

effect(() => {
  if (address.value === written) return;
  written = address.value;
  chosen.value = parseStretch(written);
});

/** The stretch that is shown of a run of `end` s. */
export function shownOf(end: number): Stretch {
  const found = chosen.value;
  return found && found.from < end && found.to - found.from < end ? found : {from: 0, to: end};
}

export const isClose = (): boolean => chosen.value !== null;

function choose(stretch: Stretch | null): void {
  chosen.value = stretch;
  written = stretch && `${stretch.from.toFixed(2)},${stretch.to.toFixed(2)}`;
  setParams({bar: written});
}

/** Around a time that stays where it is, or goes to a share of the stretch; below 1: closer. */
export function zoomAt(time: number, factor: number, share?: number): void {
  choose(zoomed(shownOf(now()), time, factor, now(), share));
}

export function pan(by: number): void {
  choose(panned(shownOf(now()), by, now()));
}

export function showWhole(): void {
  choose(null);
}

export const closer = (): void => zoomAt(moment.peek() ?? now(), 1 / STEP);
export const farther = (): void => zoomAt(moment.peek() ?? now(), STEP);

/** Where the hand was; null: the page has just come. */
let before: {time: number; live: boolean} | null = null;

/** The hand moved to a time. Where it goes by itself it takes the stretch along only if it was in sight, so that somebody can look elsewhere. */
export function follow(time: number): void {
  const stretch = chosen.peek();
  const live = isLive.peek();
  if (stretch && before && time !== before.time) {
    const inSight = before.time >= stretch.from && before.time <= stretch.to;
    const byItself = isPlaying.peek() && live === before.live && Math.abs(time - before.time) < JUMP;
    if (inSight || !byItself) chosen.value = turned(stretch, time, now()) ?? stretch;
  }
  before = {time, live};
}
