// values.ts: whole columns of a sweep's table, as charts need them. While rows come, only those that are new are asked for.
import {useEffect, useRef, useState} from 'preact/hooks';
import {HttpError, RETRY_MS} from '../../http';
import type {Condition, Data} from './conditions';
import {write} from './conditions';
import {sweepUrl} from './types';

export interface Values {
  rows: number;
  numbers: Float64Array; // of the rows, in the file
  columns: Map<string, Data>;
  stride: number; // every so manieth row is there
}

interface Header {
  rows: number;
  stride: number;
  columns: {name: string; texts?: string[]}[];
}

/** Reads an answer: docs/web.md. */
export function decode(bytes: ArrayBuffer): Values {
  const size = new DataView(bytes).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, size))) as Header;
  const column = (index: number) => new Float64Array(bytes, 4 + size + index * header.rows * 8, header.rows);
  const columns = header.columns.map(({name, texts}, i): [string, Data] => [name, {values: column(i + 1), texts}]);
  return {rows: header.rows, numbers: column(0), columns: new Map(columns), stride: header.stride};
}

function joined(a: Float64Array, b: Float64Array): Float64Array {
  const both = new Float64Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Texts of a later answer have places of their own. */
function joinedData(a: Data, b: Data): Data {
  if (!a.texts || !b.texts) return {values: joined(a.values, b.values)};
  const texts = [...a.texts];
  const places = b.texts.map((text) => {
    const place = texts.indexOf(text);
    return place >= 0 ? place : texts.push(text) - 1;
  });
  return {values: joined(a.values, b.values.map((place) => (Number.isNaN(place) ? NaN : places[place]!))), texts};
}

export function append(before: Values, more: Values): Values {
  const columns = new Map([...before.columns].map(([name, data]) => [name, joinedData(data, more.columns.get(name)!)]));
  return {rows: before.rows + more.rows, numbers: joined(before.numbers, more.numbers), columns, stride: before.stride};
}

/** Where rows of the file stand, those that are there. */
export function rowsOf({numbers}: Values, wanted: number[]): number[] {
  return wanted.flatMap((number) => {
    const at = numbers.indexOf(number);
    return at < 0 ? [] : at;
  });
}

async function ask(id: string, names: string[], filters: Condition[], after: number): Promise<Values> {
  const query = new URLSearchParams([...names.map((name) => ['column', name]), ...filters.map((each) => ['filter', write(each)])]);
  if (after) query.set('after', String(after));
  const answer = await fetch(sweepUrl(id, 'values', query));
  if (!answer.ok) throw new HttpError(answer.status, ((await answer.json().catch(() => null)) as {error?: string} | null)?.error ?? `the program answered ${answer.status}`);
  return decode(await answer.arrayBuffer());
}

/** The columns of the rows that the filters let through; null until they are there. `last`: of the rows there are now. What was shown
 *  stays until what follows is there. */
export function useValues(id: string, names: string[], filters: Condition[], last: number): {values: Values | null; error: string} {
  const [got, setGot] = useState<{key: string; last: number; values: Values} | null>(null);
  const [error, setError] = useState('');
  const busy = useRef(false);
  const [turn, setTurn] = useState(0);
  const wanted = [...new Set(names)].sort();
  const key = JSON.stringify([id, wanted, filters.map(write)]);
  const latest = useRef({key, last});
  latest.current = {key, last};
  useEffect(() => {
    const same = got?.key === key;
    if (!wanted.length || busy.current || (same && got.last === last)) return;
    busy.current = true;
    const grows = same && got.values.stride === 1 && last > got.last;
    ask(id, wanted, filters, grows ? got.last : 0)
      .then(
        (values) => {
          const all = grows ? append(got.values, values) : values;
          // The file may have grown since `last` was told.
          const seen = all.stride === 1 && all.rows ? Math.max(last, all.numbers[all.rows - 1]!) : last;
          setGot({key, last: seen, values: all});
          setError('');
        },
        (reason: unknown) => {
          setError(reason instanceof HttpError ? reason.message : 'the program cannot be reached');
          setTimeout(() => setTurn((before) => before + 1), RETRY_MS);
        },
      )
      .finally(() => {
        busy.current = false;
        // What changed meanwhile was not asked for, as this was on its way.
        if (latest.current.key !== key || latest.current.last !== last) setTurn((before) => before + 1);
      });
  }, [key, last, turn]);
  return {values: got && got.key.startsWith(`["${id}"`) ? got.values : null, error};
}
