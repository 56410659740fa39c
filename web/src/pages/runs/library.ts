// library.ts: which runs are listed, looked at and compared, which stands in the address, and what is done to them.
import {computed, signal} from '@preact/signals';
import {useRef} from 'preact/hooks';
import {formatDate, matches} from '../../format';
import {HttpError, request} from '../../http';
import {send} from '../../live/connection';
import {notify, phantoms} from '../../live/store';
import {go, param, setParams} from '../../route';
import {checkAbout, checkRun, runUrl, titleOf} from './types';
import type {About, Run} from './types';

/** Runs that are compared, and race, at a time. */
export const MOST_COMPARED = 8;

/** Run that is looked at, words that are searched, when it was, tag that it has; ids that are compared. */
export const looked = param('id', 'runs');
export const words = param('search', 'runs');
export const when = param('when', 'runs');
export const tag = param('tag', 'runs');
const list = param('runs', 'runs');
/** Names of runs may have commas. */
const BETWEEN_RUNS = /(?<=\.wpilog),/;
export const compared = computed(() => (list.value ? list.value.split(BETWEEN_RUNS).slice(0, MOST_COMPARED) : []));

/** How often it is asked which there are. */
export const LOOK_MS = 5000;

/** Grows when a run was changed, brought or removed: the list is asked for anew. */
export const changes = signal(0);

/* ---- which are listed ---- */

export const TIMES = {'': 'Any time', today: 'Today', yesterday: 'Yesterday', week: 'The last 7 days', pinned: 'Pinned'} as const;
const DAY_MS = 24 * 3600 * 1000;

function midnight(daysAgo: number): number {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo).getTime();
}

function fitsTime(run: Run, wanted: string | null): boolean {
  const started = new Date(run.started).getTime();
  if (wanted === 'today') return started >= midnight(0);
  if (wanted === 'yesterday') return started >= midnight(1) && started < midnight(0);
  if (wanted === 'week') return started >= Date.now() - 7 * DAY_MS;
  return wanted !== 'pinned' || run.pinned;
}

/** All that people may remember of it. */
function textOf(run: Run): string {
  return [run.name, run.scene, ...run.tags, run.note, run.id, run.outcome, formatDate(run.started)].join(' ');
}

/** Of all runs those that fit what is searched for, the newest first. */
export function found(runs: Run[]): Run[] {
  const typed = (words.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  return runs
    .filter((run) => matches(textOf(run), typed) && fitsTime(run, when.value) && (!tag.value || run.tags.includes(tag.value)))
    .sort((a, b) => b.started.localeCompare(a.started) || b.id.localeCompare(a.id));
}

/** The one of which whoever looks knows that it is gone. */
const left = signal('');

/** Shows another run in the place of one that is gone. */
export function leaveGone(id: string): void {
  left.value = id;
  if (looked.peek() === id) setParams({id: null}, 'runs');
}

/** Id of the one that is looked at: whichever the address says, or else the first that is listed; that stays, whatever comes before it. One
 *  that is gone is not replaced by another, which would be taken for it. "": there is none. */
export function useCurrent(runs: Run[]): string {
  const kept = useRef('');
  const listed = found(runs);
  const isGone = kept.current !== left.value && !runs.some(({id}) => id === kept.current);
  const stays = isGone || listed.some(({id}) => id === kept.current);
  return (kept.current = looked.value ?? (stays && kept.current ? kept.current : (listed[0] ?? runs[0])?.id ?? ''));
}

export function tagsOf(runs: Run[]): string[] {
  return [...new Set(runs.flatMap((run) => run.tags))].sort((a, b) => a.localeCompare(b));
}

/* ---- which are chosen ---- */

export function compare(ids: string[]): void {
  setParams({runs: ids.length ? ids.join(',') : null}, 'runs');
}

export function toggleCompared(id: string): void {
  const now = compared.peek();
  compare(now.includes(id) ? now.filter((each) => each !== id) : [...now, id].slice(0, MOST_COMPARED));
}

/** The runs race as phantoms beside the live robot; those that raced before leave. */
export function race(ids: string[]): void {
  for (const {id, run} of phantoms.peek()) if (!ids.includes(run)) send({type: 'phantom', remove: id});
  const racing = phantoms.peek().map(({run}) => run);
  for (const id of ids) if (!racing.includes(id)) send({type: 'phantom', add: id});
  go('world', {run: null, t: null});
}

/* ---- what is done to them ---- */

export const told = (error: unknown) => (error instanceof HttpError ? error.message : 'the program cannot be reached');

export async function change(id: string, part: Partial<About>): Promise<About> {
  const now = await request('PUT', runUrl(id), part, checkAbout);
  changes.value++;
  return now;
}

export async function remove(run: Run): Promise<void> {
  try {
    await request('DELETE', runUrl(run.id));
    notify(`${titleOf(run)} was deleted`);
    leaveGone(run.id);
    compare(compared.peek().filter((id) => id !== run.id));
  } catch (error) {
    notify(`${titleOf(run)} can’t be deleted: ${told(error)}`, 'error');
  }
  changes.value++;
}

/** Files on their way to the program; `done` 0…1. */
export const bringing = signal<{name: string; done: number} | null>(null);

/** XMLHttpRequest tells how far it is; fetch does not. */
function upload(file: File): Promise<Run> {
  return new Promise((resolve, reject) => {
    const asked = new XMLHttpRequest();
    asked.open('POST', `api/runs?${new URLSearchParams({name: file.name})}`);
    asked.responseType = 'json';
    asked.upload.onprogress = ({loaded, total}) => (bringing.value = {name: file.name, done: total ? loaded / total : 0});
    asked.onerror = () => reject(new HttpError(0, 'the program cannot be reached'));
    asked.onload = () => {
      if (asked.status !== 201) return reject(new HttpError(asked.status, asked.response?.error ?? `the program answered ${asked.status}`));
      try {
        resolve(checkRun(asked.response, ''));
      } catch (error) {
        reject(new HttpError(asked.status, (error as Error).message));
      }
    };
    asked.send(file);
  });
}

/** Logs that somebody dropped or chose become runs of this program; the last of them is looked at. */
export async function bring(files: Iterable<File>): Promise<void> {
  for (const file of files) {
    bringing.value = {name: file.name, done: 0};
    try {
      const run = await upload(file);
      setParams({id: run.id, search: null, when: null, tag: null, runs: null}, 'runs');
      notify(`${file.name} is here: ${run.program ? 'plot its signals' : 'replay it'}, or compare it`);
    } catch (error) {
      const why = told(error);
      notify(why.startsWith(`${file.name}: `) ? why : `${file.name}: ${why}`, 'error'); // the program names it where it has looked into it
    }
    changes.value++;
  }
  bringing.value = null;
}
