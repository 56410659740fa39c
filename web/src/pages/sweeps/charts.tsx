// charts.tsx: scatter, heat map and histogram: all rows that the filters let through, the selected ones before the others. What is
// dragged over is selected; a click chooses a run, or a cell.
import {useEffect, useMemo, useRef} from 'preact/hooks';
import {formatCount, formatValue} from '../../format';
import {cssColor, dark} from '../../theme';
import {range} from '../../ui/chart';
import {Plane} from '../../ui/plane';
import type {Drawing, PlaneAxis, PlaneEvents} from '../../ui/plane';
import {watchSize} from '../../ui/size';
import {gradient, scale, SHADES, shadeOf} from './colours';
import {replaced} from './conditions';
import type {Condition, Data} from './conditions';
import {cut, extent, heat, histogram, nearest} from './distribution';
import type {Cells} from './distribution';
import {change, marked, state} from './state';
import type {Column} from './types';
import {rowsOf} from './values';
import type {Values} from './values';

export interface ChartProps {
  values: Values;
  selected: Uint8Array | null;
  x: Column;
  y: Column;
  z: Column | null;
  onRun: (number: number) => void; // of a row in the file
}

const REACH = 14;

/** A plane that fills its place. */
function Canvas({label, x, y, both, events, paint}: {label: string; x: PlaneAxis; y: PlaneAxis; both: boolean; events: PlaneEvents; paint: (drawing: Drawing) => void}) {
  const host = useRef<HTMLDivElement>(null);
  const plane = useRef<Plane | null>(null);
  const latest = useRef(events);
  latest.current = events;
  const show = useRef(() => {});
  show.current = () => plane.current?.show(x, y, paint);
  useEffect(() => {
    const element = host.current!;
    plane.current = new Plane(
      element,
      {
        onPick: (...at) => latest.current.onPick?.(...at),
        onSelect: (...ranges) => latest.current.onSelect?.(...ranges),
        onClear: () => latest.current.onClear?.(),
      },
      both,
    );
    const unwatch = watchSize(element, (width, height) => {
      plane.current?.resize(width, height);
      show.current();
    });
    return () => {
      unwatch();
      plane.current?.dispose();
      plane.current = null;
    };
  }, []);
  useEffect(() => show.current(), [x, y, paint, dark.value]);
  return <div ref={host} class="plot-canvas" role="img" aria-label={label} />;
}

export const titleOf = ({name, unit}: Column) => (unit ? `${name} (${unit})` : name);

function axisOf(column: Column, {values, texts}: Data): PlaneAxis {
  const title = titleOf(column);
  if (texts) return {from: -0.5, to: Math.max(1, texts.length) - 0.5, title, labels: texts};
  const [least, greatest] = extent(values);
  const [from, to] = least <= greatest ? range(least, greatest) : [0, 1];
  return {from, to, title};
}

function select(...conditions: Condition[]): void {
  change({selection: conditions.reduce((list, each) => replaced(list, each.column, each), state.peek().selection)});
}

/** A range of a column; of texts the one in its middle. */
function between(column: Column, {texts}: Data, [from, to]: [number, number]): Condition {
  if (texts) return {column: column.name, kind: 'same', text: texts[Math.round((from + to) / 2)] ?? ''};
  return {column: column.name, kind: 'between', from, to};
}

const clear = () => change({selection: []});

export function Legend({title, least, greatest}: {title: string; least: number; greatest: number}) {
  if (!(greatest >= least)) return null;
  return (
    <div class="heat-legend">
      <span>{title}</span>
      <span>{formatValue(least, 3)}</span>
      <i style={{background: gradient.value}} />
      <span>{formatValue(greatest, 3)}</span>
    </div>
  );
}

// ---- scatter ----

/** Rows by colour, so that a colour is seldom set; in several rounds, so that none hides all others. */
const ROUNDS = 12;

function byShade(z: Data | undefined, least: number, greatest: number, rows: number): number[][] {
  const lists: number[][] = Array.from({length: ROUNDS * (SHADES + 1)}, () => []);
  for (let row = 0; row < rows; row++) {
    const value = z ? z.values[row]! : NaN;
    const shade = Number.isNaN(value) ? SHADES : shadeOf(value, least, greatest);
    // Of neighbours, which are alike, each is of another round.
    lists[((row * 7919) % ROUNDS) * (SHADES + 1) + shade]!.push(row);
  }
  return lists;
}

