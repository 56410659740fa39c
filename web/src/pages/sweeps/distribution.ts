// distribution.ts: what histogram and heat map are made of: a column cut into cells, and what lies in each.
import type {Data} from './conditions';

/** Different values up to which each is a cell of its own. */
const MOST_VALUES = 40;
const MOST_BINS = 40;

/** A column cut into cells: one for each value or text where there are few, else equal stretches. */
export interface Cells {
  count: number;
  of: (value: number) => number; // the cell, -1: none
  range: (cell: number) => [number, number]; // both ends included, of values
  labels: string[] | null; // of single values; null: stretches from `from` on, of `width`
  from: number;
  width: number;
}

export function extent(values: Float64Array): [number, number] {
  let least = Infinity;
  let greatest = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (!Number.isFinite(value)) continue;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  return [least, greatest];
}

/** Sorted; null: more than there may be. */
export function distinct(values: Float64Array, most = MOST_VALUES): number[] | null {
  const found = new Set<number>();
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value) || found.has(value)) continue;
    if (found.size === most) return null;
    found.add(value);
  }
  return [...found].sort((a, b) => a - b);
}

function single(values: number[], labels: string[]): Cells {
  const places = new Map(values.map((value, i) => [value, i]));
  return {
    count: values.length,
    of: (value) => places.get(value) ?? -1,
    range: (cell) => [values[cell]!, values[cell]!],
    labels,
    from: -0.5,
    width: 1,
  };
}

/** As many stretches as leave some rows in each, where they are cut along so many columns at once. */
function binsFor(rows: number, columns: number): number {
  return Math.max(5, Math.min(MOST_BINS, Math.round(0.8 * rows ** (1 / (columns + 1)) * columns)));
}

/** Of `columns` that are cut at once. `stretches`: also where there are few values. */
export function cut({values, texts}: Data, label: (value: number) => string, columns = 1, stretches = false): Cells {
  if (texts) return single(texts.map((_, i) => i), texts);
  const few = stretches ? null : distinct(values);
  if (few) return single(few, few.map(label));
  const [least, greatest] = extent(values);
  if (!(greatest >= least)) return {count: 0, of: () => -1, range: () => [0, 0], labels: null, from: 0, width: 1};
  const bins = binsFor(values.length, columns);
  const width = (greatest - least || Math.abs(greatest) || 1) / bins;
  return {
    count: bins,
    of: (value) => (!Number.isFinite(value) ? -1 : Math.min(bins - 1, Math.floor((value - least) / width))),
    // A value on the border of two lies in the upper one.
    range: (cell) => [least + cell * width, cell === bins - 1 ? greatest : least + (cell + 1) * width],
    labels: null,
    from: least,
    width,
  };
}

/** How many rows lie in each cell, of all and of the selected. */
export function histogram(cells: Cells, values: Float64Array, selected: Uint8Array | null): {all: Float64Array; chosen: Float64Array} {
  const all = new Float64Array(cells.count);
  const chosen = new Float64Array(cells.count);
  for (let row = 0; row < values.length; row++) {
    const cell = cells.of(values[row]!);
    if (cell < 0) continue;
    all[cell]!++;
    if (selected?.[row]) chosen[cell]!++;
  }
  return {all, chosen};
}

/** The mean of `z` over each pair of cells, NaN where there is none; how many rows it is of; and which have selected ones. */
export function heat(x: Cells, y: Cells, columns: {x: Float64Array; y: Float64Array; z: Float64Array}, selected: Uint8Array | null) {
  const size = x.count * y.count;
  const mean = new Float64Array(size);
  const count = new Float64Array(size);
  const chosen = new Uint8Array(size);
  for (let row = 0; row < columns.z.length; row++) {
    const a = x.of(columns.x[row]!);
    const b = y.of(columns.y[row]!);
    const value = columns.z[row]!;
    if (a < 0 || b < 0) continue;
    const cell = b * x.count + a;
    if (selected?.[row]) chosen[cell] = 1;
    if (Number.isNaN(value)) continue;
    count[cell]!++;
    mean[cell]! += (value - mean[cell]!) / count[cell]!;
  }
  for (let cell = 0; cell < size; cell++) if (!count[cell]) mean[cell] = NaN;
  return {mean, count, chosen};
}

/** The one of the rows whose picture, px, lies nearest to a point, at most `reach` away; -1: none does. */
export function nearest(xs: Float64Array, ys: Float64Array, toX: (value: number) => number, toY: (value: number) => number, left: number, top: number, reach: number): number {
  let best = -1;
  let distance = reach * reach;
  for (let row = 0; row < xs.length; row++) {
    const dx = toX(xs[row]!) - left;
    const dy = toY(ys[row]!) - top;
    const here = dx * dx + dy * dy;
    if (here < distance) {
      distance = here;
      best = row;
    }
  }
  return best;
}
