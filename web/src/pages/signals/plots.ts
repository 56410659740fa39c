// plots.ts: which signals are plotted where, and the stretch of time that all plots show.
import {computed, effect, signal} from '@preact/signals';
import {shownUnit} from '../../format';
import {derived, derivedLive} from '../../live/derived';
import {isExpression} from '../../live/expression';
import {heldAt, moment, now, remembers, shownSignals, valueAt} from '../../live/moment';
import {forget, ring, want} from '../../live/samples';
import {displaySize, displayUnit} from '../../live/units';
import {stored} from '../../settings';
import type {Pair} from '../../ui/chart_cursors';
import {readPlots, withTrace} from './spec';
import type {PlotSpec, PlotTrace, Side} from './spec';

export const plots = stored<PlotSpec[]>('plots', []);
plots.value = readPlots(plots.peek().length ? plots.peek() : null);
/** The plot that a click in the tree adds to. */
export const active = signal(plots.peek()[0]?.id ?? 1);
/** s shown while following. */
export const span = stored('span', 20);
/** A stretch that was zoomed to or frozen; null: follow the newest sample. */
export const frozen = signal<{from: number; to: number} | null>(null);
/** s of the two cursors that stay, A and B; null: there are none. */
export const cursors = signal<Pair | null>(null);
/** Whether legends say least, greatest, mean and rms of what is seen. */
export const statisticsShown = stored('statistics', false);
/** s at which the cursor stands in any plot; null: it doesn't. */
export const cursor = signal<number | null>(null);

export const plotted = computed(() => [...new Set(plots.value.flatMap(({traces}) => traces.map(({name}) => name)))]);

/** The property of the style sheet that holds a trace's colour. */
export function colourOf(colour: number): string {
  return `--trace-${colour}`;
}

/** In SI; '' where it isn't known. */
export function siUnitOf(name: string): string {
  if (isExpression(name)) return derived(name)?.unit ?? '';
  return shownSignals.value.get(name)?.unit ?? '';
}

/** As people read it: in the unit they chose. */
export function unitOf(name: string): string {
  return shownUnit(displayUnit(siUnitOf(name)));
}

/** What a value in SI is divided by to be shown. */
export function sizeOf(name: string): number {
  return displaySize(siUnitOf(name));
}

export function addPlot(names: string[] = []): void {
  const id = 1 + Math.max(0, ...plots.value.map((plot) => plot.id));
  plots.value = [...plots.value, {id, traces: names.reduce<PlotTrace[]>((traces, name) => withTrace(traces, name), [])}];
  active.value = id;
}

export function changePlot(id: number, to: (plot: PlotSpec) => Partial<PlotSpec>): void {
  plots.value = plots.value.map((plot) => (plot.id === id ? {...plot, ...to(plot)} : plot));
}

export function removePlot(id: number): void {
  plots.value = plots.value.filter((plot) => plot.id !== id);
  if (active.value === id) active.value = plots.value[0]?.id ?? 0;
}

export function addTrace(id: number, name: string): void {
  if (!plots.value.some((plot) => plot.id === id)) {
    addPlot([name]);
    return;
  }
  changePlot(id, ({traces}) => ({traces: withTrace(traces, name)}));
}

export function removeTrace(id: number, name: string): void {
  changePlot(id, ({traces}) => ({traces: traces.filter((trace) => trace.name !== name)}));
}

export function changeTrace(id: number, name: string, to: Partial<PlotTrace>): void {
  changePlot(id, ({traces}) => ({traces: traces.map((trace) => (trace.name === name ? {...trace, ...to} : trace))}));
}

/** Of SI; null: the axis follows what is there. */
export function fixAxis(id: number, side: Side, range: [number, number] | null): void {
  changePlot(id, ({fixed = {}}) => {
    const {[side]: _, ...others} = fixed;
    return {fixed: range ? {...others, [side]: range} : others};
  });
}

/** Plotted nowhere: into the active plot; else out of all. */
export function toggleTrace(name: string): void {
  if (plotted.value.includes(name)) plots.value.forEach(({id}) => removeTrace(id, name));
  else addTrace(active.value, name);
}

/** s of the newest sample of any trace; the run's end where none has come. */
export function newest(): number {
  let time = 0;
  for (const name of plotted.peek()) {
    const kept = ring(name);
    if (kept?.length) time = Math.max(time, kept.time(kept.length - 1));
  }
  return time || now();
}

export function visible(): {from: number; to: number} {
  if (frozen.peek()) return frozen.peek()!;
  const time = moment.peek();
  // LIVE the newest is at the right edge; a moment that has passed stands in the middle, as far as the run reaches both ways.
  if (time === null) return {from: newest() - span.peek(), to: newest()};
  const end = Math.max(Math.min(time + span.peek() / 2, now()), Math.min(span.peek(), now()));
  return {from: Math.max(0, end - span.peek()), to: end};
}

export function freeze(): void {
  frozen.value = frozen.value ? null : visible();
}

/** Puts both into what is seen, which stays then; or takes them away. */
export function toggleCursors(): void {
  if (cursors.value) {
    cursors.value = null;
    return;
  }
  const {from, to} = (frozen.value ??= visible());
  const begin = Math.max(0, from); // a run has no earlier time
  cursors.value = [begin + (to - begin) / 3, to - (to - begin) / 3];
}

export function moveCursor(which: 0 | 1, time: number): void {
  const [a, b] = cursors.peek() ?? [time, time];
  cursors.value = which ? [a, time] : [time, b];
}

export function zoom(from: number, to: number): void {
  if (to - from > 1e-4) frozen.value = {from, to};
}

/** The value under the cursor, or at the moment that is shown: as exact as what is drawn. A formula that remembers has none but the one drawn. */
export function valueOf(name: string): number {
  const isPlotted = plotted.peek().includes(name);
  const time = cursor.value ?? (isPlotted && remembers(name) ? (moment.peek() ?? Infinity) : null);
  if (time === null || !isPlotted) return valueAt(name);
  const {from, to} = visible();
  return heldAt(name, Math.min(time, to), from, to);
}

// History is gathered as long as the browser has the page open, whichever page is shown.
let release: (() => void) | null = null;
let before: string[] = [];
effect(() => {
  // Of a formula also its signals: where it begins depends on what is drawn.
  const names = [...new Set(plotted.value.flatMap((name) => [name, ...(isExpression(name) ? (derivedLive(name)?.inputs ?? []) : [])]))];
  before.filter((name) => !names.includes(name)).forEach(forget);
  before = names;
  release?.();
  release = names.length ? want(names, true) : null;
});
