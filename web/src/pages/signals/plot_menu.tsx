// plot_menu.tsx: how a whole plot is drawn: over time or otherwise, and whether its axes follow what is there, or stay.
import {displaySize, displayUnit} from '../../live/units';
import {Segmented, Switch} from '../../ui/controls';
import {Popover} from '../../ui/popover';
import {NumberField} from '../../ui/typed';
import {axesOf} from './axes';
import {changePlot, fixAxis, siUnitOf} from './plots';
import type {PlotKind, PlotSpec, Side} from './spec';
import {shownUnit} from '../../format';

const NAMES: Record<Side, string> = {left: 'Left axis', right: 'Right axis'};

const shortly = (value: number) => Number(value.toPrecision(4));

function AxisMenu({spec, side, units, shown}: {spec: PlotSpec; side: Side; units: string[]; shown: (side: Side) => [number, number]}) {
  const unit = units[0] ?? '';
  const size = displaySize(unit);
  const fixed = spec.fixed?.[side];
  const set = (low: number, high: number) => low < high && fixAxis(spec.id, side, [low * size, high * size]);
  return (
    <fieldset class="axis-menu">
      <legend>{NAMES[side]} {shownUnit(displayUnit(unit)) && <span class="unit">{shownUnit(displayUnit(unit))}</span>}</legend>
      <Switch label="Follows what is there" checked={!fixed} onChange={(follows) => (follows ? fixAxis(spec.id, side, null) : set(...shown(side)))} />
      {fixed && (
        <div class="limits">
          <NumberField live label={`${NAMES[side]} from`} value={shortly(fixed[0] / size)} onChange={(low) => set(low, fixed[1] / size)} />
          <span>to</span>
          <NumberField live label={`${NAMES[side]} to`} value={shortly(fixed[1] / size)} onChange={(high) => set(fixed[0] / size, high)} />
        </div>
      )}
    </fieldset>
  );
}

const KINDS = [{value: 'time', text: 'Over time'}, {value: 'xy', text: 'X-Y'}, {value: 'histogram', text: 'Histogram'}, {value: 'spectrum', text: 'Spectrum'}] as const;
const HINTS: Record<PlotKind, string> = {
  xy: 'The first trace lies below, the others stand against it.',
  histogram: 'For which share of the time a value was where.',
  spectrum: 'Which frequencies there are: an FFT of what is seen, through a Hann window. A drag shows the lower frequencies, a double click all.',
};

/** `shown`: least and greatest of an axis now, in the unit it is shown in. */
export function PlotMenu({spec, number, shown}: {spec: PlotSpec; number: number; shown: (side: Side) => [number, number]}) {
  const {units} = axesOf(spec.traces, siUnitOf);
  const {kind} = spec;
  return (
    <Popover icon="edit" label={`How plot ${number} is drawn`}>
      <Segmented label={`Kind of plot ${number}`} options={KINDS} value={kind ?? 'time'} onChange={(to) => changePlot(spec.id, () => ({kind: to === 'time' ? undefined : to}))} />
      {kind && <p class="hint">{HINTS[kind]}</p>}
      {kind === 'spectrum' && <Switch label="Amplitudes in dB" checked={!!spec.decibels} onChange={(decibels) => changePlot(spec.id, () => ({decibels: decibels || undefined}))} />}
      {!kind && <AxisMenu spec={spec} side="left" units={units.left} shown={shown} />}
      {!kind && units.right.length > 0 && <AxisMenu spec={spec} side="right" units={units.right} shown={shown} />}
    </Popover>
  );
}
