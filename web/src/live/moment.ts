// moment.ts: the moment that all pages show, and the hand that moves it. What shows the world, plots it or tells its values takes all
// from here; commands and the e-stop go to the world that computes now, whatever is shown.
import {batch, computed, effect, signal} from '@preact/signals';
import type {ReadonlySignal} from '@preact/signals';
import {param, setParams} from '../route';
import {control} from './control';
import {newestFrame} from './frames';
import {isOfWorld, isServed, now, shownDetails, shownRun} from './shown_run';
import {hello, live, status} from './store';
import {valuesWanted} from './values';

export {heldAt, pastArrived, pastIsWhole, remembers, traceOf, wantTrace} from './past';
export {goneRun, isOfWorld, isServed, now, shownDetails, shownModel, shownRun, shownScenery, shownSignals} from './shown_run';
export {valueAt} from './values';

export const SLOWEST = 0.1;
export const FASTEST = 10;
/** Nearer to its end than this a running world is LIVE, s. */
const AT_THE_END = 0.05;
/** Backwards through a run that the program itself shows: a seek after this, ms. */
const SEEK_MS = 50;

/** Where the hand was put; null: nowhere. */
const at = signal<number | null>(null);
/** Where the program stands that shows a kept run itself. */
const servedAt = signal(0);
/** s of wall time a second; negative: backwards. */
export const speed = signal(1);
/** From the end, or that of the stretch that plots show, back to its beginning. */
export const looping = signal(false);
const moving = signal(false);

/** Run time that is shown, s; null: LIVE. */
export const moment: ReadonlySignal<number | null> = computed(() => {
  if (isServed.value) return at.value ?? servedAt.value;
  return isOfWorld.value ? at.value : (at.value ?? 0);
});
export const isLive: ReadonlySignal<boolean> = computed(() => moment.value === null);
/** The moment moves by itself: a run is played, or a world is LIVE and not paused. */
export const isPlaying: ReadonlySignal<boolean> = computed(() => {
  if (isServed.value) return moving.value || !(status.value?.paused ?? true);
  return isLive.value ? !(status.value?.paused ?? true) : moving.value;
});

/** Run time that is shown, s, LIVE too. */
export function shownTime(): number {
  return moment.peek() ?? now();
}

/** Is it known how long the run is? */
function isKnown(): boolean {
  return isOfWorld.peek() || isServed.peek() || shownDetails.peek() !== null;
}

const address = param('t');
let written: string | null = null;

/** The address has the moment where it rests; what the program itself plays goes on without it. */
function write(): void {
  const time = isServed.peek() ? (isPlaying.peek() ? null : shownTime()) : at.peek();
  written = time === null ? null : time.toFixed(3);
  setParams({t: written});
}

function place(time: number): void {
  at.value = time;
  if (isServed.peek()) control('seek', time);
}

/** Goes to a run time, s; to the end of a running world's: LIVE. */
export function seek(time: number): void {
  if (isOfWorld.peek() && time >= now() - AT_THE_END) return goLive();
  place(Math.max(0, isKnown() ? Math.min(time, now()) : time));
  write();
}

/** What happens now in the world of the program; where it has none, the end of the run. */
export function goLive(): void {
  if (isServed.peek()) return seek(now());
  pause();
  batch(() => {
    at.value = null;
    setParams({run: null, from: null, to: null, ...(isOfWorld.peek() ? {} : {bar: null})});
    write();
  });
}

/** Shows a kept run from its beginning, or from a run time in s, and plays it. */
export function openRun(id: string, time = 0): void {
  batch(() => {
    setParams({run: id, from: null, to: null, bar: null});
    at.value = time;
    write();
  });
  speed.value = 1;
  play();
}

/* ---- playing ---- */

/** The stretch that is played: what plots were zoomed to, if it is looped, or the whole run. */
function bounds(): [number, number] {
  const from = Number(param('from').peek() ?? NaN);
  const to = Number(param('to').peek() ?? NaN);
  return looping.peek() && to > from ? [Math.max(0, from), Math.min(to, now())] : [0, now()];
}

