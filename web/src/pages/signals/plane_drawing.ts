// plane_drawing.ts: X-Y, histogram and spectrum of what is seen, as a plane draws them.
import {titleOf} from '../../live/expression';
import {traceOf} from '../../live/moment';
import {displaySize, displayUnit} from '../../live/units';
import {formatSignal, shownUnit} from '../../format';
import {extent} from '../../statistics';
import {cssColor} from '../../theme';
import {range} from '../../ui/chart';
import type {Drawing, PlaneAxis} from '../../ui/plane';
import {equalScales, histogram, pairs} from './planes';
import {colourOf, siUnitOf} from './plots';
import type {PlotSpec, PlotTrace} from './spec';
import type * as spectrumModule from './spectrum';

export interface PlaneView {
  x: PlaneAxis;
  y: PlaneAxis;
  paint: (drawing: Drawing) => void;
  /** What is worth to be said in words. */
  notes: string[];
}

/** More samples are taken by the least and the greatest of each stretch. */
const BUCKETS = 4000;
const BINS = 48;
/** Below the greatest, dB: the rest is noise. */
const DEPTH = 120;

interface Shown {
  trace: PlotTrace;
  colour: string;
  times: number[];
  values: number[]; // in the unit that people chose
}

function shownOf(spec: PlotSpec, from: number, to: number): Shown[] {
  return spec.traces.map((trace) => {
    const size = displaySize(siUnitOf(trace.name));
    const {times, values} = traceOf(trace.name, from, to, BUCKETS);
    return {trace, colour: cssColor(colourOf(trace.colour)), times, values: values.map((value) => value / size)};
  });
}

const unit = (name: string) => shownUnit(displayUnit(siUnitOf(name)));
const withUnit = (name: string) => (unit(name) ? `${titleOf(name)} [${unit(name)}]` : titleOf(name));
const unitsOf = (names: string[]) => [...new Set(names.map(unit))].filter(Boolean).join(' · ');
const LINE = () => Math.max(1, Math.floor(devicePixelRatio));
const DOT = 4; // CSS px

function line({ctx, toX, toY}: Drawing, colour: string, x: readonly number[], y: readonly number[]): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = LINE();
  ctx.beginPath();
  for (let i = 0; i < x.length; i++) ctx.lineTo(toX(x[i]!), toY(y[i]!));
  ctx.stroke();
}

function dot({ctx, toX, toY}: Drawing, colour: string, x: number, y: number): void {
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.arc(toX(x), toY(y), DOT * devicePixelRatio, 0, 2 * Math.PI);
  ctx.fill();
}

/** The first trace lies below, the others stand against it; a dot where they are now. */
function drawPairs(shown: Shown[], width: number, height: number): PlaneView {
  const [below, ...others] = shown;
  const lines = below ? others.map((each) => ({...pairs(below, each), colour: each.colour})) : [];
  let x = range(...(extent(lines.map((each) => each.x)) ?? [0, 1]));
  let y = range(...(extent(lines.map((each) => each.y)) ?? [0, 1]));
  const same = below && others.every(({trace}) => siUnitOf(trace.name) === siUnitOf(below.trace.name)) && unit(below.trace.name);
  if (same) ({x, y} = equalScales(x, y, width, height));
  return {
    x: {from: x[0], to: x[1], title: below ? withUnit(below.trace.name) : ''},
    y: {from: y[0], to: y[1], title: others.length === 1 ? withUnit(others[0]!.trace.name) : unitsOf(others.map(({trace}) => trace.name))},
    paint: (drawing) => {
      for (const each of lines) {
        line(drawing, each.colour, each.x, each.y);
        if (each.x.length) dot(drawing, each.colour, each.x[each.x.length - 1]!, each.y[each.y.length - 1]!);
      }
    },
    notes: others.length ? [] : ['Add another signal: it is drawn against the first.'],
  };
}

function drawHistogram(shown: Shown[], from: number, to: number): PlaneView {
  const [low, high] = range(...(extent(shown.map(({values}) => values)) ?? [0, 1]));
  const all = shown.map((each) => ({colour: each.colour, shares: histogram(each, from, to, [low, high], BINS)}));
  const most = Math.max(...all.flatMap(({shares}) => shares), 0.01);
  const step = (high - low) / BINS;
  return {
    x: {from: low, to: high, title: shown.length === 1 ? withUnit(shown[0]!.trace.name) : unitsOf(shown.map(({trace}) => trace.name))},
    y: {from: 0, to: 108 * most, title: '% of the time'},
    paint: ({ctx, toX, toY}) => {
      for (const {colour, shares} of all) {
        ctx.fillStyle = colour;
        ctx.globalAlpha = 0.55;
        shares.forEach((share, i) => {
          const left = toX(low + i * step);
          const top = toY(100 * share);
          if (share > 0) ctx.fillRect(left, top, toX(low + (i + 1) * step) - left - 1, toY(0) - top);
        });
        ctx.globalAlpha = 1;
      }
    },
    notes: [],
  };
}

const decibels = (amplitude: number) => 20 * Math.log10(Math.max(amplitude, 1e-30));

function drawSpectrum(shown: Shown[], from: number, to: number, spec: PlotSpec, {spectrumOf}: typeof spectrumModule): PlaneView {
  const all = shown.map((each) => {
    const {frequencies, amplitudes, peak} = spectrumOf(each, from, to);
    return {...each, frequencies, heights: spec.decibels ? amplitudes.map(decibels) : amplitudes, peak};
  });
  const highest = extent(all.map(({heights}) => heights))?.[1] ?? 1;
  const end = Math.max(...all.map(({frequencies}) => frequencies[frequencies.length - 1] ?? 0), 0);
  const units = unitsOf(shown.map(({trace}) => trace.name));
  return {
    x: {from: 0, to: spec.upTo ? Math.min(spec.upTo, end || spec.upTo) : end || 50, title: 'Hz'},
    y: spec.decibels ? {from: highest - DEPTH, to: highest + 6, title: `dB${units && `, 0 dB = 1 ${units}`}`} : {from: 0, to: 1.08 * Math.max(highest, 1e-9), title: units},
    paint: (drawing) => {
      for (const {colour, frequencies, heights, peak} of all) {
        line(drawing, colour, frequencies, heights);
        if (Number.isFinite(peak.frequency)) dot(drawing, colour, peak.frequency, spec.decibels ? decibels(peak.amplitude) : peak.amplitude);
      }
    },
    notes: all.flatMap(({trace: {name}, peak}) => (Number.isFinite(peak.frequency) ? [`${titleOf(name)}: ${formatSignal(peak.amplitude)} ${unit(name)} at ${peak.frequency.toPrecision(4)} Hz`] : [])),
  };
}

/** null: what it takes is being loaded. */
export function drawPlane(spec: PlotSpec, from: number, to: number, size: {width: number; height: number}, spectrum: typeof spectrumModule | null): PlaneView | null {
  const shown = shownOf(spec, from, to);
  if (spec.kind === 'xy') return drawPairs(shown, size.width, size.height);
  if (spec.kind === 'histogram') return drawHistogram(shown, from, to);
  return spectrum && drawSpectrum(shown, from, to, spec, spectrum);
}
