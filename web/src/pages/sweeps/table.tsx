// table.tsx: rows of a sweep, or its points with their repeats as one: only those in sight are asked for and drawn.
import {useEffect, useRef, useState} from 'preact/hooks';
import type {ComponentChildren} from 'preact';
import type {Check} from '../../check';
import {formatCount, formatValue} from '../../format';
import {HttpError, request, RETRY_MS} from '../../http';
import {Button} from '../../ui/controls';
import {Grid} from '../../ui/grid';
import type {GridHeader} from '../../ui/grid';
import {replaced, write} from './conditions';
import type {Condition} from './conditions';
import {change, state} from './state';
import {checkGroups, checkRows, sweepUrl} from './types';
import type {Cell, Column, Groups, Sweep} from './types';

const BLOCK = 100;
/** Blocks that are remembered. */
const MOST_BLOCKS = 40;

/** Blocks of an answer, those that are wanted, again when `stamp` changes; what was there stays until then. */
function useBlocks<T extends {total: number}>(check: Check<T>, url: (offset: number) => string, key: string, stamp: number, first: number, last: number) {
  const [blocks, setBlocks] = useState<{key: string; total: number; parts: Map<number, {stamp: number; part: T}>}>({key: '', total: 0, parts: new Map()});
  const [error, setError] = useState('');
  const asked = useRef(new Set<string>());
  const [turn, setTurn] = useState(0);
  const latest = useRef(key);
  latest.current = key;
  const wanted: number[] = [];
  for (let block = Math.floor(first / BLOCK); block <= Math.floor(last / BLOCK); block++) wanted.push(block);
  useEffect(() => {
    for (const block of wanted) {
      const name = `${key} ${stamp} ${block}`;
      const there = blocks.key === key ? blocks.parts.get(block) : undefined;
      if (there?.stamp === stamp || asked.current.has(name)) continue;
      asked.current.add(name);
      request('GET', url(block * BLOCK), undefined, check).then(
        (part) => {
          asked.current.delete(name);
          if (latest.current !== key) return; // answers may come in another order than questions
          setError('');
          setBlocks((before) => {
            const parts = new Map(before.key === key ? before.parts : []);
            if ((parts.get(block)?.stamp ?? stamp) > stamp) return before;
            parts.delete(block);
            parts.set(block, {stamp, part});
            for (const old of parts.keys()) if (parts.size > MOST_BLOCKS) parts.delete(old);
            return {key, total: part.total, parts};
          });
        },
        (reason: unknown) => {
          asked.current.delete(name);
          if (latest.current !== key) return;
          setError(reason instanceof HttpError ? reason.message : 'the program cannot be reached');
          setTimeout(() => setTurn((before) => before + 1), RETRY_MS);
        },
      );
    }
  }, [key, stamp, wanted.join(), turn]);
  const at = (index: number): [T, number] | null => {
    const part = blocks.parts.get(Math.floor(index / BLOCK))?.part;
    return part ? [part, index % BLOCK] : null;
  };
  return {total: blocks.total, at, error, fresh: blocks.key === key};
}

function SortButton({name, title}: {name: string; title: ComponentChildren}) {
  const {sort} = state.value;
  const down = sort === `-${name}`;
  // Asked at the click: two may come before what the first did is drawn.
  const next = (now: string) => (now === name ? `-${name}` : now === `-${name}` ? '' : name);
  return (
    <button type="button" class="sort" onClick={() => change({sort: next(state.peek().sort)})}>
      {title}
      <i aria-hidden="true">{sort === name ? '▲' : down ? '▼' : ''}</i>
    </button>
  );
}

/** A column that is sorted by a click on its head. */
function sortable(name: string, title: ComponentChildren, number: boolean): GridHeader {
  const {sort} = state.value;
  return {key: name, title: <SortButton name={name} title={title} />, number, sorted: sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined};
}

const titled = ({name, unit}: Column) => (
  <span>
    {name} {unit && <span class="unit">{unit}</span>}
  </span>
);

function told(value: Cell | undefined): ComponentChildren {
  if (value === null || value === undefined) return <span class="muted">–</span>;
  return typeof value === 'number' ? formatValue(value) : value;
}

/** What people look for first stands first. */
const LATER = ['seed', 'simulated_time', 'wall_time', 'host', 'error', 'id', 'hash'];

function inOrder(columns: Column[]): Column[] {
  const place = ({name, role}: Column) => (role !== 'run' ? 1 : LATER.includes(name) ? 2 + LATER.indexOf(name) : 0);
  return columns.filter(({name}) => name !== 'run').sort((a, b) => place(a) - place(b));
}

function queryOf(sort: string, known: (name: string) => boolean, conditions: Condition[]): URLSearchParams {
  const query = new URLSearchParams(conditions.map((each) => ['filter', write(each)]));
  if (sort && known(sort.replace(/^-/, ''))) query.set('sort', sort);
  return query;
}

function paged(id: string, part: string, query: URLSearchParams) {
  return (offset: number) => {
    const page = new URLSearchParams(query);
    page.set('offset', String(offset));
    page.set('limit', String(BLOCK));
    return sweepUrl(id, part, page);
  };
}

