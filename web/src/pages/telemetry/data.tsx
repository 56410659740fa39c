// data.tsx: stored telemetry over any span: as a plot, as a table, and as links that any program can open.
import {signal} from '@preact/signals';
import {useMemo, useState} from 'preact/hooks';
import {formatCount, formatDate, formatValue} from '../../format';
import {useFetched} from '../../http';
import {cssColor, dark} from '../../theme';
import type {Line} from '../../ui/chart';
import {Button, Empty, Panel, Switch} from '../../ui/controls';
import {Show} from '../../ui/fetched';
import {StaticChart} from '../../ui/static_chart';
import {queryText} from './types';
import type {Attribute, Device, Query, Table} from './types';

const query = signal<Query>({devices: [], fields: [], from: '-60 s', to: '', fill: false, limit: 500});
const SPANS = ['-10 s', '-60 s', '-600 s', '-3600 s', '-86400 s'];
const SPAN_TEXT: Record<string, string> = {'-10 s': '10 s', '-60 s': '1 min', '-600 s': '10 min', '-3600 s': '1 h', '-86400 s': '1 day'};
const MOST_LINES = 10;
const SHOWN_ROWS = 500;

interface FieldLine extends Line {
  name: string;
  field: string;
}

/** A line a device and numeric field. Times are s since the first record. */
function linesOf(table: Table): {lines: FieldLine[]; from: number; to: number} {
  const times = table.records.map((record) => Date.parse(String(record[1])) / 1000);
  const from = Math.min(...times);
  const found = new Map<string, FieldLine>();
  table.records.forEach((record, row) => {
    for (let i = 2; i < record.length; i++) {
      const value = record[i];
      if (typeof value !== 'number') continue;
      const name = `${record[0]} ${table.header[i]}`;
      let line = found.get(name);
      if (!line) {
        if (found.size >= MOST_LINES) continue;
        found.set(name, (line = {name, field: table.header[i]!, times: [], values: [], colour: cssColor(`--trace-${found.size + 1}`)}));
      }
      line.times.push(times[row]! - from);
      line.values.push(value);
    }
  });
  return {lines: [...found.values()], from: 0, to: Math.max(...times) - from};
}

function minuteBefore(date: string): Pick<Query, 'from' | 'to'> {
  const end = Date.parse(date);
  return {from: new Date(end - 60000).toISOString(), to: new Date(end + 1000).toISOString()};
}

function Choice({label, all, chosen, onChange}: {label: string; all: {id: string; text: string}[]; chosen: string[]; onChange: (chosen: string[]) => void}) {
  return (
    <details class="choice">
      <summary>{label}: {chosen.length ? chosen.join(', ') : 'all'}</summary>
      <div class="choice-list float">
        {all.map(({id, text}) => (
          <Switch key={id} label={text} checked={chosen.includes(id)} onChange={(on) => onChange(on ? [...chosen, id] : chosen.filter((kept) => kept !== id))} />
        ))}
        {!all.length && <span class="muted">none yet</span>}
      </div>
    </details>
  );
}

function cell(value: Table['records'][number][number]): string {
  return typeof value === 'number' ? formatValue(value, 6) : value === null || value === undefined ? '' : String(value);
}

/** The newest sample may be older than any span that ends now: of a world that was slower than its clock, or has ended. */
function NothingHere({newest, onShow}: {newest: string; onShow: () => void}) {
  return (
    <Empty icon="telemetry" title="Nothing was stored in this span">
      <p>{newest ? `The newest sample is of ${formatDate(newest)}. ` : ''}Choose a longer span, or other devices and fields.</p>
      {newest && <Button label="Show the minute before it" text="Show the minute before it" kind="plain" onClick={onShow} />}
    </Empty>
  );
}

interface RecordsProps {
  table: Table;
  /** By the name that heads a column. */
  units: Map<string, string>;
  newest: string;
  onShow: () => void;
}

