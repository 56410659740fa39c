// types.ts: kept runs over HTTP: docs/web.md.
import {flag, listOf, number, numbers, object, oneOf, orNull, text} from '../../check';
import type {Checked} from '../../check';

const about = {name: text, tags: listOf(text), note: text, pinned: flag};
export const checkAbout = object({id: text, ...about});
/** What people write of a run. */
export type About = Omit<Checked<typeof checkAbout>, 'id'>;

const run = {
  id: text,
  file: text, // its path where the program runs
  ...about,
  scene: text,
  started: text,
  duration: number,
  size: number,
  outcome: text,
  run: text, // its id, wherever its file is
  program: orNull(text), // that wrote the log from which this one was made; null: Tether itself
  leftOut: number, // entries of that log
  leftOutTypes: text,
  from: orNull(object({run: text, name: text, time: number})), // the run that it went on from, and when
  recording: flag,
};
export const checkRun = object(run);
export type Run = Checked<typeof checkRun>;

export const checkRunDetail = object({
  ...run,
  signals: listOf(object({name: text, unit: text})),
  events: listOf(object({time: number, step: number, source: text, text})),
  moved: orNull(number), // s
});
export type RunDetail = Checked<typeof checkRunDetail>;

export const checkRunSamples = object({time: numbers, values: listOf(numbers)});
export type RunSamples = Checked<typeof checkRunSamples>;

export const checkProof = object({
  state: oneOf('waiting', 'running', 'done'),
  done: number,
  verdict: orNull(oneOf('identical', 'different', 'elsewhere', 'damaged', 'failed')),
  lines: orNull(listOf(text)),
  error: orNull(text),
});
export type Proof = Checked<typeof checkProof>;

export const POINTS = 2000;

export function runUrl(id: string, below = ''): string {
  return `api/runs/${encodeURIComponent(id)}${below && `/${below}`}`;
}

export function samplesUrl(id: string, names: string[], points = POINTS): string {
  if (!names.length) return '';
  const query = new URLSearchParams(names.map((name) => ['name', name]));
  query.set('points', String(points));
  return runUrl(id, `signals?${query}`);
}

/** Made anew once the run is over; until then it shows where the robots were when it was first asked for. */
export function pictureUrl(run: Run): string {
  return runUrl(run.id, `picture${run.recording ? '' : `?size=${run.size}`}`);
}

/** What a run is called: by people, or else by its scene. */
export function titleOf(run: Pick<Run, 'name' | 'scene'>): string {
  return run.name || run.scene || 'a run';
}
