// samples.ts: who wants which signals, and the samples that came. One subscription serves the whole page: the union of what
// its parts want, by name, so that it survives a restart of the program.
import {effect, signal} from '@preact/signals';
import type {Samples} from './codec';
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
const latest = new Map<string, number>();
const subscriptions = new Map<number, string[]>(); // names of those that may still be answered
let number = 0;
let newest = NaN; // s simulated, of the last sample
let turns = 0;
let sendMessage: ((message: PageMessage) => boolean) | null = null;
let scheduled = false;

/** Wants signals until the returned function is called. `keep`: their history too. */
export function want(names: string[], keep: boolean): () => void {
  const key = Symbol();
  wanted.set(key, {names, keep});
  if (keep) names.forEach((name) => rings.has(name) || rings.set(name, new Ring(CAPACITY)));
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
}

/** The last value that came, or NaN. */
export function lastValue(name: string): number {
  return latest.get(name) ?? NaN;
}

/** How often the samples' time has turned back since the page was opened: once for each reset. It is exact as long as somebody
 *  wants a signal, whatever the time is by now. */
export function timesTurnedBack(): number {
  return turns;
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

function subscribe(): void {
  const ids = signalIds.peek();
  const parts = [...wanted.values()].sort((a, b) => Number(b.keep) - Number(a.keep));
  const known = [...new Set(parts.flatMap((part) => part.names))].filter((name) => ids.has(name));
  const names = known.slice(0, MAX_SIGNALS);
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
  for (let at = 0; at < samples.rows.length; at += stride) {
    if (samples.rows[at]! < newest) turns++;
    newest = samples.rows[at]!;
  }
  names.forEach((name, i) => {
    const kept = rings.get(name);
    if (kept) {
      for (let at = 0; at < samples.rows.length; at += stride) kept.push(samples.rows[at]!, samples.rows[at + 1 + i]!);
    }
    latest.set(name, samples.rows[samples.rows.length - stride + 1 + i]!);
  });
}

// Another world: its signals are others, even where names are the same.
effect(() => {
  generation.value;
  rings.forEach((kept) => kept.clear());
  latest.clear();
  newest = NaN;
});