/** Plays from the moment on; from the far end of the run, from the near one. LIVE there is nothing to play. */
export function play(): void {
  if (isLive.peek()) return;
  const [from, to] = bounds();
  const ahead = speed.peek() > 0;
  if (isKnown() && ahead && shownTime() >= to - 1e-3) place(from);
  else if (isKnown() && !ahead && shownTime() <= from + 1e-3) place(to);
  const byProgram = isServed.peek() && ahead;
  if (isServed.peek()) {
    if (byProgram) control('speed', speed.peek());
    control(byProgram ? 'resume' : 'pause');
  }
  if (byProgram) moving.value = false;
  else start();
}

export function pause(): void {
  if (isServed.peek()) control('pause');
  if (!moving.peek()) return;
  moving.value = false;
  write();
}

export function togglePlay(): void {
  if (isPlaying.peek()) pause();
  else play();
}

/** How fast a run is played; negative: backwards. */
export function setSpeed(factor: number): void {
  const size = Math.min(FASTEST, Math.max(SLOWEST, Math.abs(factor)));
  speed.value = factor < 0 ? -size : size;
  if (isPlaying.peek() && !isLive.peek()) play();
}

/** As J and L do: plays in a direction; again, twice as fast. */
export function shuttle(direction: 1 | -1): void {
  if (isLive.peek()) {
    if (direction > 0) return;
    place(now());
  }
  const same = isPlaying.peek() && Math.sign(speed.peek()) === direction;
  setSpeed(direction * (same ? 2 * Math.abs(speed.peek()) : 1));
  play();
}

/** By so many s; the run rests there. */
export function stepBy(seconds: number): void {
  const from = shownTime();
  if (!isLive.peek()) pause();
  seek(from + seconds);
}

let last = 0; // ms

function start(): void {
  last = performance.now();
  if (moving.peek()) return;
  moving.value = true;
  requestAnimationFrame(move);
}

function move(time: number): void {
  if (!moving.peek()) return;
  requestAnimationFrame(move);
  if (!isKnown()) last = time;
  if (!isKnown() || (isServed.peek() && time - last < SEEK_MS)) return;
  const [from, to] = bounds();
  let next = shownTime() + (speed.peek() * Math.max(0, time - last)) / 1000;
  last = time;
  if (next >= to || next <= from) {
    const ahead = speed.peek() > 0;
    if (!looping.peek() && ahead && isOfWorld.peek()) return goLive();
    if (looping.peek()) next = ahead ? from : to;
    else if (ahead ? next >= to : next <= from) {
      place(ahead ? to : from);
      return pause();
    }
  }
  place(next);
}

/* ---- what else moves it ---- */

// The address: somebody opened it, or went back.
effect(() => {
  const text = address.value;
  if (text === written) return;
  written = text;
  const time = text === null ? NaN : Number(text);
  at.value = Number.isFinite(time) && time >= 0 ? time : null;
});

// A program that shows a kept run goes where the address says as soon as it is there; afterwards the hand is where it is.
effect(() => {
  if (!live.value || !isServed.value) return;
  const wanted = at.peek();
  if (wanted !== null) {
    control('pause');
    control('seek', wanted);
  }
  let request = requestAnimationFrame(function follow() {
    request = requestAnimationFrame(follow);
    const frame = newestFrame();
    if (!frame) return;
    servedAt.value = frame.time;
    // Held until the program has come there; it goes in ticks.
    if (at.peek() !== null && Math.abs(frame.time - at.peek()!) < 0.1) at.value = null;
    if (looping.peek() && status.peek()?.paused && !moving.peek() && frame.time >= bounds()[1] - 1e-3) play();
  });
  return () => cancelAnimationFrame(request);
});

let world: string | undefined; // the run that the program is in or shows; undefined: not heard of yet

// Where somebody was in the world before is nowhere in the one that has begun. A run that the address names is the same as ever.
effect(() => {
  const said = hello.value;
  if (!said) return;
  const before = world;
  world = said.replay?.run ?? (said.recording || said.token);
  if (before === undefined || before === world || param('run').peek() !== null) return;
  batch(() => {
    at.value = null;
    moving.value = false;
    setParams({from: null, to: null, bar: null});
    write();
  });
});

// Another run is not played on where this one was.
effect(() => {
  shownRun.value;
  moving.value = false;
});

// What values are asked for.
effect(() => {
  valuesWanted.value = moment.value;
});
