// parallel.tsx: parallel coordinates: an axis a column, a line a run. What is dragged over on an axis is selected.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {formatCount, formatValue} from '../../format';
import {cssColor, dark} from '../../theme';
import {useSize} from '../../ui/size';
import {titleOf} from './charts';
import {scale, shadeOf} from './colours';
import {replaced} from './conditions';
import type {Condition, Data} from './conditions';
import {extent} from './distribution';
import {change, marked, state} from './state';
import type {Column} from './types';
import {rowsOf} from './values';
import type {Values} from './values';

/** Lines beyond which they would only hide each other: then evenly chosen ones are drawn. */
const MOST_LINES = 4000;
const TOP = 48;
/** Baseline of the upper row of titles, and to that of the lower, px. */
const TITLE = 14;
const ROW = 14;
const BOTTOM = 24;
const SIDE = 64;
/** px between two axes. */
const NARROWEST = 96;
/** px that a brush may lie beside its axis. */
const REACH = 24;

interface Axis {
  column: Column;
  data: Data;
  least: number;
  greatest: number;
}

function axesOf(columns: Column[], values: Values): Axis[] {
  return columns.flatMap((column) => {
    const data = values.columns.get(column.name);
    if (!data) return [];
    const [least, greatest] = data.texts ? [0, Math.max(0, data.texts.length - 1)] : extent(data.values);
    return greatest >= least ? [{column, data, least, greatest}] : [];
  });
}

/** From 0, below, to 1. */
const share = ({least, greatest}: Axis, value: number) => (greatest > least ? (value - least) / (greatest - least) : 0.5);

function chosenRows(rows: number, selected: Uint8Array | null, wanted: 0 | 1): number[] {
  const found: number[] = [];
  for (let row = 0; row < rows; row++) if (!selected ? wanted : selected[row] === wanted) found.push(row);
  if (found.length <= MOST_LINES) return found;
  const step = found.length / MOST_LINES;
  return Array.from({length: MOST_LINES}, (_, i) => found[Math.floor(i * step)]!);
}

function conditionOf({column, data, least, greatest}: Axis, low: number, high: number): Condition {
  const value = (at: number) => least + at * (greatest - least);
  if (data.texts) return {column: column.name, kind: 'same', text: data.texts[Math.round(value((low + high) / 2))] ?? ''};
  return {column: column.name, kind: 'between', from: value(low), to: value(high)};
}

/** The stretch of an axis that the selection leaves, as shares. */
function brushOf(axis: Axis, selection: Condition[]): [number, number] | null {
  const found = selection.find(({column}) => column === axis.column.name);
  if (found?.kind === 'between') return [Math.max(0, share(axis, found.from)), Math.min(1, share(axis, found.to))];
  const place = found?.kind === 'same' ? axis.data.texts?.indexOf(found.text) ?? -1 : -1;
  return place >= 0 ? [share(axis, place), share(axis, place)] : null;
}

class Painter {
  constructor(
    private ctx: CanvasRenderingContext2D,
    private width: number,
    private height: number,
    private axes: Axis[],
  ) {}

  x(i: number): number {
    return this.axes.length > 1 ? SIDE + (i * (this.width - 2 * SIDE)) / (this.axes.length - 1) : this.width / 2;
  }

  y(axis: Axis, value: number): number {
    return this.height - BOTTOM - share(axis, value) * (this.height - TOP - BOTTOM);
  }

  /** Whether titles fit side by side in one row. */
  private apart(): boolean {
    return this.axes.length < 2 || this.x(1) - this.x(0) >= 2 * SIDE;
  }

  lines(rows: number[], colour: (row: number) => string, alpha: number): void {
    const {ctx, axes} = this;
    ctx.globalAlpha = alpha;
    for (const row of rows) {
      ctx.strokeStyle = colour(row);
      ctx.beginPath();
      let joined = false;
      axes.forEach((axis, i) => {
        const value = axis.data.values[row]!;
        if (Number.isNaN(value)) joined = false;
        else if (joined) ctx.lineTo(this.x(i), this.y(axis, value));
        else ctx.moveTo(this.x(i), this.y(axis, value)), (joined = true);
      });
      ctx.stroke();
    }
    ctx.globalAlpha = 1;
  }

  axis(axis: Axis, i: number, brush: [number, number] | null): void {
    const {ctx} = this;
    const x = this.x(i);
    const room = this.height - TOP - BOTTOM;
    ctx.strokeStyle = cssColor('--muted');
    ctx.beginPath();
    ctx.moveTo(x, TOP);
    ctx.lineTo(x, this.height - BOTTOM);
    ctx.stroke();
    if (brush) {
      const top = this.height - BOTTOM - brush[1] * room;
      ctx.fillStyle = cssColor('--accent');
      ctx.globalAlpha = 0.35;
      ctx.fillRect(x - 7, top - 1, 14, Math.max(3, (brush[1] - brush[0]) * room + 2));
      ctx.globalAlpha = 1;
    }
    ctx.textAlign = 'center';
    ctx.fillStyle = cssColor('--text');
    ctx.font = '600 11px "Inter", system-ui, sans-serif';
    ctx.fillText(cutText(ctx, titleOf(axis.column), 2 * SIDE - 12), x, this.apart() ? TITLE + ROW : TITLE + (i % 2) * ROW);
    ctx.fillStyle = cssColor('--muted');
    ctx.font = '11px "Inter", system-ui, sans-serif';
    const tell = (value: number) => axis.data.texts?.[value] ?? formatValue(value, 3);
    ctx.fillText(tell(axis.greatest), x, TOP - 4);
    ctx.fillText(tell(axis.least), x, this.height - 8);
  }
}