export function Scatter({values, selected, x, y, z, onRun}: ChartProps) {
  const xs = values.columns.get(x.name)!;
  const ys = values.columns.get(y.name)!;
  const zs = z ? values.columns.get(z.name) : undefined;
  const [least, greatest] = useMemo(() => (zs ? extent(zs.values) : [0, 0]), [zs]);
  const lists = useMemo(() => byShade(zs, least, greatest, values.rows), [zs, values]);
  const marks = marked.value;
  const xAxis = useMemo(() => axisOf(x, xs), [x.name, xs]);
  const yAxis = useMemo(() => axisOf(y, ys), [y.name, ys]);
  const paint = useMemo(
    () => ({ctx, toX, toY}: Drawing) => {
      const size = Math.max(1, Math.round((values.rows > 20000 ? 2 : values.rows > 2000 ? 3 : 5) * devicePixelRatio));
      const put = (row: number) => ctx.fillRect(toX(xs.values[row]!) - size / 2, toY(ys.values[row]!) - size / 2, size, size);
      const plain = cssColor('--accent');
      if (selected) {
        ctx.globalAlpha = 0.5;
        ctx.fillStyle = cssColor('--line-strong');
        for (let row = 0; row < values.rows; row++) if (!selected[row]) put(row);
      }
      ctx.globalAlpha = values.rows > 20000 ? 0.6 : 0.85;
      lists.forEach((rows, i) => {
        const shade = i % (SHADES + 1);
        ctx.fillStyle = zs ? (shade === SHADES ? cssColor('--muted') : scale.value[shade]!) : plain;
        for (const row of rows) if (!selected || selected[row]) put(row);
      });
      ctx.globalAlpha = 1;
      ctx.strokeStyle = cssColor('--text');
      ctx.lineWidth = 2 * devicePixelRatio;
      for (const row of rowsOf(values, marks)) {
        ctx.beginPath();
        ctx.arc(toX(xs.values[row]!), toY(ys.values[row]!), 6 * devicePixelRatio, 0, 2 * Math.PI);
        ctx.stroke();
      }
    },
    [values, selected, lists, xs, ys, marks],
  );
  const events: PlaneEvents = {
    onSelect: (a, b) => select(between(x, xs, a), between(y, ys, b)),
    onClear: clear,
    onPick: (left, top, toX, toY) => {
      const row = nearest(xs.values, ys.values, toX, toY, left, top, REACH);
      if (row >= 0) onRun(values.numbers[row]!);
    },
  };
  return (
    <>
      <Canvas label={`Scatter of ${y.name} over ${x.name}: ${formatCount(values.rows)} runs`} x={xAxis} y={yAxis} both events={events} paint={paint} />
      {z && !zs?.texts && <Legend title={titleOf(z)} least={least} greatest={greatest} />}
    </>
  );
}

// ---- heat map ----

const labelled = (value: number) => formatValue(Number(value.toPrecision(3)), 3).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');

function cellAxis(column: Column, cells: Cells): PlaneAxis {
  return {from: cells.from, to: cells.from + Math.max(1, cells.count) * cells.width, title: titleOf(column), labels: cells.labels};
}

function cellCondition(column: Column, data: Data, cells: Cells, cell: number): Condition {
  const [from, to] = cells.range(cell);
  return between(column, data, [from, to]);
}

/** From the cell under one end of what was dragged over to that under the other. */
function cellsCondition(column: Column, data: Data, cells: Cells, [a, b]: [number, number]): Condition {
  const at = (value: number) => Math.min(cells.count - 1, Math.max(0, Math.floor((value - cells.from) / cells.width)));
  if (data.texts) return cellCondition(column, data, cells, at((a + b) / 2));
  return {column: column.name, kind: 'between', from: cells.range(at(a))[0], to: cells.range(at(b))[1]};
}

