// device.tsx: one device, or some together, over clock time: a plot a unit, everything there is in a strip below, and every record.
import type {ComponentChildren} from 'preact';
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {listOf} from '../../check';
import {useFetched} from '../../http';
import {addressOf, param, params, setParams} from '../../route';
import {ClockChart} from '../../ui/clock_chart';
import {Button, Empty, Switch} from '../../ui/controls';
import {Icon} from '../../ui/icon';
import {Loading} from '../../ui/fetched';
import {Popover} from '../../ui/popover';
import {Brush} from './brush';
import {now, useNow} from './clock';
import {Download} from './download';
import {Fields, fieldsOf} from './fields';
import type {Drawn, Field} from './fields';
import {align, seriesOf} from './points';
import {RecordPanel} from './record_table';
import {between, goesOn, iso, momentsOf, parseSpan, wider, writeSpan} from './span';
import type {Moments, Span} from './span';
import {ClockChoice, SpanBar} from './span_bar';
import {livenessOf} from './state';
import {byName, LivenessTag} from './tiles';
import {checkLatest, checkTable, labelOf, listed, tableUrl} from './types';
import type {Device, Latest, Table} from './types';
import {zoneName, zoneText} from './zone';

/** Fields that are drawn as long as nobody chose others. */
const USUAL = 8;
const COLOURS = 20;
/** Stretches of a plot, each with its least and greatest; and of the strip. */
const POINTS = 1500;
const STRIP_POINTS = 400;
const LATEST_MS = 2000;
const STRIP_MS = 30000;
/** ms between two looks at what comes. */
const SLOWEST = 30000;
/** ms that somebody who zooms has to rest before the program is asked. */
const REST_MS = 120;

/** What is drawn from how wide a stretch is not drawn anew more often than it moves by a point. */
function periodOf(span: Span): number {
  if (span.kind === 'between') return 0;
  return span.kind === 'all' ? SLOWEST : Math.min(SLOWEST, Math.max(LATEST_MS, span.ms / POINTS));
}

