// kept.ts: where plots are kept: in the address, in this browser, on the server by name, and as a file. All of them have the same in
// them, see docs/web.md.
import {batch, effect} from '@preact/signals';
import {anything, listOf, object, text} from '../../check';
import {request} from '../../http';
import {chosenUnits, readUnits} from '../../live/units';
import {param, params, setParams} from '../../route';
import {save} from '../../ui/download';
import {active, frozen, plots} from './plots';
import {plotsOfTexts, textOfPlot, textOfUnits, unitsOfText} from './plots_address';
import {readPlots} from './spec';
import type {PlotSpec} from './spec';

/* ---- the address ---- */

const inAddress = params('plot', 'signals');
const unitsInAddress = param('units', 'signals');
const from = param('from');
const to = param('to');

function showPlots(specs: PlotSpec[]): void {
  plots.value = specs;
  active.value = specs[0]?.id ?? 0;
}

const same = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every((each, i) => each === b[i]);

/** As the address has them: without those in which nothing is plotted yet. */
const textsOf = (specs: readonly PlotSpec[]) => specs.filter(({traces}) => traces.length).map(textOfPlot);

// Somebody opened an address, or went back; one without plots leaves them as they are.
effect(() => {
  const texts = inAddress.value;
  if (texts.length && !same(texts, textsOf(plots.peek()))) showPlots(plotsOfTexts(texts));
});
effect(() => {
  const units = unitsInAddress.value;
  if (units !== null && units !== textOfUnits(chosenUnits.peek())) chosenUnits.value = readUnits(unitsOfText(units));
});
effect(() => {
  const texts = textsOf(plots.value);
  if (!same(texts, inAddress.value)) setParams({plot: texts}, 'signals');
});
effect(() => {
  const units = textOfUnits(chosenUnits.value);
  if (units !== unitsInAddress.value) setParams({units}, 'signals');
});

/** ms of a second are as exact as anybody zooms. */
const written = (time: number) => String(Number(time.toFixed(4)));

// The stretch of time that was zoomed to, likewise.
effect(() => {
  const [begin, end] = [Number(from.value ?? NaN), Number(to.value ?? NaN)];
  const now = frozen.peek();
  if (from.value === null && to.value === null) {
    if (now) frozen.value = null;
  } else if (end > begin && !(now && written(now.from) === from.value && written(now.to) === to.value)) frozen.value = {from: begin, to: end};
});
effect(() => {
  const stretch = frozen.value;
  const values = stretch ? {from: written(stretch.from), to: written(stretch.to)} : {from: null, to: null};
  if (values.from !== from.peek() || values.to !== to.peek()) setParams(values);
});

/* ---- by name on the server, and as a file ---- */

export interface Layout {
  plots: unknown;
  units?: unknown;
}

const layoutCheck = object({plots: anything, units: anything});
export const listCheck = listOf(object({name: text, changed: text}));
const storedCheck = object({name: text, layout: layoutCheck});

export function layoutNow(): Layout {
  return {plots: plots.value.map(({id: _, ...spec}) => spec), units: chosenUnits.value};
}

function show({plots: given, units}: Layout): void {
  batch(() => {
    showPlots(readPlots(given));
    chosenUnits.value = readUnits(units);
  });
}

const address = (name: string) => `api/layouts/${encodeURIComponent(name)}`;

export async function openLayout(name: string): Promise<void> {
  show((await request('GET', address(name), undefined, storedCheck)).layout as Layout);
}

export async function storeLayout(name: string): Promise<void> {
  await request('PUT', address(name), layoutNow());
}

export async function removeLayout(name: string): Promise<void> {
  await request('DELETE', address(name));
}

export function saveAsFile(name: string): void {
  save(`${name || 'plots'}.json`, new Blob([`${JSON.stringify(layoutNow(), null, 2)}\n`], {type: 'application/json'}));
}

/** Throws an error for people where the file is no layout. */
export async function openFile(file: File): Promise<void> {
  let found: unknown;
  try {
    found = JSON.parse(await file.text());
  } catch {
    throw new Error(`${file.name} is no layout of plots: it is no JSON.`);
  }
  if (typeof found !== 'object' || found === null || !Array.isArray((found as Layout).plots)) throw new Error(`${file.name} is no layout of plots: it has no list of plots.`);
  show(found as Layout);
}
