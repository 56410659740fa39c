// plane.ts: a plane with two axes, of numbers or of names, on which somebody else draws; uPlot keeps axes, scales and the selection by
// the mouse.
import uPlot from 'uplot';
import {formatTick} from '../format';
import {cssColor} from '../theme';

export interface PlaneAxis {
  from: number;
  to: number;
  title: string;
  labels?: string[] | null; // of 0, 1, 2, …
}

/** Where a value lies, in the pixels of what is drawn on. */
export interface Drawing {
  ctx: CanvasRenderingContext2D;
  toX: (value: number) => number;
  toY: (value: number) => number;
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface PlaneEvents {
  /** A click; in CSS pixels within the plane, with the functions that lead there. */
  onPick?: (left: number, top: number, toX: (value: number) => number, toY: (value: number) => number) => void;
  onSelect?: (x: [number, number], y: [number, number]) => void;
  onClear?: () => void;
}

const FONT = '11px "Inter", system-ui, sans-serif';
/** px that a label needs. */
const LABEL_WIDTH = 52;
const LABEL_HEIGHT = 18;

export class Plane {
  readonly plot: uPlot;
  private x: PlaneAxis = {from: 0, to: 1, title: ''};
  private y: PlaneAxis = {from: 0, to: 1, title: ''};
  private paint: (drawing: Drawing) => void = () => {};
  private dragged = false;

  /** `both`: a selection has a height, too. */
  constructor(host: HTMLElement, events: PlaneEvents, both: boolean) {
    const axis = (side: number, size: number, of: () => PlaneAxis, space: number): uPlot.Axis => ({
      side,
      size,
      space: space === LABEL_WIDTH ? 50 : 30,
      font: FONT,
      labelFont: FONT,
      labelSize: 18,
      label: ' ',
      stroke: () => cssColor('--muted'),
      grid: {stroke: () => cssColor('--line'), width: 1},
      ticks: {show: false},
      splits: (plot, _, least, greatest, step) => {
        const {labels} = of();
        if (!labels) return ticks(least, greatest, step);
        const room = (side === 2 ? plot.bbox.width : plot.bbox.height) / devicePixelRatio;
        const every = Math.max(1, Math.ceil((labels.length * space) / Math.max(1, room)));
        return labels.flatMap((_name, i) => (i % every ? [] : i));
      },
      values: (_, splits) => {
        const {labels} = of();
        return splits.map((value) => (labels ? short(labels[value] ?? '') : formatTick(value, splits.length > 1 ? splits[1]! - splits[0]! : 1)));
      },
    });
    this.plot = new uPlot(
      {
        width: host.clientWidth || 300,
        height: host.clientHeight || 200,
        legend: {show: false},
        scales: {x: {time: false, auto: false}, y: {auto: false}},
        series: [{}, {show: true, stroke: 'transparent', points: {show: false}, paths: () => null}],
        axes: [axis(2, 24, () => this.x, LABEL_WIDTH), axis(3, 56, () => this.y, LABEL_HEIGHT)],
        padding: [10, 14, 0, 0],
        cursor: {
          drag: {x: !!events.onSelect, y: both && !!events.onSelect, setScale: false},
          points: {show: false},
          bind: {dblclick: () => () => (events.onClear?.(), null)},
        },
        hooks: {
          draw: [() => this.draw()],
          setSelect: [
            (plot) => {
              const {left, top, width, height} = plot.select;
              this.dragged = width > 4;
              if (this.dragged && (!both || height > 4)) {
                events.onSelect?.(
                  [plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')],
                  [plot.posToVal(top + height, 'y'), plot.posToVal(top, 'y')],
                );
              }
              plot.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
            },
          ],
        },
      },
      [[0, 1], [null, null]],
      host,
    );
    this.plot.over.addEventListener('click', (event) => {
      if (!this.dragged) {
        events.onPick?.(event.offsetX, event.offsetY, (value) => this.plot.valToPos(value, 'x'), (value) => this.plot.valToPos(value, 'y'));
      }
      this.dragged = false;
    });
  }

  show(x: PlaneAxis, y: PlaneAxis, paint: (drawing: Drawing) => void): void {
    this.x = x;
    this.y = y;
    this.paint = paint;
    this.plot.axes[0]!.label = x.title;
    this.plot.axes[1]!.label = y.title;
    this.plot.batch(() => {
      this.plot.setScale('x', {min: x.from, max: x.to});
      this.plot.setScale('y', {min: y.from, max: y.to});
    });
    this.plot.redraw(false, true);
  }

  private draw(): void {
    const {ctx, bbox} = this.plot;
    const {left, top, width, height} = bbox;
    const sx = width / (this.x.to - this.x.from);
    const sy = height / (this.y.to - this.y.from);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    this.paint({
      ctx,
      left,
      top,
      width,
      height,
      toX: (value) => left + (value - this.x.from) * sx,
      toY: (value) => top + height - (value - this.y.from) * sy,
    });
    ctx.restore();
  }

  resize(width: number, height: number): void {
    if (width > 0 && height > 0 && (width !== this.plot.width || height !== this.plot.height)) this.plot.setSize({width, height});
  }

  dispose(): void {
    this.plot.destroy();
  }
}

function ticks(least: number, greatest: number, step: number): number[] {
  const from = Math.ceil(least / step - 1e-9);
  const count = Math.floor(greatest / step + 1e-9) - from + 1;
  return Array.from({length: Math.max(0, Math.min(200, count))}, (_, i) => (from + i) * step);
}

function short(text: string): string {
  return text.length > 9 ? `${text.slice(0, 8)}…` : text;
}
