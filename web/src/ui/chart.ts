// chart.ts: a uPlot that draws traces of their own times each: uPlot keeps axes, scales, cursor and selection; lines are ours,
// so that no common time axis has to be made of twenty traces sixty times a second.
import uPlot from 'uplot';
import type {Trace} from '../live/decimate';
import {formatTick, formatTimeTick} from '../format';
import {extent} from '../statistics';
import {cssColor} from '../theme';
import {ChartCursors} from './chart_cursors';
import type {Pair} from './chart_cursors';

export interface Line extends Trace {
  colour: string;
  dash?: number[];
  /** Which of the two axes it is read from; the left one unless said otherwise. */
  right?: boolean;
}

export interface AxisView {
  /** Stands above the axis: the unit. */
  title?: string;
  /** Fixed; null or left out: follows what is there. */
  range?: [number, number] | null;
}

/** A stretch of a band; `rest`: nothing is on, so it hardly stands out. */
export interface Segment {
  from: number;
  to: number;
  text: string;
  colour: string;
  rest: boolean;
}

export interface Band {
  title: string;
  colour: string;
  segments: Segment[];
}

export interface ChartView {
  left?: AxisView;
  right?: AxisView;
  /** Rows below the lines. */
  bands?: Band[];
  /** s at which the two cursors stand; null or left out: there are none. */
  cursors?: Pair | null;
}

export interface ChartEvents {
  onCursor?: (time: number | null) => void;
  onZoom?: (from: number, to: number) => void;
  onReset?: () => void;
  /** A cursor that stays was moved: 0 is A, 1 is B. */
  onMove?: (which: 0 | 1, time: number) => void;
}

/** In device pixels: without a graphics card a line of one is drawn ten times as fast as a wider one. */
const LINE_WIDTH = Math.max(1, Math.floor(devicePixelRatio));
const AXIS_FONT = '11px "Inter", system-ui, sans-serif';
const AXIS_WIDTH = 58;
const TITLE_HEIGHT = 20;
const BAND_HEIGHT = 18;
const BAND_GAP = 4;

type Scale = 'y' | 'right';

export class Chart {
  readonly plot: uPlot;
  private lines: Line[] = [];
  private view: ChartView = {};
  private readonly cursors: ChartCursors | null;
  private least: Record<Scale, number> = {y: 0, right: 0}; // of what the lines take up, without the bands
  /** Where a line stands over all: the moment that is shown; null: nowhere. */
  mark: number | null = null;

