// drawing.ts: a plot over time, as its chart draws it: lines on two axes, states as bands below them.
import type {Trace} from '../../live/decimate';
import {titleOf} from '../../live/expression';
import {traceOf, wantTrace} from '../../live/moment';
import {displaySize, displayUnit} from '../../live/units';
import {formatSignal} from '../../format';
import {cssColor} from '../../theme';
import type {AxisView, Band, ChartView, Line} from '../../ui/chart';
import {axesOf} from './axes';
import {isState, segmentsOf} from './bands';
import {colourOf, siUnitOf} from './plots';
import {MAX_TRACES} from './spec';
import type {PlotSpec, PlotTrace, Side} from './spec';
import {shownUnit} from '../../format';

/** Points a line gets at most, a CSS pixel of width. */
const DENSITY = 1;

export interface Drawn {
  lines: Line[];
  view: ChartView;
}

function scaled({times, values}: Trace, size: number): Trace {
  return {times, values: size === 1 ? values : values.map((value) => value / size)};
}

/** A flag has its trace's colour; each further state one of its own. */
function bandOf({name, colour}: PlotTrace, trace: Trace): Band {
  const own = cssColor(colourOf(colour));
  const ofState = (value: number) => (value <= 1 ? own : cssColor(colourOf(1 + ((colour + Math.round(value) - 2) % MAX_TRACES))));
  return {title: titleOf(name), colour: own, segments: segmentsOf(trace, formatSignal, ofState)};
}

function axisView(units: string[], fixed: [number, number] | undefined): AxisView {
  const size = displaySize(units[0] ?? '');
  return {
    title: [...new Set(units.map((unit) => shownUnit(displayUnit(unit))))].filter(Boolean).join(' · '),
    range: fixed ? [fixed[0] / size, fixed[1] / size] : null,
  };
}

/** Asks for what a plot of this stretch lacks, before it is drawn. */
export function want(spec: PlotSpec, from: number, to: number, width: number): void {
  for (const {name} of spec.traces) wantTrace(name, from, to, DENSITY * width);
}

export function draw(spec: PlotSpec, from: number, to: number, width: number): Drawn {
  const found = spec.traces.map((trace) => ({trace, data: traceOf(trace.name, from, to, DENSITY * width)}));
  const isBand = ({trace, data}: (typeof found)[number]) => (trace.style ?? (isState(trace.name, siUnitOf(trace.name), data) ? 'band' : 'line')) === 'band';
  const drawn = found.filter((each) => !isBand(each));
  const {sides, units} = axesOf(drawn.map(({trace}) => trace), siUnitOf);
  const axis = (side: Side) => axisView(units[side], spec.fixed?.[side]);
  return {
    lines: drawn.map(({trace: {name, colour}, data}, i) => ({...scaled(data, displaySize(siUnitOf(name))), colour: cssColor(colourOf(colour)), right: sides[i] === 'right'})),
    view: {left: axis('left'), right: axis('right'), bands: found.filter(isBand).map(({trace, data}) => bandOf(trace, data))},
  };
}
