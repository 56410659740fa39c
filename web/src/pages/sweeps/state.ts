// state.ts: what the page shows, which is what stands in its address: #sweeps?sweep=ID&view=heat&x=gain&filter=status:%3Dok.
import {computed, signal} from '@preact/signals';
import {params, setParams} from '../../route';
import type {Values} from '../../route';
import {read, write} from './conditions';
import type {Condition} from './conditions';

export const VIEWS = ['scatter', 'heat', 'parallel', 'histogram'] as const;
export type View = (typeof VIEWS)[number];

export interface State {
  id: string; // "": the newest
  view: View;
  x: string; // columns; "": the page chooses
  y: string;
  z: string; // gives the colour, or the heat
  lines: string[]; // columns of parallel coordinates
  groups: boolean; // the table shows points, not runs
  sort: string; // "-top_speed": the greatest first
  filters: Condition[]; // what is left out everywhere
  selection: Condition[]; // what is pointed at
  runs: string[]; // ids of rows: at most two
}

export const MOST_RUNS = 2;

const KEYS = ['sweep', 'view', 'x', 'y', 'z', 'line', 'table', 'sort', 'filter', 'select', 'row'] as const;

/** What the keys of the address mean; `all` gives a key's values. */
export function parse(all: (key: (typeof KEYS)[number]) => readonly string[]): State {
  const text = (key: (typeof KEYS)[number]) => all(key)[0] ?? '';
  const conditions = (key: 'filter' | 'select') => all(key).flatMap((each) => read(each) ?? []);
  return {
    id: text('sweep'),
    view: VIEWS.find((view) => view === text('view')) ?? 'scatter',
    x: text('x'),
    y: text('y'),
    z: text('z'),
    lines: [...all('line')],
    groups: text('table') === 'points',
    sort: text('sort'),
    filters: conditions('filter'),
    selection: conditions('select'),
    runs: all('row').slice(0, MOST_RUNS),
  };
}

/** The keys of the address for what is shown. */
export function keysOf(state: State): Values {
  return {
    sweep: state.id || null,
    view: state.view === 'scatter' ? null : state.view,
    x: state.x || null,
    y: state.y || null,
    z: state.z || null,
    line: state.lines,
    table: state.groups ? 'points' : null,
    sort: state.sort || null,
    filter: state.filters.map(write),
    select: state.selection.map(write),
    row: state.runs,
  };
}

/** Of the address. */
export const state = computed(() => parse((key) => params(key, 'sweeps').value));

/** Rows of the chosen runs, by their numbers in the file: charts mark them. */
export const marked = signal<number[]>([]);

/** Shows something else. What belongs to a sweep's columns goes when another sweep is chosen in its place. */
export function change(to: Partial<State>): void {
  const before = state.peek();
  const after = to.id !== undefined && before.id && to.id !== before.id ? {...parse(() => []), id: to.id} : {...before, ...to};
  setParams(keysOf(after), 'sweeps');
}
