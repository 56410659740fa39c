// types.ts: telemetry over HTTP: docs/openapi.json.
import {cell, flag, listOf, number, object, oneOf, orNothing, orNull, text} from '../../check';
import type {Checked} from '../../check';

export const checkDevice = object({
  device: text,
  name: orNull(text),
  /** Of which there are values. */
  attributes: number,
  epoch: number,
  /** Of what came since the program began. */
  last_sample: orNull(text),
  /** s since its last message came; null: none since the program began. */
  silence: orNull(number),
  clock_offset_us: number,
  clock_drift_ppm: number,
  messages: number,
  values: number,
});
export type Device = Checked<typeof checkDevice>;

const handling = {
  type: text,
  mode: text,
  unit: orNull(text),
  scale: number,
  offset: number,
  min_interval: number,
  retention: number,
};
const checkHandling = object(handling);
export type Handling = Checked<typeof checkHandling>;

export const checkAttribute = object({
  ...handling,
  attribute: text,
  name: orNull(text),
  /** Of which there are values. */
  devices: number,
});
export type Attribute = Checked<typeof checkAttribute>;

/** A row: device, time, then a cell a field; null where a record has none. */
export const checkTable = object({
  header: listOf(text),
  records: listOf(listOf(cell)),
  /** Of pages: where to go on; null at the end. */
  next: orNothing(orNull(text)),
  /** With count=yes: as many records, or at least as many. */
  count: orNothing(number),
  count_is: orNothing(oneOf('exact', 'at least')),
});
export type Table = Checked<typeof checkTable>;

export const checkCollector = object({
  store: orNull(text),
  degraded: flag,
  reason: orNull(text),
  messages: number,
  refused: number,
  values: number,
  stored_values: number,
  lost_values: number,
  queued_bytes: number,
});
export type CollectorStatus = Checked<typeof checkCollector>;

export const TYPES = ['auto', 'number', 'text', 'flag'];
export const MODES: Record<string, string> = {
  both: 'store and forward',
  store: 'store',
  forward: 'forward',
  ignore: 'ignore',
};

/** The newest value of an attribute of a device. */
export const checkLatest = object({
  device: text,
  device_name: orNull(text),
  attribute: text,
  name: orNull(text),
  unit: orNull(text),
  time: text,
  value: cell,
});
export type Latest = Checked<typeof checkLatest>;

/** What people call a device, as tables do. */
export function labelOf({device, name}: Pick<Device, 'device' | 'name'>): string {
  return name ?? device;
}

export function fieldLabel({attribute, name}: Pick<Latest, 'attribute' | 'name'>): string {
  return name ?? attribute;
}

/** Identifiers of devices and attributes; none: all. */
export interface Subject {
  devices: readonly string[];
  fields: readonly string[];
}

/** Names as `device` and `fields` of a table list them. */
export function listed(names: readonly string[]): string {
  return names.map((name) => name.replace(/[\\,]/g, '\\$&')).join(',');
}

/** Of a table. */
export function tableUrl(format: 'json' | 'csv' | 'xml', {devices, fields}: Subject, keys: Record<string, string>): string {
  const query = new URLSearchParams();
  if (devices.length) query.set('device', listed(devices));
  if (fields.length) query.set('fields', listed(fields));
  for (const [key, value] of Object.entries(keys)) query.set(key, value);
  return `telemetry.${format}?${query}`;
}
