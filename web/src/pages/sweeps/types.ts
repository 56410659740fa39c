// types.ts: sweeps over HTTP: docs/web.md.

export interface Column {
  name: string;
  unit: string; // SI
  role: 'run' | 'axis' | 'metric';
  text: boolean; // else numbers
}

export interface SweepSummary {
  id: string;
  file: string; // its path where the program runs
  noted: number; // s since 1970
  plan: string;
  scene: string;
  runs: number; // that the plan has
  rows: number; // that are there
  last: number; // row's number in the file
  statuses: Record<string, number>;
}

export interface Sweep extends SweepSummary {
  columns: Column[];
  shows: boolean;
}

export type Cell = number | string | null;

export interface Rows {
  total: number;
  offset: number;
  rows: number[];
  columns: Record<string, Cell[]>;
}

export interface Groups {
  total: number;
  offset: number;
  count: number[];
  axes: Record<string, Cell[]>;
  metrics: Record<string, {mean: (number | null)[]; spread: (number | null)[]}>;
}

export interface Showing {
  state: 'waiting' | 'making' | 'opening' | 'ready' | 'failed';
  made: number;
  count: number;
  seconds: number;
  address: string | null;
  error: string | null;
  runs: string[]; // ids of kept runs where they are shown
}

export function sweepUrl(id: string, part = '', query?: URLSearchParams): string {
  const text = query?.toString();
  return `api/sweeps/${encodeURIComponent(id)}${part && `/${part}`}${text ? `?${text}` : ''}`;
}

/** The plan's or the file's name without folder and ending: what people call a sweep. */
export function nameOf({plan, file}: SweepSummary): string {
  return (plan || file).replace(/.*\//, '').replace(/\.[^.]*$/, '');
}
