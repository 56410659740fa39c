// rows.ts: samples as they are, none left out: what this page saw of them, or what the log of the run has.
import {listOf, object, text} from '../check';
import {request, requestBytes} from '../http';
import {derived} from './derived';
import {isExpression, titleOf} from './expression';
import {decodeTraces} from './past';
import {ring} from './samples';
import {isOfWorld, runAddress, shownRun} from './shown_run';

/** A column a name. NaN: it has no sample at that time. */
export interface Rows {
  times: number[];
  columns: number[][];
  /** Signals that the run doesn't have. */
  missing: string[];
}

const ofRun = object({signals: listOf(object({name: text}))});

/** The program gives at most so many rows at a time; of more it would give a choice. */
const MOST_ROWS = 20000;
/** Names that one request may have. */
const MOST_NAMES = 64;
/** s that are asked for at first, and at least. */
const STRETCH = 150;
const LEAST_STRETCH = 1e-3;

/** Every row of a run's log in a stretch. */
async function* fromLog(run: string, names: string[], from: number, to: number): AsyncGenerator<Table> {
  let length = STRETCH;
  for (let begin = Math.max(0, from); begin < to; ) {
    const end = Math.min(to, begin + length);
    const query = new URLSearchParams(names.map((name) => ['name', name]));
    for (const [key, value] of Object.entries({from: begin, to: end, points: MOST_ROWS, format: 'binary'})) query.set(key, String(value));
    const traces = decodeTraces(await requestBytes(`${runAddress(run)}/signals?${query}`), names.length);
    if (traces.some(({thin}) => thin) && length > LEAST_STRETCH) {
      length /= 2;
      continue;
    }
    const times = [...(traces[0]?.times ?? [])];
    yield {times, columns: traces.map(({values}) => [...values])};
    begin = end;
  }
}

/** Signals' samples, a column a signal; undefined: it has none at that time. */
interface Table {
  times: number[];
  columns: (number | undefined)[][];
}

/** Side by side; between two of its rows a table holds the first. */
function beside(tables: Table[]): Table {
  if (tables.length === 1) return tables[0]!;
  const times = [...new Set(tables.flatMap((table) => table.times))].sort((a, b) => a - b);
  const columns = tables.flatMap((table) => {
    let next = 0;
    const rows = times.map((time) => {
      while (next < table.times.length && table.times[next]! <= time) next++;
      return next - 1;
    });
    return table.columns.map((column) => rows.map((row) => column[row]));
  });
  return {times, columns};
}

async function logged(signals: string[], from: number, to: number): Promise<Table & {missing: string[]}> {
  const run = shownRun.peek(); // another one may be chosen meanwhile
  // One that the run doesn't have would spoil the answer for all.
  const has = new Set((await request('GET', runAddress(run), undefined, ofRun)).signals.map(({name}) => name));
  const known = signals.filter((name) => has.has(name));
  const missing = signals.filter((name) => !has.has(name));
  if (!known.length) throw new Error(`the run has no ${missing.join(', ')}`);
  const parts: Table[] = [];
  for (let first = 0; first < known.length; first += MOST_NAMES) {
    const names = known.slice(first, first + MOST_NAMES);
    const part: Table = {times: [], columns: names.map(() => [])};
    for await (const {times, columns} of fromLog(run, names, from, to)) {
      times.forEach((time, row) => {
        if (time <= (part.times[part.times.length - 1] ?? -1)) return; // where two stretches meet
        part.times.push(time);
        columns.forEach((column, i) => part.columns[i]!.push(column[row]));
      });
    }
    parts.push(part);
  }
  const {times, columns} = beside(parts);
  return {times, columns: signals.map((name) => columns[known.indexOf(name)] ?? times.map(() => undefined)), missing};
}

/** What the page has seen itself; of what was before a row at the beginning, since values hold. */
function seen(signals: string[], from: number, to: number): Table {
  const rings = signals.map((name) => ring(name));
  const next = rings.map((kept) => kept?.find(from) ?? 0);
  const made: Table = {times: [], columns: signals.map(() => [])};
  const add = (time: number, valueOf: (place: number) => number | undefined) => {
    made.times.push(time);
    signals.forEach((_, i) => made.columns[i]!.push(valueOf(i)));
  };
  const timeOf = (i: number) => (rings[i] && next[i]! < rings[i].length ? rings[i].time(next[i]!) : Infinity);
  if (next.some((index) => index > 0) && Math.min(...signals.map((_, i) => timeOf(i))) > from) add(from, (i) => (next[i]! > 0 ? rings[i]!.value(next[i]! - 1) : undefined));
  for (;;) {
    const times = signals.map((_, i) => timeOf(i));
    const time = Math.min(...times);
    if (!(time <= to)) return made;
    add(time, (i) => (times[i] === time ? rings[i]!.value(next[i]!++) : undefined));
  }
}

async function samplesOf(signals: string[], from: number, to: number): Promise<Table & {missing: string[]}> {
  const allSeen = isOfWorld.peek() && signals.every((name) => (ring(name)?.length ?? 0) > 0 && ring(name)!.time(0) <= Math.max(0, from));
  if (allSeen || !shownRun.peek()) return {...seen(signals, from, to), missing: []};
  const old = await logged(signals, from, to);
  const reached = old.times[old.times.length - 1] ?? from;
  if (!isOfWorld.peek() || reached >= to) return old;
  // The log is a little behind its world.
  const fresh = seen(signals, reached, to);
  const first = fresh.times.findIndex((time) => time > reached + 1e-6);
  if (first < 0) return old;
  return {...old, times: [...old.times, ...fresh.times.slice(first)], columns: old.columns.map((column, i) => [...column, ...fresh.columns[i]!.slice(first)])};
}

/** Every sample of signals and formulas between two run times. Formulas are made of the rows of their signals, wherever those come from. */
export async function rowsOf(names: string[], from: number, to: number): Promise<Rows> {
  const parts = names.map((name) => {
    if (!isExpression(name)) return {inputs: [name], step: (_: number, [value]: readonly number[]) => value!};
    const compiled = derived(name);
    return {inputs: compiled?.inputs ?? [], step: compiled?.make() ?? (() => NaN)}; // a formula over what isn't there
  });
  const signals = [...new Set(parts.flatMap(({inputs}) => inputs))];
  const {times, columns, missing} = await samplesOf(signals, from, to);
  const made = parts.map(({inputs, step}) => {
    const of = inputs.map((input) => columns[signals.indexOf(input)]!);
    return times.map((time, row) => {
      const values = of.map((column) => column[row]);
      return values.includes(undefined) ? NaN : step(time, values as number[]);
    });
  });
  const senseless = names.filter((name) => isExpression(name) && !derived(name)).map(titleOf);
  return {times, columns: made, missing: [...missing, ...senseless]};
}
