// samples.ts: who wants which signals, and the samples that came. One subscription serves the whole page: the union of what
// its parts want, by name, so that it survives a restart of the program.
import {effect, signal} from '@preact/signals';
import type {Samples} from './codec';
import {derivedLive} from './derived';
import {isExpression} from './expression';
import type {Step} from './functions';
import {newestFrame} from './frames';
import {Ring} from './ring';
import {generation, hello, signalIds} from './store';
import type {PageMessage} from './types';

/** An hour at 100 Hz. */
const CAPACITY = 360_000;
const MAX_RATE = 100;
/** The program refuses more in one subscription; what is plotted comes first. */
const MAX_SIGNALS = 256;

/** Samples lost on the way since the page was opened. */
export const lostSamples = signal(0);

const wanted = new Map<symbol, {names: string[]; keep: boolean}>();
const rings = new Map<string, Ring>();
const unkept = new Set<string>(); // rings that nothing comes into: who wants them again has no use for what stands before the gap
const latest = new Map<string, number>();
const evaluations = new Map<string, Step>(); // of the formulas that are wanted
const subscriptions = new Map<number, string[]>(); // names of those that may still be answered
let number = 0;
let newest = NaN; // s of the run, of the last sample
let newestNames: string[] = []; // whose values it told
let clock = NaN; // s simulated, of the last sample that told it
let firstClock = NaN; // and of the first
let turns = 0;
let sendMessage: ((message: PageMessage) => boolean) | null = null;
let scheduled = false;

/** Wants signals, and formulas over them, until the returned function is called. `keep`: their history too. */
export function want(names: string[], keep: boolean): () => void {
  const key = Symbol();
  wanted.set(key, {names, keep});
  if (keep) names.forEach((name) => (rings.has(name) && !unkept.delete(name)) || rings.set(name, new Ring(CAPACITY)));
  schedule();
  return () => {
    wanted.delete(key);
    schedule();
  };
}

/** History of a signal that somebody wanted with `keep`. */
export function ring(name: string): Ring | undefined {
  return rings.get(name);
}

/** Forgets the history of a signal nobody plots any more. */
export function forget(name: string): void {
  rings.delete(name);
  unkept.delete(name);
}

/** The last value that came, or NaN. */
export function lastValue(name: string): number {
  return latest.get(name) ?? NaN;
}

/** The signal of simulated time, which begins anew with a reset; the samples' own time is the run's, which goes on. */
export const CLOCK = 'time';

/** How often simulated time has turned back since the page was opened: once for each reset. It is exact as long as somebody
 *  wants `CLOCK`. */
export function timesTurnedBack(): number {
  return turns;
}

/** What the first sample since somebody wanted `CLOCK` told, s; NaN before: from the next on it is seen to turn back. */
export function clockAtFirst(): number {
  return firstClock;
}

/** Run time of the newest sample, s; NaN before the first. */
export function sampleTime(): number {
  return newest;
}

/** Run time of the newest sample or picture, s; 0 before the first. */
export function newestTime(): number {
  return Math.max(Number.isFinite(newest) ? newest : 0, newestFrame()?.time ?? 0);
}

/** Changes are gathered, so that a tree that unfolds sends one message. */
function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  setTimeout(() => {
    scheduled = false;
    subscribe();
  });
}

export function resubscribe(send: (message: PageMessage) => boolean): void {
  sendMessage = send;
  subscriptions.clear();
  subscribe();
}

/** A formula stands for its signals. */
function inputsOf(name: string): string[] {
  return isExpression(name) ? (derivedLive(name)?.inputs ?? []) : [name];
}

function subscribe(): void {
  const ids = signalIds.peek();
  const parts = [...wanted.values()].sort((a, b) => Number(b.keep) - Number(a.keep));
  const asked = new Set(parts.flatMap((part) => part.names));
  const keptNames = new Set(parts.flatMap((part) => (part.keep ? part.names : [])));
  for (const name of rings.keys()) keptNames.has(name) || unkept.add(name);
  for (const name of evaluations.keys()) asked.has(name) || evaluations.delete(name);
  for (const name of asked) begin(name);
  const known = [...new Set([...asked].flatMap(inputsOf))].filter((name) => ids.has(name));
  const names = known.slice(0, MAX_SIGNALS);
  if (!names.includes(CLOCK)) clock = firstClock = NaN;
  const previous = subscriptions.get(number);
  if (previous && previous.length === names.length && previous.every((name, i) => name === names[i])) return;
  subscriptions.set(++number, names);
  subscriptions.delete(number - 8);
  const tick = hello.peek()?.tick ?? 0.01;
  sendMessage?.({
    type: 'subscribe',
    number,
    signals: names.map((name) => ids.get(name)!),
    rate: Math.min(MAX_RATE, 1 / tick),
  });
}

export function takeSamples(samples: Samples): void {
  const names = subscriptions.get(samples.number);
  if (!names || names.length !== samples.width || !samples.count) return;
  if (samples.lost) lostSamples.value += samples.lost;
  const stride = 1 + samples.width;
  const told = 1 + names.indexOf(CLOCK);
  for (let at = 0; told > 0 && at < samples.rows.length; at += stride) {
    if (samples.rows[at + told]! < clock) turns++;
    clock = samples.rows[at + told]!;
    if (Number.isNaN(firstClock) && samples.number === number) firstClock = clock; // what was asked before may be older
  }
  newestNames = names;
  newest = samples.rows[samples.rows.length - stride]!;
  evaluate(names, samples.rows, stride);
  names.forEach((name, i) => {
    const kept = rings.get(name);
    if (kept) {
      for (let at = 0; at < samples.rows.length; at += stride) kept.push(samples.rows[at]!, samples.rows[at + 1 + i]!);
    }
    latest.set(name, samples.rows[samples.rows.length - stride + 1 + i]!);
  });
}

/** Told by the last sample, and by each to come. */
function isTold(name: string): boolean {
  return newestNames.includes(name) && !!subscriptions.get(number)?.includes(name);
}

/** What is told already begins with the last sample: of a world that is paused no other may come for long. */
function begin(name: string): void {
  const inputs = inputsOf(name);
  const known = inputs.length > 0 && inputs.every(isTold);
  const compiled = isExpression(name) && !evaluations.has(name) ? derivedLive(name) : null;
  if (compiled) {
    const step = compiled.make();
    evaluations.set(name, step);
    if (known) latest.set(name, step(newest, inputs.map(lastValue)));
  }
  const kept = rings.get(name);
  if (known && kept?.length === 0) kept.push(newest, lastValue(name));
}

function evaluate(names: string[], rows: Float64Array, stride: number): void {
  for (const [name, step] of evaluations) {
    const places = inputsOf(name).map((input) => 1 + names.indexOf(input));
    if (places.includes(0)) continue;
    const kept = rings.get(name);
    const values = new Array<number>(places.length);
    let value = NaN;
    for (let at = 0; at < rows.length; at += stride) {
      for (let i = 0; i < places.length; i++) values[i] = rows[at + places[i]!]!;
      value = step(rows[at]!, values);
      kept?.push(rows[at]!, value);
    }
    latest.set(name, value);
  }
}

// Another world: its signals are others, even where names are the same.
effect(() => {
  generation.value;
  rings.forEach((kept) => kept.clear());
  latest.clear();
  evaluations.clear();
  newestNames = [];
  newest = clock = firstClock = NaN;
});