  /** `sync`: the cursor stands at the same time in all charts of this name. `nothing`: a trace that varies less is a constant. */
  constructor(host: HTMLElement, height: number, events: ChartEvents, sync?: string, private readonly nothing = 0) {
    this.plot = new uPlot(
      {
        width: host.clientWidth || 300,
        height,
        legend: {show: false},
        scales: {x: {time: false, auto: false}, y: {auto: false}, right: {auto: false}},
        series: [{}, {show: true, stroke: 'transparent', points: {show: false}, paths: () => null}, {scale: 'right', show: true, stroke: 'transparent', points: {show: false}, paths: () => null}],
        axes: [timeAxis(), this.side(3, 'y'), this.side(1, 'right')],
        padding: [() => (this.view.left?.title || this.view.right?.title ? TITLE_HEIGHT : 8), () => (this.has('right') ? 0 : 22), 0, 0],
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
      [[0, 1], [null, null], [null, null]],
      host,
    );
    this.cursors = events.onMove ? new ChartCursors(this.plot, events.onMove) : null;
    this.plot.over.addEventListener('wheel', (event) => this.wheel(event, events), {passive: false});
  }

  /** The left or the right axis. Below what the lines take up, where the bands are, it has nothing to say. */
  private side(side: 1 | 3, scale: Scale): uPlot.Axis {
    const above = (_: uPlot, splits: number[]) => splits.map((value) => (value >= this.least[scale] && (side === 3 || this.has(scale)) ? value : null));
    const made = axis(side, () => (side === 3 || this.has(scale) ? AXIS_WIDTH : 0));
    return {...made, scale, filter: above, grid: {...made.grid, show: side === 3, filter: above}};
  }

  private has(scale: Scale): boolean {
    return this.lines.some(({right}) => !!right === (scale === 'right'));
  }

  private wheel(event: WheelEvent, events: ChartEvents): void {
    if (!events.onZoom) return;
    event.preventDefault();
    const {min, max} = this.plot.scales.x!;
    const at = this.plot.posToVal(event.offsetX, 'x');
    const factor = Math.exp(0.0015 * event.deltaY);
    events.onZoom(at - (at - min!) * factor, at + (max! - at) * factor);
  }

  /** Shows lines over [from, to]; the height follows what is there, unless the view fixes it. */
  show(lines: Line[], from: number, to: number, view: ChartView = {}): void {
    this.lines = lines;
    this.view = view;
    const bands = (view.bands?.length ?? 0) * (BAND_HEIGHT + BAND_GAP);
    const height = Math.max(1, this.plot.bbox.height / devicePixelRatio);
    // What of the height is left for lines.
    const share = Math.max(0.1, 1 - bands / height);
    this.plot.batch(() => {
      this.plot.setScale('x', {min: from, max: to});
      for (const [scale, fixed] of [['y', view.left?.range], ['right', view.right?.range]] as const) {
        const [bottom, top] = fixed ?? this.range(scale);
        this.least[scale] = bands ? bottom : -Infinity;
        this.plot.setScale(scale, {min: top - (top - bottom) / share, max: top});
      }
    });
    this.plot.redraw(false, true);
    this.cursors?.place(view.cursors ?? null);
  }

  private range(scale: Scale): [number, number] {
    const found = extent(this.lines.filter(({right}) => !!right === (scale === 'right')).map(({values}) => values));
    return found ? range(...found, this.nothing) : [0, 1];
  }

  private draw(): void {
    const {ctx, bbox} = this.plot;
    const bands = this.view.bands ?? [];
    ctx.save();
    this.drawTitles();
    bands.forEach((band, row) => this.drawName(band, this.bandTop(bands.length - row)));
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const line of this.lines) this.drawLine(line);
    ctx.setLineDash([]);
    bands.forEach(({segments}, row) => this.drawBand(segments, this.bandTop(bands.length - row)));
    if (this.mark !== null) this.drawMark(this.mark);
    ctx.restore();
  }

  private drawMark(time: number): void {
    const {ctx, bbox, scales} = this.plot;
    const {min, max} = scales.x!;
    ctx.fillStyle = cssColor('--accent');
    ctx.fillRect(Math.round(bbox.left + ((time - min!) * bbox.width) / (max! - min!)), bbox.top, LINE_WIDTH, bbox.height);
  }

  private drawTitles(): void {
    const {ctx, bbox} = this.plot;
    ctx.font = AXIS_FONT.replace('11px', `${11 * devicePixelRatio}px`);
    ctx.fillStyle = cssColor('--muted');
    ctx.textBaseline = 'bottom';
    const y = bbox.top - 5 * devicePixelRatio;
    ctx.textAlign = 'left';
    if (this.view.left?.title) ctx.fillText(this.view.left.title, 10 * devicePixelRatio, y);
    ctx.textAlign = 'right';
    if (this.view.right?.title && this.has('right')) ctx.fillText(this.view.right.title, ctx.canvas.width - 10 * devicePixelRatio, y);
  }

  private drawLine({times, values, colour, dash, right}: Line): void {
    const {ctx, bbox, scales} = this.plot;
    const {min, max} = scales.x!;
    const {min: bottom, max: top} = scales[right ? 'right' : 'y']!;
    const sx = bbox.width / (max! - min!);
    const sy = bbox.height / (top! - bottom!);
    ctx.lineWidth = LINE_WIDTH;
    ctx.lineJoin = 'round';
    ctx.strokeStyle = colour;
    ctx.setLineDash((dash ?? []).map((length) => length * devicePixelRatio));
    ctx.beginPath();
    let broken = true;
    for (let i = 0; i < times.length; i++) {
      const value = values[i]!;
      if (!Number.isFinite(value)) {
        broken = true; // it is nowhere: the line has a gap
        continue;
      }
      const x = bbox.left + (times[i]! - min!) * sx;
      const y = bbox.top + bbox.height - (value - bottom!) * sy;
      if (broken) ctx.moveTo(x, y);
      else ctx.lineTo(x, y);
      broken = false;
    }
    ctx.stroke();
  }

