// plots.ts: which signals are plotted where, and the stretch of time that all plots show.
import {computed, effect, signal} from '@preact/signals';
import {forget, lastValue, ring, want} from '../../live/samples';
import {model, signalIds} from '../../live/store';
import {stored} from '../../settings';
import {shownUnit} from './tree';

export interface PlotSpec {
  id: number;
  names: string[];
}

export const MAX_TRACES = 20;
export const plots = stored<PlotSpec[]>('plots', [{id: 1, names: []}]);
/** The plot that a click in the tree adds to. */
export const active = signal(plots.peek()[0]?.id ?? 1);
/** s shown while following. */
export const span = stored('span', 20);
/** A stretch that was zoomed to or frozen; null: follow the newest sample. */
export const frozen = signal<{from: number; to: number} | null>(null);
/** s at which the cursor stands in any plot; null: it doesn't. */
export const cursor = signal<number | null>(null);

export const plotted = computed(() => [...new Set(plots.value.flatMap(({names}) => names))]);

/** The colour of a trace is that of its place in its plot. */
export function colourOf(index: number): string {
  return `--trace-${(index % 10) + 1}`;
}

export function unitOf(name: string): string {
  return shownUnit(model.value?.signals[signalIds.value.get(name) ?? -1]?.unit ?? '');
}

export function addPlot(names: string[] = []): void {
  const id = 1 + Math.max(0, ...plots.value.map((plot) => plot.id));
  plots.value = [...plots.value, {id, names}];
  active.value = id;
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
  plots.value = plots.value.map((plot) =>
    plot.id === id && !plot.names.includes(name) && plot.names.length < MAX_TRACES ? {...plot, names: [...plot.names, name]} : plot,
  );
}

export function removeTrace(id: number, name: string): void {
  plots.value = plots.value.map((plot) => (plot.id === id ? {...plot, names: plot.names.filter((kept) => kept !== name)} : plot));
}

/** Plotted nowhere: into the active plot; else out of all. */
export function toggleTrace(name: string): void {
  if (plotted.value.includes(name)) plots.value.forEach(({id}) => removeTrace(id, name));
  else addTrace(active.value, name);
}

/** s of the newest sample of any trace; 0 when there is none. */
export function newest(): number {
  let time = 0;
  for (const name of plotted.peek()) {
    const kept = ring(name);
    if (kept?.length) time = Math.max(time, kept.time(kept.length - 1));
  }
  return time;
}

export function visible(): {from: number; to: number} {
  const end = newest();
  return frozen.peek() ?? {from: end - span.peek(), to: end};
}

export function freeze(): void {
  frozen.value = frozen.value ? null : visible();
}

export function zoom(from: number, to: number): void {
  if (to - from > 1e-4) frozen.value = {from, to};
}

/** The raw value under the cursor, or the last. */
export function valueOf(name: string): number {
  return cursor.value === null ? lastValue(name) : (ring(name)?.at(cursor.value) ?? NaN);
}

// History is gathered as long as the browser has the page open, whichever page is shown.
let release: (() => void) | null = null;
let before: string[] = [];
effect(() => {
  const names = plotted.value;
  before.filter((name) => !names.includes(name)).forEach(forget);
  before = names;
  release?.();
  release = names.length ? want(names, true) : null;
});
