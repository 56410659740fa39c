// zone.ts: clock time as people read it: in the zone of whoever reads, or UTC; every axis and column says which.
import {computed} from '@preact/signals';
import {stored} from '../../settings';

/** 'local': of this browser. */
export const zone = stored<string>('telemetry.zone', 'local');

/** Of this browser. */
export const here = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
/** A name of tzdata's, which the program knows as well. */
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

/** Europe/Berlin, UTC+01:00. */
export function zoneText(name: string, ms: number): string {
  const minutes = offsetOf(ms, name);
  if (name === 'UTC') return 'UTC';
  const two = (value: number) => String(value).padStart(2, '0');
  const away = Math.abs(minutes);
  return `${name}, UTC${minutes < 0 ? '\u2212' : '+'}${two(Math.floor(away / 60))}:${two(away % 60)}`;
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
