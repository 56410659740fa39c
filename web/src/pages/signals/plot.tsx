// plot.tsx: one plot: its legend with values, and its traces drawn as they come.
import {effect, untracked} from '@preact/signals';
import {useEffect, useRef} from 'preact/hooks';
import {titleOf} from '../../live/expression';
import {chosenUnits} from '../../live/units';
import {isLive, moment, pastArrived, pastIsWhole} from '../../live/moment';
import {NOTHING} from '../../format';
import {dark} from '../../theme';
import {Chart} from '../../ui/chart';
import type {ChartView} from '../../ui/chart';
import {Button} from '../../ui/controls';
import {draw, want} from './drawing';
import {Legend} from './legend';
import {PlanePlot} from './plane_plot';
import {PlotMenu} from './plot_menu';
import {active, addTrace, cursor, cursors, frozen, moveCursor, plots, removePlot, span, visible, zoom} from './plots';
import type {PlotSpec, Side} from './spec';

const SMOOTH_MS = 33;
/** A moment elsewhere is drawn once it is here, and not what is known of it before as well, unless that takes longer, ms. */
const LATE_MS = 60;

/** Plots so near to the screen are drawn; others when somebody scrolls to them. */
const NEAR = '100px';
/** Has a plot drawn at once, wherever it is: for pictures. */
export const PAINT_NOW = 'paint-now';

const equal = (a: readonly unknown[], b: readonly unknown[]) => a.length === b.length && a.every((each, i) => each === b[i]);

/** ms between drawings: a window of an hour moves by a pixel every few seconds. */
function pause(width: number): number {
  const {from, to} = visible();
  return Math.max(SMOOTH_MS, frozen.peek() || !isLive.peek() ? 250 : ((to - from) / Math.max(1, width)) * 500);
}

/** The axes stand in a picture; here, too, for who can't read it. */
function tellAxes(element: HTMLElement, chart: Chart, view: ChartView): void {
  for (const side of ['left', 'right'] as const) {
    const text = [...chart.axis(side).map((limit) => limit.toPrecision(4)), view[side]?.title].join(' ');
    if (element.dataset[side] !== text) element.dataset[side] = text;
  }
  const bands = (view.bands ?? []).map(({title}) => title).join();
  if (element.dataset.bands !== bands) element.dataset.bands = bands;
}

function useChart(spec: PlotSpec, host: {current: HTMLDivElement | null}, chart: {current: Chart | null}): void {
  const shownSpec = useRef(spec);
  shownSpec.current = spec;
  useEffect(() => {
    const element = host.current!;
    const made = new Chart(
      element,
      element.clientHeight,
      {onCursor: (time) => (cursor.value = time), onZoom: zoom, onReset: () => (frozen.value = null), onMove: moveCursor},
      'signals',
      NOTHING,
    );
    chart.current = made;
    let request = 0;
    let drawn = 0;
    let waiting = 0; // since then, ms; 0: it does not
    let onScreen = true;
    let width = element.clientWidth; // px, when it was painted last
    let before: unknown[] = [];
    let asked: unknown[] = [];
    const tell = () => element.dispatchEvent(new CustomEvent('plotted', {bubbles: true, detail: {...visible(), moment: moment.peek(), whole: pastIsWhole()}})); // for who measures
    const paint = () => {
      width = element.clientWidth;
      const {from, to} = visible();
      made.mark = moment.peek();
      made.resize(width, element.clientHeight);
      const {lines, view} = draw(shownSpec.current, from, to, width);
      made.show(lines, from, Math.max(to, from + 1e-6), {...view, cursors: cursors.peek()});
      tellAxes(element, made, view);
      tell();
    };
    const frame = (now: number) => {
      request = requestAnimationFrame(frame);
      const shown = [frozen.peek(), span.peek(), cursors.peek(), moment.peek(), pastArrived.peek(), shownSpec.current, chosenUnits.peek(), onScreen && element.clientHeight];
      const same = equal(shown, before);
      if (now - drawn < (same ? pause(width) : SMOOTH_MS)) return;
      if (!same && !equal(shown, asked)) {
        const {from, to} = visible();
        want(shownSpec.current, from, to, width);
        asked = shown;
        if (!onScreen && pastIsWhole()) tell(); // it is there for whoever scrolls to it
      }
      if (!onScreen) return;
      if (!same) waiting ||= now;
      if (!same && !pastIsWhole() && now - waiting < LATE_MS) return;
      waiting = 0;
      drawn = now;
      before = shown;
      paint();
    };
    // What another moment lacks is asked for at once, so that it is here when the next frame is drawn.
    const ahead = effect(() => {
      const [here] = [moment.value, frozen.value, span.value];
      if (here !== null) untracked(() => want(shownSpec.current, visible().from, visible().to, width));
    });
    const observer = new IntersectionObserver(([entry]) => (onScreen = entry!.isIntersecting), {rootMargin: NEAR});
    observer.observe(element);
    element.addEventListener(PAINT_NOW, paint);
    request = requestAnimationFrame(frame);
    return () => {
      cancelAnimationFrame(request);
      observer.disconnect();
      ahead();
      element.removeEventListener(PAINT_NOW, paint);
      made.dispose();
      chart.current = null;
    };
  }, [dark.value]);
}

function TimePlot({spec, chart}: {spec: PlotSpec; chart: {current: Chart | null}}) {
  const host = useRef<HTMLDivElement>(null);
  useChart(spec, host, chart);
  const titles = spec.traces.map(({name}) => titleOf(name));
  // A picture has nothing to take hold of; with cursors it is more than one.
  return <div ref={host} class="plot-canvas" role={cursors.value ? 'group' : 'img'} aria-label={titles.length ? `Plot of ${titles.join(', ')}` : 'Empty plot'} />;
}

export function Plot({spec, number}: {spec: PlotSpec; number: number}) {
  const chart = useRef<Chart | null>(null);
  const {kind} = spec;
  const shown = (side: Side) => chart.current?.axis(side) ?? ([0, 1] as [number, number]);
  return (
    <section
      class={`plot${active.value === spec.id ? ' active' : ''}`}
      aria-label={`Plot ${number}`}
      onPointerDown={() => (active.value = spec.id)}
      onFocusCapture={() => (active.value = spec.id)}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        const name = event.dataTransfer?.getData('text/plain');
        if (name) addTrace(spec.id, name);
      }}
    >
      <header>
        <Legend spec={spec} />
        {!spec.traces.length && <span class="muted legend-empty">Drop signals here, click them in the tree, or plot a formula</span>}
        {spec.traces.length > 0 && <PlotMenu spec={spec} number={number} shown={shown} />}
        {plots.value.length > 1 && <Button icon="close" label={`Remove plot ${number}`} onClick={() => removePlot(spec.id)} />}
      </header>
      {kind ? <PlanePlot spec={{...spec, kind}} /> : <TimePlot spec={spec} chart={chart} />}
    </section>
  );
}
