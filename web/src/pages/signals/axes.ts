// axes.ts: which trace is read from which of a plot's two axes, and what stands above them.
import type {PlotTrace, Side} from './spec';

export interface Axes {
  sides: Side[]; // of each trace
  /** SI units on each axis, the first that of its first trace. */
  units: Record<Side, string[]>;
}

/** The first unit is read from the left, any other from the right, unless a trace says otherwise. */
export function axesOf(traces: readonly PlotTrace[], unitOf: (name: string) => string): Axes {
  const units: Record<Side, string[]> = {left: [], right: []};
  const first = traces.find(({side}) => side !== 'right');
  const main = first && unitOf(first.name);
  const sides = traces.map(({name, side}) => {
    const unit = unitOf(name);
    const on = side ?? (unit === main ? 'left' : 'right');
    if (!units[on].includes(unit)) units[on].push(unit);
    return on;
  });
  return {sides, units};
}
