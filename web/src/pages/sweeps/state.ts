// state.ts: what the page shows, which is what stands in its address: #sweeps/ID?view=heat&x=gain&filter=status:=ok. So an address can
// be sent to somebody, and a reload changes nothing.
import {computed, signal} from '@preact/signals';
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

export function parse(hash: string): State {
  const [path = '', query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  const given = new URLSearchParams(query);
  const text = (name: string) => given.get(name) ?? '';
  const conditions = (name: string) => given.getAll(name).flatMap((each) => read(each) ?? []);
  let id = '';
  try {
    id = decodeURIComponent(path.split('/')[1] ?? '');
  } catch {
    // An address that somebody mistyped: the newest sweep is shown.
  }
  return {
    id,
    view: VIEWS.find((view) => view === text('view')) ?? 'scatter',
    x: text('x'),
    y: text('y'),
    z: text('z'),
    lines: given.getAll('line'),
    groups: text('table') === 'points',
    sort: text('sort'),
    filters: conditions('filter'),
    selection: conditions('select'),
    runs: given.getAll('run').slice(0, MOST_RUNS),
  };
}

export function format(state: State): string {
  const query = new URLSearchParams();
  const add = (name: string, value: string) => value && query.append(name, value);
  add('view', state.view === 'scatter' ? '' : state.view);
  add('x', state.x);
  add('y', state.y);
  add('z', state.z);
  state.lines.forEach((line) => add('line', line));
  add('table', state.groups ? 'points' : '');
  add('sort', state.sort);
  state.filters.forEach((each) => add('filter', write(each)));
  state.selection.forEach((each) => add('select', write(each)));
  state.runs.forEach((run) => add('run', run));
  const text = query.toString();
  return `#sweeps${state.id && `/${encodeURIComponent(state.id)}`}${text && `?${text}`}`;
}

const ours = () => /^#sweeps(?:[/?]|$)/.test(location.hash);
const current = signal<State>(parse(ours() ? location.hash : ''));
addEventListener('hashchange', () => ours() && (current.value = parse(location.hash)));

/** Rows of the chosen runs, by their numbers in the file: charts mark them. */
export const marked = signal<number[]>([]);

/** Of the address. */
export const state = computed(() => current.value);

/** Shows something else. What belongs to a sweep's columns goes when another sweep is chosen in its place. */
export function change(to: Partial<State>): void {
  const before = current.value;
  current.value = to.id !== undefined && before.id && to.id !== before.id ? {...parse(''), id: to.id} : {...before, ...to};
  if (ours()) history.replaceState(history.state, '', format(current.value));
}
