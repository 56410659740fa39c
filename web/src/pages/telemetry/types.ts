// types.ts: telemetry over HTTP: docs/openapi.json.

export interface Device {
  device: string;
  name: string | null;
  /** Of which there are values. */
  attributes: number;
  epoch: number;
  last_sample: string | null;
  clock_offset_us: number;
  clock_drift_ppm: number;
  messages: number;
  values: number;
}

export interface Handling {
  type: string;
  mode: string;
  unit: string | null;
  scale: number;
  offset: number;
  min_interval: number;
  retention: number;
}

export interface Attribute extends Handling {
  attribute: string;
  name: string | null;
  /** Of which there are values. */
  devices: number;
}

/** A row: device, time, then a cell a field; null where a record has none. */
export interface Table {
  header: string[];
  records: (string | number | boolean | null)[][];
}

export interface CollectorStatus {
  store: string | null;
  degraded: boolean;
  reason: string | null;
  messages: number;
  refused: number;
  values: number;
  stored_values: number;
  lost_values: number;
  queued_bytes: number;
}

export const TYPES = ['auto', 'number', 'text', 'flag'];
export const MODES: Record<string, string> = {
  both: 'store and forward',
  store: 'store',
  forward: 'forward',
  ignore: 'ignore',
};

export interface Query {
  devices: string[];
  fields: string[];
  from: string;
  to: string;
  fill: boolean;
  limit: number;
}

export function queryText(query: Query, extra: Record<string, string> = {}): string {
  const keys = new URLSearchParams();
  if (query.devices.length) keys.set('device', query.devices.join(','));
  if (query.fields.length) keys.set('fields', query.fields.join(','));
  if (query.from.trim()) keys.set('from', query.from.trim());
  if (query.to.trim()) keys.set('to', query.to.trim());
  if (query.fill) keys.set('fill', 'previous');
  if (query.limit > 0) keys.set('limit', String(query.limit));
  for (const [key, value] of Object.entries(extra)) keys.set(key, value);
  return keys.toString();
}