export function HeatMap({values, selected, x, y, z}: ChartProps) {
  const xs = values.columns.get(x.name)!;
  const ys = values.columns.get(y.name)!;
  const zs = values.columns.get(z!.name)!;
  const xCells = useMemo(() => cut(xs, labelled, 2), [xs]);
  const yCells = useMemo(() => cut(ys, labelled, 2), [ys]);
  const {mean, chosen} = useMemo(() => heat(xCells, yCells, {x: xs.values, y: ys.values, z: zs.values}, selected), [xCells, yCells, zs, selected]);
  const [least, greatest] = useMemo(() => extent(mean), [mean]);
  const xAxis = useMemo(() => cellAxis(x, xCells), [x.name, xCells]);
  const yAxis = useMemo(() => cellAxis(y, yCells), [y.name, yCells]);
  const paint = useMemo(
    () => ({ctx, toX, toY}: Drawing) => {
      const edgeX = (cell: number) => Math.round(toX(xCells.from + cell * xCells.width));
      const edgeY = (cell: number) => Math.round(toY(yCells.from + cell * yCells.width));
      for (let cell = 0; cell < mean.length; cell++) {
        if (Number.isNaN(mean[cell])) continue;
        const a = cell % xCells.count;
        const b = Math.floor(cell / xCells.count);
        ctx.globalAlpha = selected && !chosen[cell] ? 0.25 : 1;
        ctx.fillStyle = scale.value[shadeOf(mean[cell]!, least, greatest)]!;
        ctx.fillRect(edgeX(a), edgeY(b + 1), edgeX(a + 1) - edgeX(a), edgeY(b) - edgeY(b + 1));
      }
      ctx.globalAlpha = 1;
    },
    [mean, chosen, selected],
  );
  const events: PlaneEvents = {
    onSelect: (a, b) => select(cellsCondition(x, xs, xCells, a), cellsCondition(y, ys, yCells, b)),
    onClear: clear,
    onPick: (left, top, toX, toY) => {
      const find = (cells: Cells, at: number, to: (value: number) => number) => {
        for (let cell = 0; cell < cells.count; cell++) {
          const ends = [to(cells.from + cell * cells.width), to(cells.from + (cell + 1) * cells.width)];
          if (at >= Math.min(...ends) && at < Math.max(...ends)) return cell;
        }
        return -1;
      };
      const a = find(xCells, left, toX);
      const b = find(yCells, top, toY);
      if (a >= 0 && b >= 0) select(cellCondition(x, xs, xCells, a), cellCondition(y, ys, yCells, b));
    },
  };
  return (
    <>
      <Canvas label={`Heat map: mean of ${z!.name} over ${x.name} and ${y.name}`} x={xAxis} y={yAxis} both events={events} paint={paint} />
      <Legend title={`mean ${titleOf(z!)}`} least={least} greatest={greatest} />
    </>
  );
}

// ---- histogram ----

export function Histogram({values, selected, x}: ChartProps) {
  const xs = values.columns.get(x.name)!;
  const cells = useMemo(() => cut(xs, labelled, 1, x.role === 'metric'), [xs]);
  const {all, chosen} = useMemo(() => histogram(cells, xs.values, selected), [cells, selected]);
  const xAxis = useMemo(() => cellAxis(x, cells), [x.name, cells]);
  const yAxis = useMemo((): PlaneAxis => ({from: 0, to: Math.max(1, extent(all)[1]) * 1.06, title: 'runs'}), [all]);
  const paint = useMemo(
    () => ({ctx, toX, toY}: Drawing) => {
      const gap = devicePixelRatio;
      const bars = (counts: Float64Array) => {
        for (let cell = 0; cell < cells.count; cell++) {
          const left = toX(cells.from + cell * cells.width);
          const right = toX(cells.from + (cell + 1) * cells.width);
          ctx.fillRect(left + gap / 2, toY(counts[cell]!), Math.max(1, right - left - gap), toY(0) - toY(counts[cell]!));
        }
      };
      ctx.fillStyle = cssColor(selected ? '--line-strong' : '--accent');
      bars(all);
      ctx.fillStyle = cssColor('--accent');
      if (selected) bars(chosen);
    },
    [all, chosen, selected],
  );
  const events: PlaneEvents = {
    onSelect: (a) => select(cellsCondition(x, xs, cells, a)),
    onClear: clear,
    onPick: (left, _, toX) => {
      for (let cell = 0; cell < cells.count; cell++) {
        if (left >= toX(cells.from + cell * cells.width) && left < toX(cells.from + (cell + 1) * cells.width)) {
          select(cellCondition(x, xs, cells, cell));
          return;
        }
      }
    },
  };
  return <Canvas label={`Histogram of ${x.name}`} x={xAxis} y={yAxis} both={false} events={events} paint={paint} />;
}
