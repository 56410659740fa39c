// rows.ts: samples as they are, none left out: what this page saw of them, or what the log of the run has.
import {requestBytes} from '../http';
import {derived} from './derived';
import {isExpression} from './expression';
import {decodeTraces} from './past';
import {ring} from './samples';
import {isOfWorld, runAddress, shownRun} from './shown_run';

/** A column a name. NaN: it has no sample at that time. */
export interface Rows {
  times: number[];
  columns: number[][];
}

/** The program gives at most so many rows at a time; of more it would give a choice. */
const MOST_ROWS = 20000;
/** s that are asked for at first, and at least. */
const STRETCH = 150;
const LEAST_STRETCH = 1e-3;

/** Every row of the log in a stretch of the run that is shown. */
async function* fromLog(names: string[], from: number, to: number): AsyncGenerator<Rows> {
  const run = shownRun.peek(); // another one may be chosen meanwhile
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

/** Formulas made of the rows of their signals. */
async function logRows(names: string[], from: number, to: number): Promise<Rows> {
  const parts = names.map((name) => {
    const compiled = isExpression(name) ? derived(name) : null;
    return {inputs: compiled?.inputs ?? [name], step: compiled?.make() ?? ((_: number, [value]: readonly number[]) => value!)};
  });
  const signals = [...new Set(parts.flatMap(({inputs}) => inputs))];
  const places = parts.map(({inputs}) => inputs.map((input) => signals.indexOf(input)));
  const made: Rows = {times: [], columns: names.map(() => [])};
  for await (const {times, columns} of fromLog(signals, from, to)) {
    times.forEach((time, row) => {
      if (time <= (made.times[made.times.length - 1] ?? -1)) return; // where two stretches meet
      made.times.push(time);
      parts.forEach(({step}, i) => made.columns[i]!.push(step(time, places[i]!.map((column) => columns[column]![row]!))));
    });
  }
  return made;
}

/** What the page has seen itself. */
function seenRows(names: string[], from: number, to: number): Rows {
  const next = names.map((name) => ring(name)?.find(from) ?? 0);
  const made: Rows = {times: [], columns: names.map(() => [])};
  for (;;) {
    const times = names.map((name, i) => {
      const kept = ring(name);
      return kept && next[i]! < kept.length ? kept.time(next[i]!) : Infinity;
    });
    const time = Math.min(...times);
    if (!(time <= to)) return made;
    made.times.push(time);
    names.forEach((name, i) => made.columns[i]!.push(times[i] === time ? ring(name)!.value(next[i]!++) : NaN));
  }
}

/** Every sample of signals and formulas between two run times. */
export async function rowsOf(names: string[], from: number, to: number): Promise<Rows> {
  const seen = isOfWorld.peek() && names.every((name) => (ring(name)?.length ?? 0) > 0 && ring(name)!.time(0) <= Math.max(0, from));
  if (seen || !shownRun.peek()) return seenRows(names, from, to);
  const old = await logRows(names, from, to);
  if (!isOfWorld.peek()) return old;
  // The log is a little behind its world.
  const reached = old.times[old.times.length - 1] ?? from;
  const fresh = seenRows(names, reached + 1e-6, to);
  return {times: [...old.times, ...fresh.times], columns: old.columns.map((column, i) => [...column, ...fresh.columns[i]!])};
}