function Records({table, units, newest, onShow}: RecordsProps) {
  const plot = useMemo(() => linesOf(table), [table, dark.value]);
  if (!table.records.length) return <NothingHere newest={newest} onShow={onShow} />;
  return (
    <div class="records">
      {plot.lines.length > 0 && (
        <div class="record-plot">
          <ul class="legend">
            {plot.lines.map(({name, field}, i) => <li key={name}><i class={`swatch trace-${i + 1}`} />{name} <span class="unit">{units.get(field)}</span></li>)}
          </ul>
          <StaticChart label={`Plot of ${plot.lines.map(({name}) => name).join(', ')}`} lines={plot.lines} from={plot.from} to={plot.to} />
        </div>
      )}
      <div class="scroll record-table" tabIndex={0} role="group" aria-label="Records">
        <table>
          <thead><tr>{table.header.map((name, i) => <th key={i} class={i > 1 ? 'number' : ''}>{name}{units.has(name) && ` [${units.get(name)}]`}</th>)}</tr></thead>
          <tbody>
            {table.records.slice(0, SHOWN_ROWS).map((record, row) => (
              <tr key={row}>{record.map((value, i) => <td key={i} class={i > 1 ? 'number' : ''}>{i === 1 ? String(value).replace('T', ' ').replace('Z', '').slice(0, 23) : cell(value)}</td>)}</tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

export function Data({devices, attributes}: {devices: Device[]; attributes: Attribute[]}) {
  const [following, setFollowing] = useState(true);
  const asked = query.value;
  const set = (change: Partial<Query>) => (query.value = {...query.value, ...change});
  const units = new Map(attributes.flatMap(({attribute, name, unit}) => (unit ? [[name ?? attribute, unit] as const] : [])));
  const newest = devices.map((device) => device.last_sample ?? '').sort().pop() ?? '';
  const table = useFetched<Table>(`telemetry.json?${queryText(asked, {time: 'iso'})}`, following ? 2000 : 0);
  return (
    <Panel
      title="Stored data"
      class="data"
      actions={
        <>
          {(['xml', 'csv', 'json'] as const).map((format) => (
            <a key={format} class="button ghost" href={`telemetry.${format}?${queryText(asked)}`} target="_blank" rel="noopener">{format.toUpperCase()}</a>
          ))}
          <Button icon={following ? 'pause' : 'play'} label={following ? 'Stop following' : 'Follow'} pressed={following} onClick={() => setFollowing(!following)} />
        </>
      }
    >
      <div class="query">
        <Choice label="Devices" all={devices.map(({device, name}) => ({id: device, text: name ? `${name} (${device})` : device}))} chosen={asked.devices} onChange={(chosen) => set({devices: chosen})} />
        <Choice label="Fields" all={attributes.map(({attribute, name}) => ({id: attribute, text: name ?? attribute}))} chosen={asked.fields} onChange={(chosen) => set({fields: chosen})} />
        <span class="spans" role="group" aria-label="Span">
          {SPANS.map((from) => (
            <Button key={from} label={`The last ${SPAN_TEXT[from]}`} text={SPAN_TEXT[from]} pressed={asked.from === from && !asked.to} onClick={() => set({from, to: ''})} />
          ))}
        </span>
        <label>from <input class="time" value={asked.from} onChange={(event) => set({from: event.currentTarget.value})} /></label>
        <label>to <input class="time" placeholder="now" value={asked.to} onChange={(event) => set({to: event.currentTarget.value})} /></label>
        <Switch label="Fill gaps" checked={asked.fill} onChange={(fill) => set({fill})} />
        {table.value && <span class="muted">{formatCount(table.value.records.length)} records</span>}
      </div>
      <Show from={table} what="records" icon="telemetry" missing="Name a store in the scene: telemetry.store.">
        {(value) => <Records table={value} units={units} newest={newest} onShow={() => set(minuteBefore(newest))} />}
      </Show>
    </Panel>
  );
}
