// session.ts: one trial from start to stop, and what is kept of it.
import {computed, signal} from '@preact/signals';
import {formatDate} from '../../format';
import {HttpError, request} from '../../http';
import {send} from '../../live/connection';
import {control} from '../../live/control';
import {goLive, isLive} from '../../live/moment';
import {CLOCK, clockAtFirst, lostSamples, newestTime, ring, sampleTime, timesTurnedBack, want} from '../../live/samples';
import {hello, live, model, notify, status} from '../../live/store';
import {shared, stored} from '../../settings';
import {describe, motionSignals, whenHolds, whenMoved} from './condition';
import type {Condition} from './condition';
import {checkTrial} from './types';
import type {Trial} from './types';

/** resetting: waiting until the world's clock has gone back; armed: waiting for the first motion. */
export type Phase = 'idle' | 'resetting' | 'armed' | 'running' | 'done';
export type StartBy = Trial['startedBy'];
export type StopBy = Trial['stoppedBy'];

const PERIOD_MS = 25;
/** A world younger than this need not be reset; s, and ticks. */
const YOUNG = 0.05;
const YOUNG_TICKS = 3;

export const driver = stored('trial.driver', '');
export const startBy = stored<StartBy>('trial.start', 'motion');
export const stopBy = stored<StopBy>('trial.stop', 'hand');
export const condition = stored<Condition>('trial.condition', {terms: [], least: 0});
export const resetFirst = stored('trial.reset', true);
export const phase = signal<Phase>('idle');
export const busy = computed(() => phase.value !== 'idle' && phase.value !== 'done');
/** s since the start, or of the trial that is done. */
export const elapsed = signal(0);
export const last = signal<Trial | null>(null);
/** Grows with every trial stored. */
export const storedTrials = signal(0);
/** Trials that the program has not taken yet. */
const waiting = shared<Omit<Trial, 'id'>[]>('trial.waiting', []);

/** Of those that it does not take as they are, when they began, and why: others do not wait for them. Whoever opens the page anew asks again. */
const refused = signal<ReadonlyMap<string, string>>(new Map());
export const refusedTrials = computed(() => waiting.value.flatMap((trial) => (refused.value.has(trial.started) ? [{...trial, why: refused.value.get(trial.started)!}] : [])));

/** Takes them out of this browser. */
export function discardRefused(): void {
  waiting.change((trials) => trials.filter(({started}) => !refused.peek().has(started)));
}

/** Bytes of a text of a trial; the program takes no more. */
const MOST_BYTES = 1000;

/** Its beginning, in whole characters, where it is too long. */
export function fitting(text: string): string {
  const size = (part: string) => new TextEncoder().encode(part).length;
  if (size(text) <= MOST_BYTES) return text;
  const letters = [...text];
  while (size(letters.join('')) > MOST_BYTES - size('…')) letters.pop();
  return `${letters.join('')}…`;
}

let release: (() => void) | null = null;
let timer: ReturnType<typeof setInterval> | undefined;
let turns = 0; // of the samples' time, when it began: what status and samples say of the time differs by as much as a page is late
let before = NaN; // s simulated: where the first sample that comes tells less, the world was reset
let armedAt = 0; // s of the run, as all times here
let startedAt = 0;
let checked = 0; // s up to which samples were asked
let startedDate = '';
let lostBefore = 0;

function watched(): string[] {
  const motion = startBy.peek() === 'motion' ? motionSignals(model.peek()!) : [];
  const terms = stopBy.peek() === 'condition' ? condition.peek().terms.map((term) => term.signal) : [];
  return [CLOCK, ...motion, ...terms];
}

export function begin(): void {
  if (!live.peek() || !model.peek()) return;
  if (!isLive.peek()) goLive();
  end('idle');
  release = want(watched(), true);
  turns = timesTurnedBack();
  before = clockBefore();
  if (resetFirst.peek() && (status.peek()?.time ?? 0) > Math.max(YOUNG, YOUNG_TICKS * (hello.peek()?.tick ?? 0))) {
    phase.value = 'resetting';
    control('reset');
  } else {
    arm();
  }
  if (status.peek()?.paused) control('resume');
  timer = setInterval(watch, PERIOD_MS);
}

/** Of a world that stands still, because it is paused or in lock-step with who does not answer, no sample comes before the reset. */
function clockBefore(): number {
  const now = status.peek();
  if (!now || Number.isFinite(clockAtFirst())) return NaN;
  return now.paused ? Infinity : now.time;
}

