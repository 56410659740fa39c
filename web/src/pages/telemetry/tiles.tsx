// tiles.tsx: all devices at a glance: who sends, how much, and what last.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {listOf} from '../../check';
import {formatCount, formatRate, formatSignal} from '../../format';
import {useFetched} from '../../http';
import {addressOf} from '../../route';
import {Empty, Segmented} from '../../ui/controls';
import {livenessOf, livenessText, Rates} from './state';
import type {Liveness} from './state';
import {checkLatest, fieldLabel, labelOf, listed} from './types';
import type {Device, Latest} from './types';
import {zoneName, clockText} from './zone';

const PERIOD_MS = 2000;
/** Values on a tile. */
const VALUES = 5;
/** Devices whose values are asked for at a time: those in sight. */
const MOST_ASKED = 60;
/** Tiles that are made at first, and whenever their end comes into sight: thousands at once take seconds. */
const TILES = 200;

const TAGS: Record<Liveness, string> = {online: 'good', stale: 'warn', gone: ''};

export function LivenessTag({device}: {device: Device}) {
  const state = livenessOf(device.silence);
  return <span class={`tag ${TAGS[state]}`} title={livenessText(device)}>{state}</span>;
}

export function cellText(value: Latest['value']): string {
  return typeof value === 'number' ? formatSignal(value) : String(value ?? '');
}

function Tile({device, rate, latest, watch}: {device: Device; rate: number | null; latest: Latest[]; watch: (element: Element) => () => void}) {
  const element = useRef<HTMLLIElement>(null);
  useEffect(() => watch(element.current!), []);
  const state = livenessOf(device.silence);
  const newest = latest.map(({time}) => time).sort().pop();
  const shown = [...latest].sort((a, b) => Number(typeof b.value === 'number') - Number(typeof a.value === 'number')).slice(0, VALUES);
  return (
    <li ref={element} data-device={device.device} class={`tile ${state}`}>
      <a href={addressOf('telemetry', {device: device.device, span: null, field: null})}>
        <span class="tile-name">{labelOf(device)}</span> <LivenessTag device={device} />
      </a>
      <p class="tile-rate">
        <span>{state !== 'online' && newest ? `last ${clockText(Date.parse(newest), zoneName.value).slice(0, 19).replace('T', ' ')}` : rate === null ? '' : formatRate(rate).replace('/s', 'values/s')}</span>
        <span class="mono">{device.name ? device.device : ''}</span>
      </p>
      <dl class="pairs">
        {shown.map((value) => (
          <div key={value.attribute}>
            <dt>{fieldLabel(value)}</dt>
            <dd title={String(value.value ?? '')}>{cellText(value.value)} <i>{value.unit}</i></dd>
          </div>
        ))}
      </dl>
      <p class="muted">
        {[
          device.attributes > shown.length && shown.length ? `${formatCount(device.attributes - shown.length)} more` : '',
          device.attributes ? '' : 'nothing stored',
        ].filter(Boolean).join(' · ')}
      </p>
    </li>
  );
}

/** Devices whose tiles are in sight, and what watches a tile. */
export function useSight(): [readonly string[], (element: Element) => () => void] {
  const [seen, setSeen] = useState<readonly string[]>([]);
  const {observer, watch} = useMemo(() => {
    const inSight = new Set<string>();
    const nameOf = (element: Element) => (element as HTMLElement).dataset.device!;
    let told = true;
    /** Once for all tiles that go together. */
    const tell = () => {
      if (told) setTimeout(() => ((told = true), setSeen([...inSight].sort().slice(0, MOST_ASKED))));
      told = false;
    };
    const made = new IntersectionObserver((entries) => {
      for (const {target, isIntersecting} of entries) {
        if (isIntersecting) inSight.add(nameOf(target));
        else inSight.delete(nameOf(target));
      }
      tell();
    }, {rootMargin: '200px'});
    const start = (element: Element) => {
      made.observe(element);
      // Of a tile that is taken away the observer says nothing.
      return () => (made.unobserve(element), inSight.delete(nameOf(element)), tell());
    };
    return {observer: made, watch: start};
  }, []);
  useEffect(() => () => observer.disconnect(), []);
  return [seen, watch];
}

/** The end of those that were made, of which so many are not. */
function More({count, onSight}: {count: number; onSight: () => void}) {
  const element = useRef<HTMLLIElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => entries.some(({isIntersecting}) => isIntersecting) && onSight(), {rootMargin: '600px'});
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, [count]);
  return <li ref={element} class="muted">{formatCount(count)} more</li>;
}

/** ROBO2 before ROBO10. */
const ORDER = new Intl.Collator(undefined, {numeric: true});

export function byName(devices: readonly Device[]): Device[] {
  return [...devices].sort((a, b) => ORDER.compare(labelOf(a), labelOf(b)));
}

const STATES = ['all', 'online', 'stale', 'gone'] as const;

export function Tiles({devices}: {devices: Device[]}) {
  const [search, setSearch] = useState('');
  const [wanted, setWanted] = useState<(typeof STATES)[number]>('all');
  const [seen, watch] = useSight();
  const [most, setMost] = useState(TILES);
  const rates = useMemo(() => new Rates(), []);
  rates.take(devices, Date.now());
  const url = seen.length ? `telemetry/latest.json?${new URLSearchParams({device: listed(seen)})}` : '';
  const latest = useFetched(url, listOf(checkLatest), PERIOD_MS);
  // What was heard of a tile stays while others are scrolled into sight.
  const known = useRef(new Map<string, Latest[]>());
  for (const name of new Set(latest.value?.map(({device}) => device))) known.current.set(name, latest.value!.filter(({device}) => device === name));
  const words = search.trim().toLowerCase();
  const matching = devices.filter(({device, name}) => `${device} ${name ?? ''}`.toLowerCase().includes(words));
  const count = (state: (typeof STATES)[number]) => (state === 'all' ? matching : matching.filter(({silence}) => livenessOf(silence) === state)).length;
  const shown = byName(matching.filter(({silence}) => wanted === 'all' || livenessOf(silence) === wanted));
  return (
    <>
      <div class="tiles-head">
        <input type="search" placeholder="Search devices" aria-label="Search devices" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        <Segmented label="State" options={STATES.map((value) => ({value, text: `${value} ${count(value)}`}))} value={wanted} onChange={setWanted} />
      </div>
      {shown.length ? (
        <ul class="tiles" aria-label="Devices">
          {shown.slice(0, most).map((device) => <Tile key={device.device} device={device} rate={rates.of(device.device)} latest={known.current.get(device.device) ?? []} watch={watch} />)}
          {shown.length > most && <More count={shown.length - most} onSight={() => setMost(most + TILES)} />}
        </ul>
      ) : (
        <Empty icon="search" title="No device is like that" />
      )}
    </>
  );
}
