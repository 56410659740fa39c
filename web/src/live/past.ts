// past.ts: the past of signals, out of the log of the run that is shown. It comes in tiles, as a map does: stretches of 2^n s with as
// many points each, so that moving and zooming find most of it here, and what is far away never comes.
import {effect, signal} from '@preact/signals';
import {HttpError, requestBytes} from '../http';
import {decimate, firstAt, thinned} from './decimate';
import type {Trace} from './decimate';
import {derived} from './derived';
import {evaluate, isExpression} from './expression';
import type {Compiled} from './expression';
import {ring} from './samples';
import {answerOf, isOfWorld, now, runAddress, shownDetails, shownRun} from './shown_run';
import {generation} from './store';

/** Of a tile; the program halves them: the least and the greatest of each part. */
const TILE_POINTS = 1024;
/** Tiles that one request may ask for; the program gives at most 20,000 points. */
const MOST_TILES = 16;
const MOST_NAMES = 64;
/** Tiles kept; the oldest give way. A tile has at most 16 kB. */
const MOST_KEPT = 4000;
/** The end of a log that grows is asked for again after this, and what could not be had, ms. */
const AGAIN_MS = 500;
/** Coarser tiles than the one that is missing are looked for this far up. */
const COARSER = 12;

interface Tile {
  times: Float64Array;
  values: Float64Array;
  /** s of the run up to which it is complete. */
  until: number;
  /** When it came, or could not be had; ms. */
  asked: number;
  loading: boolean;
}

/** By run, name, level and number; in the order in which they were asked for. */
const tiles = new Map<string, Tile>();
/** What remembers is computed of so many, whoever asks: a plot, its legend and its statistics have the same. */
const EXACT_BUCKETS = 4000;
/** Tiles narrower than this have no more samples in them, but more edges. */
const EXACT_LEVEL = 0;
/** As a plot asks for, so that its tiles serve. */
const HELD_BUCKETS = 1000;
const NOTHING: Trace = {times: [], values: []};

/** Changes when more of the past has come: what draws it draws again. */
export const pastArrived = signal(0);
let under = 0; // questions that are not answered yet

/** Nothing that was looked at is still on its way. */
export function pastIsWhole(): boolean {
  return under === 0;
}

const keyOf = (name: string, level: number, number: number) => `${level} ${number} ${name}`;

// Another run, or another program, which may know more of this one.
effect(() => {
  shownRun.value;
  generation.value;
  tiles.clear();
});

/** So that a part of a tile is about a bucket wide. */
function levelOf(from: number, to: number, buckets: number): number {
  const width = ((to - from) / Math.max(1, buckets)) * (TILE_POINTS / 2);
  return Math.round(Math.log2(Math.max(width, 1 / 16)));
}

/* ---- questions ---- */

interface Stretch {
  level: number;
  first: number;
  last: number;
  names: string[];
}

interface Question extends Stretch {
  run: string;
}

let gathered: Question[] = [];

/** Those of one frame travel together: each plot draws on its own. */
function demand(name: string, level: number, first: number, last: number): void {
  const run = shownRun.peek();
  const same = gathered.find((one) => one.run === run && one.level === level && one.first === first && one.last === last && one.names.length < MOST_NAMES);
  if (same) {
    if (!same.names.includes(name)) same.names.push(name);
    return;
  }
  const question: Question = {run, level, first, last, names: [name]};
  under++;
  gathered.push(question);
  setTimeout(() => {
    gathered = gathered.filter((one) => one !== question);
    void ask(question).then(() => {
      under--;
      pastArrived.value++;
    });
  });
}

/** Answered, or given up: nothing of it is under way then. */
async function ask(question: Question): Promise<void> {
  const {run, level, first, last, names} = question;
  if (run !== shownRun.peek()) return;
  const width = 2 ** level;
  const query = new URLSearchParams(names.map((name) => ['name', name]));
  query.set('from', String(first * width));
  query.set('to', String((last + 1) * width));
  query.set('points', String((last - first + 1) * TILE_POINTS));
  query.set('format', 'binary');
  try {
    const bytes = await answerOf(run, requestBytes(`${runAddress(run)}/signals?${query}`));
    if (run === shownRun.peek()) take(decodeTraces(bytes, names.length), question);
  } catch (error) {
    if (run !== shownRun.peek()) return;
    const unknown = error instanceof HttpError && error.status === 404;
    // One that the run doesn't have spoils it for all.
    if (unknown && names.length > 1) await Promise.all(names.map((name) => ask({...question, names: [name]})));
    else giveUp(question, unknown);
  }
}

/** What the run doesn't have is as complete as it will be; the rest is asked for again. */
function giveUp({level, first, last, names}: Stretch, unknown: boolean): void {
  for (const name of names) {
    for (let number = first; number <= last; number++) {
      const tile = tiles.get(keyOf(name, level, number));
      if (tile) Object.assign(tile, {loading: false, asked: performance.now(), ...(unknown && {until: Infinity})});
    }
  }
}

