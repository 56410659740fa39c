// sweeps.tsx: many runs in one table: as they come, drawn and sorted, each of them to be seen in 3D.
import {useEffect, useRef, useState} from 'preact/hooks';
import {listOf} from '../../check';
import {formatCount, formatDuration} from '../../format';
import {request, useFetched} from '../../http';
import {Empty, Panel, Segmented, Switch} from '../../ui/controls';
import {Show} from '../../ui/fetched';
import {HeatMap, Histogram, Scatter} from './charts';
import {Chosen, show, toggle} from './chosen';
import {select} from './conditions';
import {Filters} from './filters';
import {Parallel} from './parallel';
import {change, state} from './state';
import type {State, View} from './state';
import {PointTable, RunTable} from './table';
import {checkRows, checkSummary, checkSweep, nameOf, sweepUrl} from './types';
import type {Column, Sweep, SweepSummary} from './types';
import {useValues} from './values';

const LIST_MS = 5000;
const LIVE_MS = 1000;
const DONE_MS = 5000;
const CHARTS: {value: View; text: string}[] = [
  {value: 'scatter', text: 'Scatter'},
  {value: 'heat', text: 'Heat map'},
  {value: 'parallel', text: 'Parallel'},
  {value: 'histogram', text: 'Histogram'},
];
const TABLES = [
  {value: 'runs', text: 'Runs'},
  {value: 'points', text: 'Points', title: 'Repeats as one: mean and spread'},
] as const;
/** Columns whose texts are no groups. */
const NEVER_DRAWN = ['id', 'error', 'hash'];
/** Of parallel coordinates, unless others are chosen. */
const MOST_LINES = 8;

/** Rows a second, from what came while the page looked. */
function useRate(rows: number): number {
  const first = useRef<{rows: number; at: number} | null>(null);
  const [rate, setRate] = useState(0);
  useEffect(() => {
    const now = Date.now();
    if (!first.current || rows < first.current.rows) first.current = {rows, at: now};
    else if (now - first.current.at > 500) setRate(((rows - first.current.rows) * 1000) / (now - first.current.at));
  }, [rows]);
  return rate;
}

function Progress({sweep}: {sweep: Sweep}) {
  const {rows, runs, statuses} = sweep;
  const rate = useRate(rows);
  const left = runs - rows;
  const failed = Object.entries(statuses).filter(([name]) => name !== 'ok');
  return (
    <div class="sweep-progress">
      <progress aria-label="Rows that are there" max={Math.max(1, runs)} value={Math.min(rows, runs || rows)} />
      <span>
        <b>{formatCount(rows)}</b>
        {runs > 0 && rows !== runs && ` of ${formatCount(runs)}`} runs
        {left > 0 && rate > 0 && <span class="muted"> · {formatCount(rate)} /s · {formatDuration(left / rate)} left</span>}
      </span>
      {failed.map(([name, count]) => (
        <span key={name} class="tag bad">{name.replace(/_/g, ' ')} {formatCount(count)}</span>
      ))}
    </div>
  );
}

