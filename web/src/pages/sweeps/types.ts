// types.ts: sweeps over HTTP: docs/web.md.
import {either, flag, listOf, number, object, oneOf, orNull, recordOf, text} from '../../check';
import type {Checked} from '../../check';

const checkColumn = object({
  name: text,
  unit: text, // SI
  role: oneOf('run', 'axis', 'metric'),
  text: flag, // else numbers
});
export type Column = Checked<typeof checkColumn>;

const summary = {
  id: text,
  file: text, // its path where the program runs
  plan: text,
  scene: text,
  runs: number, // that the plan has
  rows: number, // that are there
  last: number, // row's number in the file
  statuses: recordOf(number),
};
export const checkSummary = object(summary);
export type SweepSummary = Checked<typeof checkSummary>;

export const checkSweep = object({...summary, columns: listOf(checkColumn), shows: flag});
export type Sweep = Checked<typeof checkSweep>;

export type Cell = number | string | null;
const checkCells = listOf(orNull(either(number, text)));

export const checkRows = object({total: number, offset: number, rows: listOf(number), columns: recordOf(checkCells)});
export type Rows = Checked<typeof checkRows>;

export const checkGroups = object({
  total: number,
  offset: number,
  count: listOf(number),
  axes: recordOf(checkCells),
  metrics: recordOf(object({mean: listOf(orNull(number)), spread: listOf(orNull(number))})),
});
export type Groups = Checked<typeof checkGroups>;

export const checkShow = object({show: text});
export const checkShowing = object({
  state: oneOf('waiting', 'making', 'opening', 'ready', 'failed'),
  made: number,
  count: number,
  seconds: number,
  address: orNull(text),
  error: orNull(text),
  runs: listOf(text), // ids of kept runs where they are shown
});
export type Showing = Checked<typeof checkShowing>;

export function sweepUrl(id: string, part = '', query?: URLSearchParams): string {
  const text = query?.toString();
  return `api/sweeps/${encodeURIComponent(id)}${part && `/${part}`}${text ? `?${text}` : ''}`;
}

/** The plan's or the file's name without folder and ending: what people call a sweep. */
export function nameOf({plan, file}: SweepSummary): string {
  return (plan || file).replace(/.*\//, '').replace(/\.[^.]*$/, '');
}