export interface Samples {
  times: Float64Array;
  values: Float64Array;
  /** There are more than these. */
  thin: boolean;
}

/** Of each name u32 count, u32 thin, count × times, count × values. */
export function decodeTraces(bytes: ArrayBuffer, names: number): Samples[] {
  const view = new DataView(bytes);
  let at = 0;
  return Array.from({length: names}, () => {
    const count = view.getUint32(at, true);
    const thin = view.getUint32(at + 4, true) !== 0;
    if (at + 8 + 16 * count > bytes.byteLength) throw new RangeError('the traces end early');
    const trace = {times: new Float64Array(bytes, at + 8, count), values: new Float64Array(bytes, at + 8 + 8 * count, count), thin};
    at += 8 + 16 * count;
    return trace;
  });
}

function take(traces: {times: Float64Array; values: Float64Array}[], {level, first, last, names}: Stretch): void {
  const width = 2 ** level;
  const growing = isOfWorld.peek() || (shownDetails.peek()?.recording ?? true); // until it is known, it may
  names.forEach((name, i) => {
    const {times, values} = traces[i]!;
    const reached = times.length ? times[times.length - 1]! : 0;
    for (let number = first; number <= last; number++) {
      const begin = firstAt(times, number * width);
      const stop = firstAt(times, (number + 1) * width);
      tiles.delete(keyOf(name, level, number));
      tiles.set(keyOf(name, level, number), {times: times.slice(begin, stop), values: values.slice(begin, stop), until: Math.min(growing ? reached : Infinity, (number + 1) * width), asked: performance.now(), loading: false});
    }
  });
  for (const key of tiles.keys()) {
    if (tiles.size <= MOST_KEPT) break;
    tiles.delete(key);
  }
}

/* ---- answers ---- */

let waking: ReturnType<typeof setTimeout> | undefined;

/** Something lacks that was asked for a moment ago. Whoever rests looks again, though nothing else changes. */
function wakeLater(): void {
  waking ??= setTimeout(() => {
    waking = undefined;
    pastArrived.value++;
  }, AGAIN_MS);
}

/** Numbers of the tiles between two times that are missing, or that end too early, as first and last. */
function missing(name: string, level: number, from: number, to: number): [number, number] | null {
  const width = 2 ** level;
  const part = width / (TILE_POINTS / 2);
  let first = Infinity;
  let last = -Infinity;
  for (let number = Math.floor(from / width); number * width < to; number++) {
    const tile = tiles.get(keyOf(name, level, number));
    const wanted = Math.min(to, (number + 1) * width);
    if (tile && (tile.loading || tile.until >= wanted - Math.max(part, 1e-6))) continue;
    if (tile && performance.now() - tile.asked < AGAIN_MS) {
      wakeLater();
      continue;
    }
    first = Math.min(first, number);
    last = number;
  }
  return first <= last ? [first, Math.min(last, first + MOST_TILES - 1)] : null;
}

function load(name: string, level: number, from: number, to: number): void {
  const lacking = missing(name, level, from, to);
  if (!lacking) return;
  const [first, last] = lacking;
  for (let number = first; number <= last; number++) {
    const key = keyOf(name, level, number);
    const tile = tiles.get(key) ?? {times: new Float64Array(), values: new Float64Array(), until: -Infinity, asked: 0, loading: true};
    tiles.set(key, {...tile, loading: true});
  }
  demand(name, level, first, last);
}

/** The tile, or as much of a coarser one as there is of it. */
function best(name: string, level: number, number: number): Tile | undefined {
  for (let up = 0; up <= COARSER; up++) {
    const tile = tiles.get(keyOf(name, level + up, Math.floor(number / 2 ** up)));
    if (tile && tile.until > -Infinity) return tile;
  }
  return undefined;
}

/** With a sample beyond each end, so that lines reach the edge. */
function gather(name: string, level: number, from: number, to: number): Trace {
  const width = 2 ** level;
  const trace: Trace = {times: [], values: []};
  for (let number = Math.floor(from / width); number * width <= to; number++) {
    const tile = best(name, level, number);
    if (!tile) continue;
    const begin = Math.max(0, firstAt(tile.times, Math.max(from, number * width)) - (number * width <= from ? 1 : 0));
    const end = Math.min(tile.times.length, firstAt(tile.times, Math.min(to, (number + 1) * width)) + (to < (number + 1) * width ? 1 : 0));
    for (let i = begin; i < end; i++) {
      trace.times.push(tile.times[i]!);
      trace.values.push(tile.values[i]!);
    }
  }
  return trace;
}

/** s from which on this page has seen the signal itself. */
function seenFrom(name: string): number {
  const seen = isOfWorld.peek() ? ring(name) : undefined;
  return seen?.length ? seen.time(0) : Infinity;
}

