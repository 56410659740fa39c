// zone.ts: clock time as people read it: in the zone of whoever reads, or UTC; every axis and column says which.
import {computed, signal} from '@preact/signals';
import {HttpError, request} from '../../http';
import {stored} from '../../settings';

/** 'local': of this browser. */
export const zone = stored<string>('telemetry.zone', 'local');

/** Of this browser. */
export const here = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
/** A name of tzdata's as this browser has it; the program's machine may know it by another, or none at all. */
export const zoneName = computed(() => (zone.value === 'local' ? here : 'UTC'));

/** min that its clocks are ahead of UTC at a moment. */
function offsetOf(ms: number, name: string): number {
  if (name === 'UTC') return 0;
  const parts = Object.fromEntries(formatter(name).formatToParts(ms).map(({type, value}) => [type, Number(value)]));
  const shown = Date.UTC(parts.year!, parts.month! - 1, parts.day, parts.hour, parts.minute, parts.second);
  return Math.round((shown - Math.floor(ms / 1000) * 1000) / 60e3);
}

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(name: string): Intl.DateTimeFormat {
  let made = formatters.get(name);
  if (!made) {
    made = new Intl.DateTimeFormat('en-GB', {
      timeZone: name, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric',
    });
    formatters.set(name, made);
  }
  return made;
}

/** +05:30. */
function offsetText(minutes: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const away = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(away / 60))}:${two(away % 60)}`;
}

/** Europe/Berlin, UTC+01:00. */
export function zoneText(name: string, ms: number): string {
  return name === 'UTC' ? 'UTC' : `${name}, UTC${offsetText(offsetOf(ms, name)).replace('-', '\u2212')}`;
}

/** 2026-11-22T14:00:00 of the clocks there; with ms where there are some, or always. */
export function clockText(ms: number, name: string, always = false): string {
  const text = new Date(Math.round(ms) + offsetOf(ms, name) * 60e3).toISOString().slice(0, -1);
  return always ? text : text.replace(/\.000$/, '');
}

/** The moment at which the clocks there show this; NaN: no time. */
export function momentOf(clock: string, name: string): number {
  const shown = Date.parse(`${clock}Z`);
  if (Number.isNaN(shown)) return NaN;
  const first = shown - offsetOf(shown, name) * 60e3;
  return shown - offsetOf(first, name) * 60e3; // clocks that are set between the two
}

const DAY_MS = 86400e3;
/** Clocks that are set stay so for longer. */
const LOOK_MS = 7 * DAY_MS;

function isSetBetween(from: number, to: number, name: string): boolean {
  const offset = offsetOf(to, name);
  for (let ms = from; ms < to; ms += LOOK_MS) {
    if (offsetOf(ms, name) !== offset) return true;
  }
  return false;
}

/** Names that the program was asked for. */
const known = signal<Readonly<Record<string, boolean>>>({});
const asking = new Set<string>();

/** Does the program know this name? null: it has not answered yet. `device`: one that it has something of. */
function isKnown(name: string, device: string): boolean | null {
  const answer = known.value[name];
  if (answer !== undefined || asking.has(name)) return answer ?? null;
  asking.add(name);
  const tell = (knows: boolean) => (known.value = {...known.peek(), [name]: knows});
  request('GET', `telemetry/latest.json?${new URLSearchParams({device, zone: name})}`).then(
    () => tell(true),
    (error: unknown) => error instanceof HttpError && error.status === 400 && tell(false),
  ).finally(() => asking.delete(name));
  return null;
}

export interface FileZone {
  /** As the program takes it. */
  zone: string;
  /** Its clocks are set in the stretch, which the file doesn't follow. */
  fixed: boolean;
}

/** The zone of a file of this stretch: the offset that the axis shows, which every program takes; where clocks are set in between the
 *  name, if the program knows it. */
export function fileZone({from, to}: {from: number; to: number}, name: string, device: string): FileZone {
  // A row for a day may begin a day before.
  const isSet = name !== 'UTC' && isSetBetween(from - DAY_MS, to, name);
  if (isSet && isKnown(name, device) !== false) return {zone: name, fixed: false};
  const minutes = offsetOf(to, name);
  return {zone: minutes ? offsetText(minutes) : 'Z', fixed: isSet};
}