function arm(): void {
  armedAt = Number.isFinite(sampleTime()) ? sampleTime() : newestTime();
  checked = armedAt;
  turns = timesTurnedBack();
  elapsed.value = 0;
  if (startBy.peek() === 'hand') run(armedAt);
  else phase.value = 'armed';
}

function run(time: number): void {
  startedAt = time;
  checked = time;
  startedDate = new Date().toISOString();
  lostBefore = lostSamples.peek();
  phase.value = 'running';
  send({type: 'trial', action: 'start', why: startBy.peek(), driver: driver.peek().trim()});
}

/** By hand: starts one that waits for motion, or stops one that runs. */
export function byHand(): void {
  if (phase.peek() === 'armed') run(sampleTime());
  else if (phase.peek() === 'running') finish(sampleTime(), 'hand');
}

export function abort(why: string): void {
  if (phase.peek() === 'running') send({type: 'trial', action: 'void', why});
  end('idle');
  notify(why, 'error');
}

function watch(): void {
  const now = sampleTime();
  if (!live.peek()) return abort('The connection was lost: the trial is void');
  if (!Number.isFinite(now)) return;
  if (phase.peek() === 'resetting') {
    if (timesTurnedBack() > turns || clockAtFirst() < before) arm();
    return;
  }
  if (timesTurnedBack() > turns) return abort('The world was reset: the trial is void');
  if (phase.peek() === 'armed') {
    const moved = whenMoved(motionSignals(model.peek()!), ring, armedAt, checked);
    if (Number.isFinite(moved)) run(moved);
    else checked = now;
  }
  if (phase.peek() !== 'running') return;
  elapsed.value = now - startedAt;
  const stopped = stopBy.peek() === 'condition' ? whenHolds(condition.peek(), ring, checked) : NaN;
  checked = now;
  if (Number.isFinite(stopped)) finish(stopped, 'condition');
}

function end(to: Phase): void {
  clearInterval(timer);
  release?.();
  release = null;
  phase.value = to;
}

function finish(time: number, by: StopBy): void {
  elapsed.value = time - startedAt;
  if (lostSamples.peek() > lostBefore) notify('Samples were lost on the way to this page: the time may be wrong by some ticks', 'error');
  const trial: Omit<Trial, 'id'> = {
    started: startedDate,
    scene: hello.peek()?.scene ?? '',
    driver: fitting(driver.peek().trim()),
    time: elapsed.peek(),
    startedBy: startBy.peek(),
    stoppedBy: by,
    condition: by === 'condition' ? fitting(describe(condition.peek())) : '',
    note: '',
    discarded: false,
    recording: hello.peek()?.recording ?? '',
    begin: Math.max(0, startedAt),
  };
  end('done');
  send({type: 'trial', action: 'stop', why: trial.condition || 'hand', driver: trial.driver, time: trial.time});
  last.value = {...trial, id: 0};
  waiting.change((trials) => [...trials, trial]);
  void storeWaiting();
}

let storing = false;

/** Hands over what waits, oldest first and each once, whichever tabs have it in mind; all of it waits on where the program is away. */
export async function storeWaiting(): Promise<void> {
  if (storing) return;
  storing = true;
  // Browsers lock only for pages that came over a safe line, or from this machine.
  const alone = navigator.locks ? navigator.locks.request('tether.trial.waiting', storeEach) : storeEach();
  await alone.finally(() => (storing = false));
}

/** Answers that the same trial would get again: it says what this program does not know, or is too long. */
const LASTS = [400, 409, 413, 422];

async function storeEach(): Promise<void> {
  const next = () => waiting.fresh().find(({started}) => !refused.peek().has(started));
  for (let trial = next(); trial; trial = next()) {
    const {started} = trial;
    try {
      const answer = await request('POST', 'api/trials', trial, checkTrial);
      if (last.peek()?.started === started) last.value = answer;
    } catch (error) {
      const {message} = error as Error;
      if (error instanceof HttpError && LASTS.includes(error.status)) {
        refused.value = new Map(refused.peek()).set(started, message);
        notify(`The program does not take the trial of ${formatDate(started)}: ${message}. It is kept in this browser, and can be saved as CSV.`, 'error');
        continue;
      }
      notify(`The trial is kept in this browser until the program takes it: ${message}`, 'error');
      return;
    }
    waiting.change((trials) => trials.filter((other) => other.started !== started));
    storedTrials.value++;
  }
}