const compiledOf = (name: string) => (isExpression(name) ? derived(name) : null);

/** Does what it has at a time depend on where it began? */
export function remembers(name: string): boolean {
  return compiledOf(name)?.remembers ?? false;
}

/** The signals behind it. */
function inputsOf(name: string): string[] {
  return isExpression(name) ? (derived(name)?.inputs ?? []) : [name];
}

/** s up to which the log is asked for what this page has not seen. */
const oldUntil = (name: string, to: number) => Math.min(to, seenFrom(name), now());
const hasPast = (from: number, old: number) => shownRun.peek() !== '' && old > Math.max(0, from);

/** Of a signal, or of a formula over several, at a level. */
function fromLog(name: string, level: number, from: number, to: number): Trace {
  if (!isExpression(name)) return gather(name, level, from, to);
  const compiled = derived(name);
  return compiled ? evaluate(compiled, compiled.inputs.map((input) => gather(input, level, from, to))) : NOTHING;
}

/** What the log has, and from where this page has seen it, what it saw. */
function joined(name: string, level: number, from: number, to: number, buckets: number): Trace {
  const since = seenFrom(name);
  const old = oldUntil(name, to);
  const past = hasPast(from, old) ? fromLog(name, level, Math.max(0, from), old) : NOTHING;
  if (to < since) return past;
  const recent = decimate(ring(name)!, Math.max(from, since), to, buckets);
  if (!past.times.length) return recent;
  const seam = recent.times[0] ?? Infinity; // the log's last sample may be one that was seen, too
  const end = firstAt(past.times, seam);
  return {times: [...past.times.slice(0, end), ...recent.times], values: [...past.values.slice(0, end), ...recent.values]};
}

/** What stands before the left edge holds there. */
function fromEdge({times, values}: Trace, edge: number): Trace {
  const first = firstAt(times, edge);
  if (first === 0) return {times, values};
  if (times[first] === edge) return {times: times.slice(first), values: values.slice(first)};
  return {times: [edge, ...times.slice(first)], values: [values[first - 1]!, ...values.slice(first)]};
}

/** Of formulas that remember: what was computed last, and of what. */
const computed = new Map<string, {of: string; compiled: Compiled; trace: Trace}>();
const MOST_COMPUTED = 100;

const exactLevel = (from: number, to: number) => Math.max(EXACT_LEVEL, levelOf(from, to, EXACT_BUCKETS));

/** A formula that remembers begins at the left edge, whatever of its signals is in the log and what this page has seen. */
function fromLeftEdge(name: string, compiled: Compiled, from: number, to: number): Trace {
  const seen = compiled.inputs.map((input) => (isOfWorld.peek() ? ring(input) : undefined)).map((kept) => (kept?.length ? `${kept.time(0)} ${kept.time(kept.length - 1)}` : ''));
  const of = [from, to, shownRun.peek(), pastArrived.peek(), ...seen].join();
  const before = computed.get(name);
  if (before?.of === of && before.compiled === compiled) return before.trace;
  const traces = compiled.inputs.map((input) => joined(input, exactLevel(from, to), from, to, EXACT_BUCKETS));
  const trace = evaluate(compiled, traces.map((input) => fromEdge(input, from)));
  if (computed.size >= MOST_COMPUTED) computed.clear();
  computed.set(name, {of, compiled, trace});
  return trace;
}

/** What there is by now of a signal or formula in a stretch of the run, about `buckets` × 4 points: from the log, and what the page has
 *  seen since. What is missing is asked for; `pastArrived` tells when it has come. */
export function traceOf(name: string, from: number, to: number, buckets: number): Trace {
  wantTrace(name, from, to, buckets);
  const compiled = compiledOf(name);
  if (compiled?.remembers) return thinned(fromLeftEdge(name, compiled, from, to), from, to, buckets);
  return joined(name, levelOf(from, to, buckets), from, to, buckets);
}

/** Asks for what is missing of a stretch, as traceOf() does, without putting together what there is. */
export function wantTrace(name: string, from: number, to: number, buckets: number): void {
  const exact = remembers(name);
  for (const input of inputsOf(name)) {
    const old = oldUntil(exact ? input : name, to);
    if (hasPast(from, old)) load(input, exact ? exactLevel(from, to) : levelOf(from, to, buckets), Math.max(0, from), old);
  }
}

/** What a signal is worth at a time in a stretch that is drawn: what it was last before it, as the drawing has it; NaN: nothing yet. */
export function heldAt(name: string, time: number, from: number, to: number): number {
  const compiled = compiledOf(name);
  if (!compiled?.remembers && time >= seenFrom(name)) return ring(name)!.at(time);
  const {times, values} = compiled?.remembers ? fromLeftEdge(name, compiled, from, to) : traceOf(name, from, to, HELD_BUCKETS);
  let at = times.length - 1;
  while (at >= 0 && times[at]! > time) at--;
  return values[at] ?? NaN;
}
