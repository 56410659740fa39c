// shown_run.ts: which run is shown, that of the world or a kept one; what it consists of and what happened in it. Run time is s since
// the run's log began: it goes on through resets.
import {computed, effect, signal} from '@preact/signals';
import type {ReadonlySignal} from '@preact/signals';
import {flag, listOf, number, numbers, object, oneOf, orNothing, orNull, text} from '../check';
import type {Check, Checked} from '../check';
import {HttpError, request} from '../http';
import {param} from '../route';
import {newestTime} from './samples';
import {connection, events, generation, hello, keptModel, model, notify} from './store';
import type {Model} from './types';

const happened = object({time: number, source: text, text});
/** A robot is in a mode from then on. */
const modeChange = object({robot: text, time: number, mode: oneOf('disabled', 'autonomous', 'teleop', 'test', 'estop')});
const details = object({
  duration: number, recording: flag, name: text, scene: text, started: text, events: listOf(happened),
  modes: orNothing(listOf(modeChange)), program: orNull(text),
});
export type RunDetails = Checked<typeof details>;
export type Happened = Checked<typeof happened>;

/** What this page reads of a kept model; the program wrote it itself. */
const named = object({name: text});
const keptModelCheck = object({
  bodies: listOf(named), joints: listOf(named), robots: listOf(named), signals: listOf(object({name: text, unit: text})), commands: listOf(named),
  shapes: listOf(object({body: number, size: numbers, position: numbers, rotation: numbers})), meshes: number,
});

/** Logs keep no textures. */
const NO_TEXTURE = -1;
/** While a run grows, its length and what happened in it are asked for again after this, ms. */
export const AGAIN_MS = 2000;
/** An event is in the log a little after it was told, ms. */
const WRITTEN_MS = 300;

/** Id of the run that is shown; '' while a world runs of which nothing is kept. */
export const shownRun: ReadonlySignal<string> = computed(() => param('run').value ?? hello.value?.replay?.run ?? hello.value?.recording ?? '');
/** The program itself shows this run in place of a world: its own clock moves it, for all who look. */
export const isServed = computed(() => !!hello.value?.replay && hello.value.replay.run === shownRun.value);
/** What is shown is the run of the world that computes now. */
export const isOfWorld = computed(() => !hello.value?.replay && shownRun.value === (hello.value?.recording ?? ''));

/** What is known of the shown run; null: nothing yet. */
export const shownDetails = signal<RunDetails | null>(null);

/** What the shown run consists of: the world's own model, or that of the kept run. */
export const shownModel: ReadonlySignal<Model | null> = computed(() => {
  return isServed.value || isOfWorld.value ? model.value : keptModel.value;
});
/** Changes whenever another model is shown; and where its meshes are. */
export const shownScenery = computed(() =>
  isServed.value || isOfWorld.value
    ? {key: `world ${generation.value}`, address: 'api'}
    : {key: `run ${shownRun.value}`, address: runAddress(shownRun.value)},
);
export const shownSignals = computed(() => new Map(shownModel.value?.signals.map((info) => [info.name, info])));

export function runAddress(run: string): string {
  return `api/runs/${encodeURIComponent(run)}`;
}

/** Run time of the right edge, s: the newest of the world's run, or the end of a kept one. */
export function now(): number {
  if (isOfWorld.peek()) return newestTime();
  return shownDetails.peek()?.duration ?? hello.peek()?.replay?.duration ?? 0;
}

/** The shown run, where the program keeps none of this name; '': it does, or it is not known yet. */
export const goneRun = signal('');
const isGone = (error: unknown) => error instanceof HttpError && error.status === 404;

function tell(run: string, error: unknown): void {
  if (isGone(error)) goneRun.value = run;
  else notify(`The run ${run} cannot be shown: ${(error as Error).message}`, 'error');
}

/** An answer about a run. Where there is none, somebody may have deleted the run meanwhile. */
export async function answerOf<T>(run: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (isGone(error) && run === shownRun.peek() && run !== goneRun.peek()) {
      ask(run).catch((reason: unknown) => run === shownRun.peek() && isGone(reason) && tell(run, reason));
    }
    throw error;
  }
}

let timer: ReturnType<typeof setTimeout> | undefined;

async function ask(run: string): Promise<void> {
  const found = await request('GET', runAddress(run), undefined, details);
  if (run !== shownRun.peek()) return;
  shownDetails.value = found;
  if (found.recording && !isOfWorld.peek()) askLater(run, AGAIN_MS);
}

function askLater(run: string, ms: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    // It grows on, answered or not.
    ask(run).catch((error: unknown) => run === shownRun.peek() && !isGone(error) && askLater(run, AGAIN_MS));
  }, ms);
}

effect(() => {
  const run = shownRun.value;
  generation.value; // the program came back, or has another world
  clearTimeout(timer);
  shownDetails.value = null;
  goneRun.value = '';
  if (!run || connection.value !== 'live') return;
  ask(run).catch((error: unknown) => run === shownRun.peek() && tell(run, error));
});

let modelOf = ''; // the run that keptModel is of, or is on its way

effect(() => {
  const run = isServed.value || isOfWorld.value ? '' : shownRun.value;
  const isLive = connection.value === 'live';
  generation.value;
  if (run === modelOf || (run && !isLive)) return;
  modelOf = run;
  keptModel.value = null;
  if (!run) return;
  const check = keptModelCheck as Check<unknown> as Check<Model>;
  request('GET', `${runAddress(run)}/model`, undefined, check).then(
    (found) => {
      if (run === modelOf) keptModel.value = {...found, materials: (found.materials ?? []).map((material) => ({...material, texture: NO_TEXTURE})), textures: [], lines: found.lines ?? [], rays: found.rays ?? []};
    },
    (error: unknown) => {
      if (run !== modelOf) return;
      modelOf = ''; // asked for again when the program comes back
      tell(run, error);
    },
  );
});

// What happens in the world stands in its log, too.
effect(() => {
  if (events.value.length && isOfWorld.peek() && shownRun.peek()) askLater(shownRun.peek(), WRITTEN_MS);
});