/** `value`, once it rests; at once where it comes a while after the one before. */
function useRested<T>(value: T): T {
  const [rested, setRested] = useState(value);
  const since = useRef(0);
  useEffect(() => {
    const rest = rested && Date.now() - since.current < REST_MS ? REST_MS : 0;
    since.current = Date.now();
    const timer = setTimeout(() => setRested(value), rest);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}

/** From the first to the newest sample; null: it is not known, or there are none. */
function thereOf(strip: Table | null, latest: readonly Latest[]): Moments | null {
  const first = strip?.records[0];
  const newest = latest.map(({time}) => Date.parse(time)).reduce((a, b) => Math.max(a, b), -Infinity);
  return first && newest > -Infinity ? {from: Math.min(Date.parse(String(first[1])), newest - 1), to: newest + 1} : null;
}

/** The lines of a table of points; those of one field have one unit, and each its own colour. */
function drawnOf(table: Table | null, fields: Field[]): Drawn[] {
  return seriesOf(table ?? {header: [], records: []}).flatMap((series, i) => {
    const field = fields.find(({label}) => label === series.field);
    return field ? [{series, field, colour: `trace-${(i % COLOURS) + 1}`}] : [];
  });
}

function Plots({drawn, loading, moments, onZoom, onBack, onCursor}: {drawn: Drawn[]; loading: boolean; moments: Moments; onZoom: (from: number, to: number) => void; onBack: () => void; onCursor: (ms: number | null) => void}) {
  const plots = [...new Set(drawn.map(({field}) => plotOf(field)))];
  return (
    <div class="device-plots" tabIndex={0} role="group" aria-label="Plots" aria-busy={loading}>
      <Loading when={loading} />
      {plots.map((plot, i) => <UnitPlot key={plot} first={!i} lines={drawn.filter(({field}) => plotOf(field) === plot)} moments={moments} onZoom={onZoom} onBack={onBack} onCursor={onCursor} />)}
    </div>
  );
}

/** What has one unit has one axis; what has none says nothing of its scale, and has its own. */
function plotOf({unit, attribute}: Field): string {
  return unit ? `unit ${unit}` : attribute;
}

function UnitPlot({first, lines, moments, onZoom, onBack, onCursor}: {first: boolean; lines: Drawn[]; moments: Moments; onZoom: (from: number, to: number) => void; onBack: () => void; onCursor: (ms: number | null) => void}) {
  const {times, columns} = useMemo(() => align(lines.map(({series}) => series)), [lines.map(({series}) => series)].flat());
  const zone = zoneText(zoneName.value, moments.to);
  const names = [...new Set(lines.map(({field}) => field.label))].join(', ');
  return (
    <figure class="device-plot">
      <figcaption><span>{names} <span class="unit">{lines[0]?.field.unit}</span></span>{first && <span class="muted">{zone}</span>}</figcaption>
      <ClockChart
        label={`${names} over time, ${zone}`}
        times={times}
        columns={columns}
        colours={lines.map(({colour}) => `--${colour}`)}
        from={moments.from / 1000}
        to={moments.to / 1000}
        zone={zoneName.value}
        sync="device"
        onZoom={onZoom}
        onReset={onBack}
        onCursor={(index) => onCursor(index === null ? null : (times[index] ?? 0) * 1000)}
      />
    </figure>
  );
}

/** Devices in which nobody has to search. */
const MOST_UNSEARCHED = 8;

/** Others to look at together with this one. */
function Together({opened, devices}: {opened: readonly string[]; devices: Device[]}) {
  const [search, setSearch] = useState('');
  if (devices.length < 2) return null;
  const words = search.trim().toLowerCase();
  const found = byName(devices.filter((device) => `${device.device} ${labelOf(device)}`.toLowerCase().includes(words)));
  return (
    <Popover label="Compare" icon="layers" text="Compare" class="device-choice">
      {devices.length > MOST_UNSEARCHED && <input type="search" placeholder="Search devices" aria-label="Search devices to compare" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />}
      {!found.length && <p class="muted">No device is like that.</p>}
      {found.map((device) => (
        <Switch
          key={device.device}
          label={labelOf(device)}
          checked={opened.includes(device.device)}
          onChange={(on) => setParams({device: on ? [...opened, device.device] : opened.filter((other) => other !== device.device)})}
        />
      ))}
    </Popover>
  );
}

function Head({opened, devices, children}: {opened: readonly string[]; devices: Device[]; children: ComponentChildren}) {
  const known = devices.filter(({device}) => opened.includes(device));
  return (
    <div class="device-head">
      <a class="button ghost" href={addressOf('telemetry', {device: null, span: null, field: null})}><Icon name="telemetry" size={16} /> All devices</a>
      {known.map((device) => <h2 key={device.device}>{labelOf(device)} <LivenessTag device={device} /></h2>)}
      <span class="grow" />
      <ClockChoice />
      <Together opened={opened} devices={devices} />
      {children}
    </div>
  );
}

/** The usual stretch: what comes now; of a device that is silent all there is. */
function usual(known: readonly Device[]): Span {
  return known.some(({silence}) => livenessOf(silence) === 'online') ? {kind: 'last', ms: 600e3} : {kind: 'all'};
}

export function DevicePage({opened, devices}: {opened: readonly string[]; devices: Device[]}) {
  const [first] = useState(() => usual(devices.filter(({device}) => opened.includes(device))));
  const span = parseSpan(param('span', 'telemetry').value) ?? first;
  const chosen = params('field', 'telemetry').value;
  const before = useRef<Span[]>([]);
  const [cursor, setCursor] = useState<number | null>(null);
  const time = useNow(periodOf(span));
  const subject = {devices: opened};
  const answer = useFetched(`telemetry/latest.json?${new URLSearchParams({device: listed(opened)})}`, listOf(checkLatest), LATEST_MS);
  const latest = answer.value ?? [];
  const fields = useMemo(() => fieldsOf(latest), [answer.value]);
  const usualFields = fields.filter(({number}) => number).slice(0, USUAL).map(({attribute}) => attribute);
  const shown = chosen.length ? chosen : usualFields;
  const numbers = fields.filter(({attribute, number}) => number && shown.includes(attribute));
  const ask = (keys: Record<string, string>, of: readonly Field[]) => (of.length ? tableUrl('json', {...subject, fields: of.map(({attribute}) => attribute)}, keys) : '');
  const strip = useFetched(ask({points: String(STRIP_POINTS)}, numbers.slice(0, 1)), checkTable, STRIP_MS);
  const there = useMemo(() => thereOf(strip.value, latest), [strip.value, answer.value]);
  const moments = momentsOf(span, there, time);
  // Without a span the program finds what there is by itself.
  const keys: Record<string, string> = span.kind === 'all' ? {} : {from: iso(moments.from), to: iso(moments.to)};
  const points = useFetched(useRested(ask({points: String(POINTS), ...keys}, numbers)), checkTable, span.kind === 'all' ? SLOWEST : 0);
  const drawn = useMemo(() => drawnOf(points.value, numbers), [points.value, fields, shown.join()]);
  const stripLine = useMemo(() => align(seriesOf(strip.value ?? {header: [], records: []}).slice(0, 1)), [strip.value]);
  const setSpan = (next: Span) => {
    before.current.push(span);
    setParams({span: writeSpan(next)}, 'telemetry');
  };
  const back = () => setParams({span: writeSpan(before.current.pop() ?? first)}, 'telemetry');
  if (answer.error?.status === 404) return <Empty icon="telemetry" title="There is no such device"><a href={addressOf('telemetry', {device: null})}>All devices</a></Empty>;
  const units = new Map(fields.flatMap(({label, unit}) => (unit ? [[label, unit] as const] : [])));
  const nothing = !drawn.length && (numbers.length ? points.value && !points.behind : answer.value);
  return (
    <div class="device-page">
      <Head opened={opened} devices={devices}>
        <Download devices={opened} fields={chosen} fieldCount={fields.length} moments={moments} />
      </Head>
      <SpanBar span={span} moments={moments} known={there !== null || span.kind !== 'all'} onSpan={setSpan} onWider={() => setSpan(wider(moments, there, now()))} />
      <div class="device-body">
        <Fields fields={fields} latest={latest} shown={shown} drawn={drawn} several={opened.length > 1} cursor={cursor} onShown={(attributes) => setParams({field: attributes}, 'telemetry')} />
        <div class="device-main">
          {points.error && <p class="inline-error" role="alert">{points.error.message}</p>}
          {nothing ? (
            <Empty icon="telemetry" title={numbers.length ? 'No numbers in this stretch' : 'No field with numbers is chosen'}>
              {there && numbers.length > 0 && <Button kind="plain" label="Show all there is" text="Show all there is" onClick={() => setSpan({kind: 'all'})} />}
            </Empty>
          ) : (
            <Plots drawn={drawn} loading={points.behind || !answer.value} moments={moments} onZoom={(from, to) => setSpan(between({from: from * 1000, to: to * 1000}))} onBack={back} onCursor={setCursor} />
          )}
          {there && <Brush {...stripLine} colours={['--muted']} whole={{from: there.from, to: Math.max(there.to, goesOn(span) ? moments.to : 0)}} window={moments} onWindow={(window) => setSpan(between(window))} />}
          {answer.value && (there || strip.error || !numbers.length) && (
            <RecordPanel
              subject={{devices: opened, fields: chosen}}
              topic={`${opened.join()} ${chosen.join()} ${writeSpan(span)}`}
              moments={there ? {from: Math.max(moments.from, there.from - 60e3), to: moments.to} : moments}
              following={goesOn(span)}
              field={numbers[0]?.attribute ?? ''}
              units={units}
            />
          )}
        </div>
      </div>
    </div>
  );
}