interface TableProps {
  sweep: Sweep;
  conditions: Condition[];
  words: string; // that stand behind how many there are
  onTitle: (title: string) => void; // once the rows are there that it tells of
}

export function RunTable({sweep, conditions, words, onTitle, onChoose, onShow}: TableProps & {onChoose: (id: string) => void; onShow: (id: string) => void}) {
  const [sight, setSight] = useState<[number, number]>([0, 0]);
  const columns = inOrder(sweep.columns);
  // Rows stand in the file as they came.
  const query = queryOf(state.value.sort || 'run', (name) => sweep.columns.some((column) => column.name === name), conditions);
  const key = `${sweep.id} ${query}`;
  const {total, at, error, fresh} = useBlocks(checkRows, paged(sweep.id, 'rows', query), key, sweep.last, ...sight);
  useEffect(() => {
    if (fresh) onTitle(`${formatCount(total)} ${words}`);
  }, [fresh, total, key, words]);
  const headers = [sortable('run', 'run', true), ...columns.map((column) => sortable(column.name, titled(column), !column.text))];
  return (
    <>
      {error && <p class="inline-error" role="alert">{error}</p>}
      <Grid
        label="Runs"
        headers={headers}
        total={total}
        topic={key}
        onSight={(first, last) => setSight([first, last])}
        row={(index) => {
          const found = at(index);
          const id = found?.[0].columns.id?.[found[1]];
          if (!found || typeof id !== 'string') return null;
          const [part, i] = found;
          const number = told(part.columns.run?.[i]);
          return {
            chosen: state.value.runs.includes(id),
            wrong: part.columns.status?.[i] !== 'ok',
            onClick: () => onChoose(id),
            cells: [
              <span class="run-cell">
                {sweep.shows && <Button icon="play" label={`Show run ${String(part.columns.run?.[i])} in 3D`} onClick={() => onShow(id)} />}
                <button type="button" class="link number" aria-pressed={state.value.runs.includes(id)} onClick={(event) => { event.stopPropagation(); onChoose(id); }}>
                  {number}
                </button>
              </span>,
              ...columns.map(({name}) => (name === 'id' || name === 'hash' ? <code>{told(part.columns[name]?.[i])}</code> : told(part.columns[name]?.[i]))),
            ],
          };
        }}
      />
    </>
  );
}

function Measured({mean, spread}: {mean: number | null | undefined; spread: number | null | undefined}) {
  return (
    <>
      {told(mean)}
      {typeof spread === 'number' && <span class="muted"> ± {formatValue(spread, 2)}</span>}
    </>
  );
}

export function PointTable({sweep, conditions, words, onTitle}: TableProps) {
  const [sight, setSight] = useState<[number, number]>([0, 0]);
  const axes = sweep.columns.filter(({role}) => role === 'axis');
  const metrics = sweep.columns.filter(({role, text}) => role === 'metric' && !text);
  const query = queryOf(state.value.sort, (name) => [...axes, ...metrics].some((column) => column.name === name), conditions);
  const key = `${sweep.id} points ${query}`;
  const {total, at, error, fresh} = useBlocks(checkGroups, paged(sweep.id, 'groups', query), key, sweep.last, ...sight);
  useEffect(() => {
    if (fresh) onTitle(`${formatCount(total)} ${words}`);
  }, [fresh, total, key, words]);
  const headers: GridHeader[] = [
    ...axes.map((column) => sortable(column.name, titled(column), !column.text)),
    {key: ' runs', title: 'runs', number: true},
    ...metrics.map((column) => sortable(column.name, titled(column), true)),
  ];
  const conditionsOf = (part: Groups, i: number): Condition[] =>
    axes.flatMap(({name}): Condition[] => {
      const value = part.axes[name]?.[i];
      if (typeof value === 'number') return [{column: name, kind: 'between', from: value, to: value}];
      return [value === null || value === undefined ? {column: name, kind: 'none'} : {column: name, kind: 'same', text: value}];
    });
  return (
    <>
      {error && <p class="inline-error" role="alert">{error}</p>}
      <Grid
        label="Points"
        headers={headers}
        total={total}
        topic={key}
        onSight={(first, last) => setSight([first, last])}
        row={(index) => {
          const found = at(index);
          if (!found || found[1] >= found[0].count.length) return null;
          const [part, i] = found;
          return {
            onClick: () => change({selection: conditionsOf(part, i).reduce((list, each) => replaced(list, each.column, each), state.peek().selection), groups: false}),
            cells: [
              ...axes.map(({name}, k) =>
                k ? told(part.axes[name]?.[i]) : <button type="button" class="link number" title="Select the runs of this point">{told(part.axes[name]?.[i])}</button>,
              ),
              formatCount(part.count[i]!),
              ...metrics.map(({name}) => <Measured mean={part.metrics[name]?.mean[i]} spread={part.metrics[name]?.spread[i]} />),
            ],
          };
        }}
      />
    </>
  );
}