function ColumnChoice({label, columns, value, onChange, none}: {label: string; columns: Column[]; value: string; onChange: (name: string) => void; none?: string}) {
  return (
    <label class="column-choice">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {none !== undefined && <option value="none">{none}</option>}
        {columns.map(({name}) => (
          <option key={name} value={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function LineChoice({columns, chosen}: {columns: Column[]; chosen: Column[]}) {
  const names = chosen.map(({name}) => name);
  return (
    <details class="choice">
      <summary>Axes: {names.length}</summary>
      <div class="choice-list float">
        {columns.map(({name}) => (
          <Switch key={name} label={name} checked={names.includes(name)} onChange={(on) => change({lines: columns.filter((each) => (each.name === name ? on : names.includes(each.name))).map((each) => each.name)})} />
        ))}
      </div>
    </details>
  );
}

/** What is drawn: the address's columns, or those that tell most. */
function chartColumns(sweep: Sweep, now: State) {
  const drawn = sweep.columns.filter(({name}) => !NEVER_DRAWN.includes(name));
  const axes = drawn.filter(({role}) => role === 'axis');
  const metrics = drawn.filter(({role, text}) => role === 'metric' && !text);
  const find = (name: string) => drawn.find((column) => column.name === name);
  const fallback = axes[0] ?? metrics[0] ?? drawn[0]!;
  const numbers = drawn.filter(({text}) => !text);
  if (now.view === 'heat') {
    return {drawn, numbers, x: find(now.x) ?? fallback, y: find(now.y) ?? axes[1] ?? metrics[1] ?? fallback, z: numbers.find(({name}) => name === now.z) ?? metrics[0] ?? fallback, lines: []};
  }
  const lines = now.lines.length ? drawn.filter(({name}) => now.lines.includes(name)) : [...axes, ...metrics].slice(0, MOST_LINES);
  const z = now.z === 'none' ? null : numbers.find(({name}) => name === now.z) ?? (now.view === 'parallel' ? metrics[0] : numbers.find(({role}) => role === 'axis')) ?? null;
  const x = find(now.x) ?? (now.view === 'histogram' || metrics.length > 1 ? metrics[0] : undefined) ?? fallback;
  return {drawn, numbers, x, y: find(now.y) ?? metrics[1] ?? metrics[0] ?? fallback, z, lines};
}

function Chart({sweep, onRun}: {sweep: Sweep; onRun: (row: number) => void}) {
  const now = state.value;
  const {drawn, numbers, x, y, z, lines} = chartColumns(sweep, now);
  const shown = now.view === 'parallel' ? [...lines, z] : now.view === 'histogram' ? [x] : [x, y, z];
  const selectable = now.selection.map(({column}) => column).filter((name) => drawn.some((column) => column.name === name));
  const names = [...shown.flatMap((column) => (column ? column.name : [])), ...selectable];
  const {values, error} = useValues(sweep.id, names, now.filters, sweep.last);
  const ready = values && names.every((name) => values.columns.has(name)) ? values : null;
  const selected = ready && select(now.selection, ready.rows, ready.columns);
  return (
    <Panel title="Chart" class="sweep-chart" actions={<Segmented label="Kind of chart" options={CHARTS} value={now.view} onChange={(view) => change({view})} />}>
      <div class="chart-choices">
        {now.view === 'parallel' ? <LineChoice columns={drawn} chosen={lines} /> : <ColumnChoice label="x" columns={drawn} value={x.name} onChange={(name) => change({x: name})} />}
        {(now.view === 'scatter' || now.view === 'heat') && <ColumnChoice label="y" columns={drawn} value={y.name} onChange={(name) => change({y: name})} />}
        {now.view !== 'histogram' && (
          <ColumnChoice label={now.view === 'heat' ? 'mean of' : 'colour'} columns={numbers} value={z?.name ?? 'none'} none={now.view === 'heat' ? undefined : 'none'} onChange={(name) => change({z: name})} />
        )}
        {ready && ready.stride > 1 && <span class="hint">Every {ready.stride}th run is drawn.</span>}
      </div>
      {error && <p class="inline-error" role="alert">{error}</p>}
      {!ready ? (
        <div class="loading" role="status"><i />Loading the columns…</div>
      ) : !ready.rows ? (
        <Empty icon="sweeps" title="No runs to draw">{now.filters.length ? 'The filters let none through.' : 'The first rows come soon.'}</Empty>
      ) : now.view === 'parallel' ? (
        <Parallel values={ready} selected={selected} columns={lines} colour={z} />
      ) : now.view === 'heat' ? (
        <HeatMap key="heat" values={ready} selected={selected} x={x} y={y} z={z} onRun={onRun} />
      ) : now.view === 'histogram' ? (
        <Histogram key="histogram" values={ready} selected={selected} x={x} y={y} z={z} onRun={onRun} />
      ) : (
        <Scatter key="scatter" values={ready} selected={selected} x={x} y={y} z={z} onRun={onRun} />
      )}
    </Panel>
  );
}

/** The run of a row that was clicked on in a chart. */
async function chooseRow(id: string, row: number): Promise<void> {
  const rows = await request('GET', sweepUrl(id, 'rows', new URLSearchParams({row: String(row), column: 'id'})), undefined, checkRows).catch(() => null);
  const run = rows?.columns.id?.[0];
  if (typeof run === 'string') toggle(run);
}

function Table({sweep}: {sweep: Sweep}) {
  const [title, setTitle] = useState('Rows');
  const {groups, filters, selection} = state.value;
  const words = `${groups ? 'points' : 'runs'}${selection.length ? ' selected' : ''}`;
  const conditions = [...filters, ...selection];
  return (
    <Panel
      title={title}
      class="sweep-table"
      actions={<Segmented label="Rows" options={TABLES} value={groups ? 'points' : 'runs'} onChange={(value) => change({groups: value === 'points'})} />}
    >
      {groups ? (
        <PointTable sweep={sweep} conditions={conditions} words={words} onTitle={setTitle} />
      ) : (
        <RunTable sweep={sweep} conditions={conditions} words={words} onTitle={setTitle} onChoose={toggle} onShow={(id) => void show(sweep.id, [id])} />
      )}
    </Panel>
  );
}

function One({id, list}: {id: string; list: SweepSummary[]}) {
  const summary = list.find((each) => each.id === id);
  const live = !summary || summary.rows < summary.runs;
  const fetched = useFetched(sweepUrl(id), checkSweep, live ? LIVE_MS : DONE_MS);
  return (
    <Show from={fetched} what="sweep of this name" icon="sweeps" missing="It may have been removed.">
      {(sweep) => (
        <div class="sweeps">
          <div class="sweeps-head">
            <label class="column-choice">
              <span class="visually-hidden">Sweep</span>
              <select value={id} title={sweep.file} onChange={(event) => change({id: event.currentTarget.value})}>
                {list.map((each) => (
                  <option key={each.id} value={each.id}>{nameOf(each)}</option>
                ))}
                {!summary && <option value={id}>{nameOf(sweep)}</option>}
              </select>
            </label>
            <Progress key={id} sweep={sweep} />
            <Filters sweep={sweep} />
          </div>
          <div class={`sweeps-body${state.value.runs.length ? ' with-chosen' : ''}`}>
            <Chart sweep={sweep} onRun={(row) => void chooseRow(id, row)} />
            <Chosen sweep={sweep} />
            <Table sweep={sweep} />
          </div>
        </div>
      )}
    </Show>
  );
}

export function Sweeps() {
  const list = useFetched('api/sweeps', listOf(checkSummary), LIST_MS);
  const {id} = state.value;
  const first = list.value?.[0]?.id ?? '';
  useEffect(() => {
    if (!id && first) change({id: first});
  }, [id, first]);
  return (
    <Show from={list} what="sweeps" icon="sweeps" missing={<>They are in the pages of <code>tether run</code>, and of <code>tether sweep --web</code>.</>}>
      {(sweeps) => {
        const shown = id || first;
        if (!shown) return <Empty icon="sweeps" title="No sweeps yet">Every <code>tether sweep PLAN.yaml</code> will be listed here, while it runs and after.</Empty>;
        return <One key={shown} id={shown} list={sweeps} />;
      }}
    </Show>
  );
}
