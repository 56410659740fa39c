// chart_cursors.ts: two lines over a chart that stay where they are put, by hand or with arrow keys.
import type uPlot from 'uplot';
import {formatValue} from '../format';

export type Pair = [number, number];

const NAMES = ['A', 'B'] as const;
/** Of the width of the chart. */
const KEY_STEP = 0.002;
const LARGE_STEP = 0.05;

export class ChartCursors {
  private readonly handles: HTMLElement[];
  private times: Pair | null = null;

  constructor(
    private readonly plot: uPlot,
    private readonly move: (which: 0 | 1, time: number) => void,
  ) {
    this.handles = NAMES.map((name, which) => this.handle(name, which as 0 | 1));
    plot.over.append(...this.handles);
  }

  private handle(name: string, which: 0 | 1): HTMLElement {
    const handle = document.createElement('div');
    handle.className = `chart-cursor cursor-${name.toLowerCase()}`;
    handle.tabIndex = 0;
    handle.hidden = true;
    handle.setAttribute('role', 'slider');
    handle.setAttribute('aria-label', `Cursor ${name}`);
    const label = document.createElement('span');
    label.textContent = name;
    handle.append(label);
    handle.addEventListener('mousedown', (event) => event.stopPropagation()); // the chart would begin to select
    handle.addEventListener('pointerdown', (event) => {
      handle.setPointerCapture(event.pointerId);
      handle.focus({preventScroll: true});
      event.preventDefault();
    });
    handle.addEventListener('pointermove', (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const {left, width} = this.plot.over.getBoundingClientRect();
      this.move(which, this.plot.posToVal(Math.min(width, Math.max(0, event.clientX - left)), 'x'));
    });
    handle.addEventListener('keydown', (event) => this.onKey(event, which));
    return handle;
  }

  private onKey(event: KeyboardEvent, which: 0 | 1): void {
    const direction = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -1, PageUp: 1}[event.key];
    if (!direction || !this.times) return;
    event.preventDefault();
    event.stopPropagation(); // arrows also move the time that is shown
    const {min, max} = this.plot.scales.x!;
    const step = event.shiftKey || event.key.startsWith('Page') ? LARGE_STEP : KEY_STEP;
    this.move(which, this.times[which] + direction * step * (max! - min!));
  }

  /** s; null: there are none. */
  place(times: Pair | null): void {
    this.times = times;
    const {min, max} = this.plot.scales.x!;
    this.handles.forEach((handle, i) => {
      const time = times?.[i];
      const seen = time !== undefined && time >= min! && time <= max!;
      handle.hidden = !seen;
      if (!seen) return;
      handle.style.transform = `translateX(${this.plot.valToPos(time, 'x')}px)`;
      handle.setAttribute('aria-valuemin', String(min));
      handle.setAttribute('aria-valuemax', String(max));
      handle.setAttribute('aria-valuenow', String(time));
      handle.setAttribute('aria-valuetext', `${formatValue(time, 6)} s`);
    });
  }
}