function cutText(ctx: CanvasRenderingContext2D, text: string, width: number): string {
  if (ctx.measureText(text).width <= width) return text;
  let length = text.length;
  while (length > 1 && ctx.measureText(`${text.slice(0, length)}…`).width > width) length--;
  return `${text.slice(0, length)}…`;
}

/** The axis under a point, and how high on it. */
function locate(canvas: HTMLCanvasElement, count: number, event: PointerEvent): {axis: number; at: number} | null {
  const box = canvas.getBoundingClientRect();
  const gap = count > 1 ? (box.width - 2 * SIDE) / (count - 1) : 1;
  const x = event.clientX - box.left;
  const axis = count > 1 ? Math.round((x - SIDE) / gap) : 0;
  const away = Math.abs(x - (count > 1 ? SIDE + axis * gap : box.width / 2));
  if (axis < 0 || axis >= count || away > REACH) return null;
  return {axis, at: Math.min(1, Math.max(0, (box.height - BOTTOM - (event.clientY - box.top)) / (box.height - TOP - BOTTOM)))};
}

export function Parallel({values, selected, columns, colour}: {values: Values; selected: Uint8Array | null; columns: Column[]; colour: Column | null}) {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(host);
  const [brush, setBrush] = useState<{axis: number; from: number; to: number} | null>(null);
  const axes = useMemo(() => axesOf(columns, values), [columns.map(({name}) => name).join('\n'), values]);
  const front = useMemo(() => chosenRows(values.rows, selected, 1), [values, selected]);
  const back = useMemo(() => (selected ? chosenRows(values.rows, selected, 0) : []), [values, selected]);
  const width = Math.max(size[0], 2 * SIDE + (axes.length - 1) * NARROWEST);
  useEffect(() => {
    const element = canvas.current!;
    const ctx = element.getContext('2d')!;
    element.width = width * devicePixelRatio;
    element.height = size[1] * devicePixelRatio;
    ctx.scale(devicePixelRatio, devicePixelRatio);
    const painter = new Painter(ctx, width, size[1], axes);
    const z = colour && !colour.text ? values.columns.get(colour.name)?.values : undefined;
    const [least, greatest] = z ? extent(z) : [0, 0];
    const grey = cssColor('--line-strong');
    const plain = cssColor('--accent');
    painter.lines(back, () => grey, 0.25);
    painter.lines(front, z ? (row) => (Number.isNaN(z[row]!) ? grey : scale.value[shadeOf(z[row]!, least, greatest)]!) : () => plain, front.length > 400 ? 0.25 : 0.7);
    ctx.lineWidth = 2.5;
    painter.lines(rowsOf(values, marked.value), () => cssColor('--text'), 1);
    ctx.lineWidth = 1;
    axes.forEach((axis, i) => {
      const dragged = brush?.axis === i ? ([Math.min(brush.from, brush.to), Math.max(brush.from, brush.to)] as [number, number]) : null;
      painter.axis(axis, i, dragged ?? brushOf(axis, state.value.selection));
    });
  }, [axes, front, back, size, width, brush, colour?.name, state.value.selection, marked.value, dark.value]);
  const finish = () => {
    if (!brush) return;
    const axis = axes[brush.axis];
    const [low, high] = [Math.min(brush.from, brush.to), Math.max(brush.from, brush.to)];
    setBrush(null);
    if (!axis) return;
    const condition = high - low < 0.01 && !axis.data.texts ? null : conditionOf(axis, low, high);
    change({selection: replaced(state.peek().selection, axis.column.name, condition)});
  };
  const shown = front.length + back.length;
  return (
    <>
      <div ref={host} class="parallel" tabIndex={0} role="group" aria-label="Parallel coordinates">
        <canvas
          ref={canvas}
          role="img"
          aria-label={`Parallel coordinates of ${axes.map(({column}) => column.name).join(', ')}: ${formatCount(values.rows)} runs`}
          style={{width: `${width}px`, height: `${size[1]}px`}}
          onPointerDown={(event) => {
            const found = locate(event.currentTarget, axes.length, event);
            if (!found) return;
            event.currentTarget.setPointerCapture(event.pointerId);
            setBrush({axis: found.axis, from: found.at, to: found.at});
          }}
          onPointerMove={(event) => {
            if (!brush) return;
            const box = event.currentTarget.getBoundingClientRect();
            const at = (box.height - BOTTOM - (event.clientY - box.top)) / (box.height - TOP - BOTTOM);
            setBrush({...brush, to: Math.min(1, Math.max(0, at))});
          }}
          onPointerUp={finish}
          onPointerCancel={() => setBrush(null)}
        />
      </div>
      <p class="hint chart-note">
        Drag along an axis to select; click on it to let go.
        {shown < values.rows && ` ${formatCount(shown)} of ${formatCount(values.rows)} lines are drawn.`}
      </p>
    </>
  );
}