  /** `row` counts from the bottom, 1 being the lowest. */
  private bandTop(row: number): number {
    return this.plot.bbox.top + this.plot.bbox.height - row * (BAND_HEIGHT + BAND_GAP) * devicePixelRatio;
  }

  /** In the room of the left axis. */
  private drawName({title, colour}: Band, top: number): void {
    const {ctx, bbox} = this.plot;
    const room = bbox.left - 10 * devicePixelRatio;
    let text = title;
    while (text.length > 2 && ctx.measureText(text).width > room) text = `…${text.slice(2)}`; // its end tells more
    ctx.textAlign = 'right';
    ctx.textBaseline = 'middle';
    ctx.fillStyle = colour;
    ctx.fillText(text, bbox.left - 6 * devicePixelRatio, top + (BAND_HEIGHT * devicePixelRatio) / 2);
  }

  private drawBand(segments: Segment[], top: number): void {
    const {ctx, bbox, scales} = this.plot;
    const {min, max} = scales.x!;
    const sx = bbox.width / (max! - min!);
    const height = BAND_HEIGHT * devicePixelRatio;
    const gap = devicePixelRatio; // so that neighbours of one colour are told apart
    ctx.textAlign = 'left';
    ctx.textBaseline = 'middle';
    for (const {from, to, text, colour, rest} of segments) {
      const left = Math.max(bbox.left, bbox.left + (from - min!) * sx);
      const width = Math.min(bbox.left + bbox.width, bbox.left + (to - min!) * sx) - left - gap;
      if (width <= -gap) continue;
      ctx.fillStyle = colour;
      ctx.globalAlpha = rest ? 0.12 : 0.45;
      ctx.fillRect(left, top, Math.max(width, gap), height);
      ctx.globalAlpha = 1;
      if (ctx.measureText(text).width + 8 * devicePixelRatio > width) continue;
      ctx.fillStyle = cssColor('--text');
      ctx.fillText(text, left + 4 * devicePixelRatio, top + height / 2);
    }
  }

  /** Least and greatest of an axis, as the lines have it. */
  axis(side: 'left' | 'right'): [number, number] {
    const scale = side === 'left' ? 'y' : 'right';
    const {min, max} = this.plot.scales[scale]!;
    return [Math.max(this.least[scale], min ?? 0), max ?? 1];
  }

  resize(width: number, height: number): void {
    if (width > 0 && (width !== this.plot.width || height !== this.plot.height)) this.plot.setSize({width, height});
  }

  dispose(): void {
    this.plot.destroy();
  }
}

function axis(side: number, size: () => number): uPlot.Axis {
  return {
    side,
    size,
    font: AXIS_FONT,
    stroke: () => cssColor('--muted'),
    grid: {stroke: () => cssColor('--line'), width: 1},
    ticks: {show: false},
    values: (_, splits) => {
      const known = splits.filter((value) => value !== null);
      const step = known.length > 1 ? known[1]! - known[0]! : 1;
      return splits.map((value) => (value === null ? '' : formatTick(value, step)));
    },
  };
}

/** Distances between ticks of run time, s: decimals, then what clocks have. */
const TIME_STEPS = [...[-9, -8, -7, -6, -5, -4, -3, -2, -1].flatMap((power) => [1, 2, 5].map((digit) => Number(`${digit}e${power}`))), 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 36000, 86400];

function timeAxis(): uPlot.Axis {
  return {
    ...axis(2, () => 26),
    space: 60,
    incrs: TIME_STEPS,
    values: (plot, splits, _, __, step) => {
      const {min, max} = plot.scales.x!;
      return splits.map((value) => formatTimeTick(value, step, Math.max(Math.abs(min ?? 0), Math.abs(max ?? 0))));
    },
  };
}

/** A little air above and below; a constant, rounding errors apart, gets a range around it. */
export function range(least: number, greatest: number, nothing = 0): [number, number] {
  const constant = greatest - least <= Math.max(nothing, 1e-9 * Math.max(Math.abs(least), Math.abs(greatest)));
  const air = !constant ? 0.08 * (greatest - least) : Math.max(Math.abs(greatest) * 0.1, 0.5);
  return [least - air, greatest + air];
}
