// conditions.ts: conditions on rows as the program takes them, "gain:0.2..0.5", "status:=ok", for filters and selections alike.
import {formatValue} from '../../format';

export type Condition =
  | {column: string; kind: 'between'; from: number; to: number} // both included; infinite: no end
  | {column: string; kind: 'same' | 'other' | 'contains'; text: string}
  | {column: string; kind: 'none'};

const SIGNS = {same: '=', other: '!', contains: '~'} as const;

/** Ends as short as they can be told, and exact. */
const end = (value: number) => (Number.isFinite(value) ? String(value) : '');

export function write(condition: Condition): string {
  if (condition.kind === 'none') return `${condition.column}:none`;
  if (condition.kind === 'between') return `${condition.column}:${end(condition.from)}..${end(condition.to)}`;
  return `${condition.column}:${SIGNS[condition.kind]}${condition.text}`;
}

function readEnd(text: string, missing: number): number {
  return text === '' ? missing : Number(text);
}

/** null: what stands there is no condition. */
export function read(text: string): Condition | null {
  const colon = text.indexOf(':');
  if (colon < 1) return null;
  const column = text.slice(0, colon);
  const rest = text.slice(colon + 1);
  if (rest === 'none') return {column, kind: 'none'};
  const kind = (Object.keys(SIGNS) as (keyof typeof SIGNS)[]).find((name) => SIGNS[name] === rest[0]);
  if (kind) return {column, kind, text: rest.slice(1)};
  const dots = rest.indexOf('..');
  if (dots < 0) return null;
  const from = readEnd(rest.slice(0, dots), -Infinity);
  const to = readEnd(rest.slice(dots + 2), Infinity);
  return Number.isNaN(from) || Number.isNaN(to) ? null : {column, kind: 'between', from, to};
}

/** For people: "gain 0.2 – 0.5", "status is not ok". */
export function tell(condition: Condition): string {
  const {column} = condition;
  switch (condition.kind) {
    case 'none':
      return `${column} is nothing`;
    case 'same':
      return `${column} is ${condition.text}`;
    case 'other':
      return `${column} is not ${condition.text}`;
    case 'contains':
      return `${column} has “${condition.text}”`;
    case 'between': {
      const {from, to} = condition;
      if (from === to) return `${column} = ${formatValue(from)}`;
      if (from === -Infinity) return `${column} ≤ ${formatValue(to)}`;
      if (to === Infinity) return `${column} ≥ ${formatValue(from)}`;
      return `${column} ${formatValue(from)} – ${formatValue(to)}`;
    }
  }
}

/** The conditions with another on that column; null takes those on it away. */
export function replaced(conditions: Condition[], column: string, by: Condition | null): Condition[] {
  const others = conditions.filter((each) => each.column !== column);
  return by ? [...others, by] : others;
}

/** A column as charts have it: numbers, or places in a list of texts; NaN is nothing. */
export interface Data {
  values: Float64Array;
  texts?: string[];
}

function test(condition: Condition, {values, texts}: Data): (row: number) => boolean {
  if (condition.kind === 'none') return (row) => Number.isNaN(values[row]!);
  if (condition.kind === 'between') return (row) => values[row]! >= condition.from && values[row]! <= condition.to;
  const {kind, text} = condition;
  const matches = (value: string) =>
    kind === 'contains' ? value.toLowerCase().includes(text.toLowerCase()) : (value === text) === (kind === 'same');
  if (!texts) return (row) => (Number.isNaN(values[row]!) ? kind === 'other' : matches(String(values[row]!)));
  const known = texts.map(matches);
  return (row) => (Number.isNaN(values[row]!) ? kind === 'other' : known[values[row]!]!);
}

/** 1 for each row of which all conditions hold; null where there is no condition, or a column of one is not at hand. */
export function select(conditions: Condition[], rows: number, columns: ReadonlyMap<string, Data>): Uint8Array | null {
  if (!conditions.length || conditions.some(({column}) => !columns.has(column))) return null;
  const chosen = new Uint8Array(rows).fill(1);
  for (const condition of conditions) {
    const holds = test(condition, columns.get(condition.column)!);
    for (let row = 0; row < rows; row++) if (chosen[row] && !holds(row)) chosen[row] = 0;
  }
  return chosen;
}
