// chart.ts: a uPlot that draws traces of their own times each: uPlot keeps axes, scales, cursor and selection; lines are ours,
// so that no common time axis has to be made of twenty traces sixty times a second.
import uPlot from 'uplot';
import type {Trace} from '../live/decimate';
import {formatTick} from '../format';
import {cssColor} from '../theme';

export interface Line extends Trace {
  colour: string;
  dash?: number[];
}

export interface ChartEvents {
  onCursor?: (time: number | null) => void;
  onZoom?: (from: number, to: number) => void;
  onReset?: () => void;
}

/** In device pixels: without a graphics card a line of one is drawn ten times as fast as a wider one. */
const LINE_WIDTH = Math.max(1, Math.floor(devicePixelRatio));
const AXIS_FONT = '11px "Inter", system-ui, sans-serif';

export class Chart {
  readonly plot: uPlot;
  private lines: Line[] = [];

  constructor(host: HTMLElement, height: number, events: ChartEvents, sync?: string) {
    const axis = (side: number, size: number): uPlot.Axis => ({
      side,
      size,
      font: AXIS_FONT,
      stroke: () => cssColor('--muted'),
      grid: {stroke: () => cssColor('--line'), width: 1},
      ticks: {show: false},
      values: (_, splits) => splits.map((value) => formatTick(value, splits.length > 1 ? splits[1]! - splits[0]! : 1)),
    });
    this.plot = new uPlot(
      {
        width: host.clientWidth || 300,
        height,
        legend: {show: false},
        scales: {x: {time: false, auto: false}, y: {auto: false}},
        series: [{}, {show: true, stroke: 'transparent', points: {show: false}, paths: () => null}],
        axes: [axis(2, 26), axis(3, 58)],
        padding: [8, 12, 0, 0],
        cursor: {
          sync: sync ? {key: sync, setSeries: false} : undefined,
          drag: {x: true, y: false, setScale: false},
          points: {show: false},
          y: false,
          bind: {dblclick: () => () => (events.onReset?.(), null)},
        },
        hooks: {
          draw: [() => this.draw()],
          setCursor: [(plot) => events.onCursor?.(plot.cursor.left! >= 0 ? plot.posToVal(plot.cursor.left!, 'x') : null)],
          setSelect: [
            (plot) => {
              const {left, width} = plot.select;
              if (width > 4) events.onZoom?.(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'));
              plot.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
            },
          ],
        },
      },
      [[0, 1], [null, null]],
      host,
    );
    this.plot.over.addEventListener('wheel', (event) => this.wheel(event, events), {passive: false});
  }

  private wheel(event: WheelEvent, events: ChartEvents): void {
    if (!events.onZoom) return;
    event.preventDefault();
    const {min, max} = this.plot.scales.x!;
    const at = this.plot.posToVal(event.offsetX, 'x');
    const factor = Math.exp(0.0015 * event.deltaY);
    events.onZoom(at - (at - min!) * factor, at + (max! - at) * factor);
  }

  /** Shows lines over [from, to]; the height follows what is there. */
  show(lines: Line[], from: number, to: number): void {
    this.lines = lines;
    let least = Infinity;
    let greatest = -Infinity;
    for (const {values} of lines) {
      for (const value of values) {
        if (value < least) least = value;
        if (value > greatest) greatest = value;
      }
    }
    const [bottom, top] = least <= greatest ? range(least, greatest) : [0, 1];
    this.plot.batch(() => {
      this.plot.setScale('x', {min: from, max: to});
      this.plot.setScale('y', {min: bottom, max: top});
    });
    this.plot.redraw(false, true);
  }

  private draw(): void {
    const {ctx, bbox} = this.plot;
    const {min, max} = this.plot.scales.x!;
    const bottom = this.plot.scales.y!.min!;
    const height = this.plot.scales.y!.max! - bottom;
    const sx = bbox.width / (max! - min!);
    const sy = bbox.height / height;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = LINE_WIDTH;
    ctx.lineJoin = 'round';
    for (const {times, values, colour, dash} of this.lines) {
      ctx.strokeStyle = colour;
      ctx.setLineDash((dash ?? []).map((length) => length * devicePixelRatio));
      ctx.beginPath();
      for (let i = 0; i < times.length; i++) {
        ctx.lineTo(bbox.left + (times[i]! - min!) * sx, bbox.top + bbox.height - (values[i]! - bottom) * sy);
      }
      ctx.stroke();
    }
    ctx.restore();
  }

  resize(width: number, height: number): void {
    if (width > 0 && (width !== this.plot.width || height !== this.plot.height)) this.plot.setSize({width, height});
  }

  dispose(): void {
    this.plot.destroy();
  }
}

/** A little air above and below; a constant, rounding errors apart, gets a range around it. */
export function range(least: number, greatest: number): [number, number] {
  const constant = greatest - least <= 1e-9 * Math.max(Math.abs(least), Math.abs(greatest));
  const air = !constant ? 0.08 * (greatest - least) : Math.max(Math.abs(greatest) * 0.1, 0.5);
  return [least - air, greatest + air];
}
