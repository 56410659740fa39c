// legend.tsx: what a plot's traces are called, their values, and how each is drawn.
import {useEffect, useState} from 'preact/hooks';
import {problemOf} from '../../live/derived';
import {isExpression, split, titleOf} from '../../live/expression';
import {chooseUnit, displayUnit, unitChoices} from '../../live/units';
import {Button, Field, Segmented} from '../../ui/controls';
import {Popover} from '../../ui/popover';
import {editFormula} from './formula';
import {atCursor, statisticsOf} from './measured';
import {changeTrace, cursors, removeTrace, siUnitOf, statisticsShown} from './plots';
import type {PlotSpec, PlotTrace, Side, Style} from './spec';
import {shownUnit} from '../../format';
import {LiveValue} from './value';

const LOOK_MS = 500;
const SIDES = [{value: 'auto', text: 'By unit'}, {value: 'left', text: 'Left'}, {value: 'right', text: 'Right'}] as const;
const STYLES = [{value: 'auto', text: 'Automatic'}, {value: 'line', text: 'Line'}, {value: 'band', text: 'Band'}] as const;

/** The unit of a value; a choice where there is one, which holds for all values of that unit. */
export function UnitChoice({name}: {name: string}) {
  const unit = siUnitOf(name);
  const choices = unitChoices(unit);
  if (!choices.length) return <span class="unit">{shownUnit(unit)}</span>;
  return (
    <select class="unit unit-choice" aria-label={`Unit of ${titleOf(name)}`} title="The unit of all values of this kind" value={displayUnit(unit)} onChange={(event) => chooseUnit(unit, event.currentTarget.value)}>
      {choices.map((choice) => <option key={choice} value={choice}>{choice}</option>)}
    </select>
  );
}

function TraceMenu({plot, trace}: {plot: number; trace: PlotTrace}) {
  const title = titleOf(trace.name);
  const set = (to: Partial<PlotTrace>) => changeTrace(plot, trace.name, to);
  return (
    <Popover label={`How ${title} is drawn`} text={<i class={`swatch trace-${trace.colour}`} />} align="left" class="trace-menu">
      <b>{title}</b>
      <Field label="Axis">
        <Segmented label={`Axis of ${title} in plot ${plot}`} options={SIDES} value={trace.side ?? 'auto'} onChange={(side) => set({side: side === 'auto' ? undefined : (side as Side)})} />
      </Field>
      <Field label="Drawn as">
        <Segmented label={`Drawing of ${title} in plot ${plot}`} options={STYLES} value={trace.style ?? 'auto'} onChange={(style) => set({style: style === 'auto' ? undefined : (style as Style)})} />
      </Field>
      {isExpression(trace.name) && (
        <>
          <code class="formula-text">{split(trace.name)[1]}</code>
          {problemOf(trace.name) && <p class="inline-error">{problemOf(trace.name)}</p>}
          <Button icon="edit" label="Change the formula" text="Change the formula" kind="plain" onClick={() => editFormula(plot, trace.name)} />
        </>
      )}
    </Popover>
  );
}

const remove = (plot: number, name: string) => (
  <button type="button" class="remove" aria-label={`Remove ${titleOf(name)}`} onClick={() => removeTrace(plot, name)}>×</button>
);

interface Column {
  title: string;
  hint: string;
  of: (name: string) => number;
}

const AT_CURSORS: Column[] = [
  {title: 'A', hint: 'Value at cursor A', of: (name) => atCursor(name, 0)},
  {title: 'B', hint: 'Value at cursor B', of: (name) => atCursor(name, 1)},
  {title: 'B − A', hint: 'Difference of the values', of: (name) => atCursor(name, 1) - atCursor(name, 0)},
];
const OF_WHAT_IS_SEEN: Column[] = [
  {title: 'least', hint: 'Of what is seen', of: (name) => statisticsOf(name).least},
  {title: 'greatest', hint: 'Of what is seen', of: (name) => statisticsOf(name).greatest},
  {title: 'mean', hint: 'Over the time that is seen', of: (name) => statisticsOf(name).mean},
  {title: 'rms', hint: 'Root of the mean square over the time that is seen', of: (name) => statisticsOf(name).rms},
];

/** A formula that goes on from what was before begins where the plot does. */
const FROM_EDGE = /\b(?:integral|unwrap)\s*\(/;
const hintOf = (name: string) => (FROM_EDGE.test(name) ? `${name}\nIt begins at the left edge of what is drawn.` : name);

function Name({name}: {name: string}) {
  return (
    <>
      <span class="legend-name" title={hintOf(name)}>{titleOf(name)}</span>
      {FROM_EDGE.test(name) && <small class="muted">from the left edge</small>}
    </>
  );
}

/** Of some trace there are too many samples for an exact mean. */
function About({spec}: {spec: PlotSpec}) {
  const [about, tell] = useState(false);
  useEffect(() => {
    const timer = setInterval(() => tell(spec.traces.some(({name}) => statisticsOf(name).about)), LOOK_MS);
    return () => clearInterval(timer);
  }, [spec]);
  return about ? <p class="hint legend-about">≈ Of so many samples, mean and rms are those of the least and the greatest of each stretch. A shorter time shown has them exactly.</p> : null;
}

/** With cursors or statistics the legend is a table. */
function LegendTable({spec, columns}: {spec: PlotSpec; columns: Column[]}) {
  return (
    <div class="legend-scroll">
      <table class="legend-table">
        <thead>
          <tr>
            <th>trace</th>
            <th class="number">value</th>
            {columns.map(({title, hint}) => <th key={title} class="number" title={hint}>{title}</th>)}
            <th>unit</th>
            <th><span class="visually-hidden">remove</span></th>
          </tr>
        </thead>
        <tbody>
          {spec.traces.map((trace) => (
            <tr key={trace.name}>
              <td><span class="legend-trace"><TraceMenu plot={spec.id} trace={trace} /><Name name={trace.name} /></span></td>
              <td class="number"><LiveValue name={trace.name} class="legend-value" /></td>
              {columns.map(({title, of}) => <td key={title} class="number"><LiveValue name={trace.name} class={`measure-${title.replace(/\W+/g, '')}`} of={of} /></td>)}
              <td><UnitChoice name={trace.name} /></td>
              <td>{remove(spec.id, trace.name)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {statisticsShown.value && <About spec={spec} />}
    </div>
  );
}

export function Legend({spec}: {spec: PlotSpec}) {
  const columns = [...(cursors.value ? AT_CURSORS : []), ...(statisticsShown.value ? OF_WHAT_IS_SEEN : [])];
  if (columns.length && spec.traces.length) return <LegendTable spec={spec} columns={columns} />;
  return (
    <ul class="legend">
      {spec.traces.map((trace) => (
        <li key={trace.name}>
          <TraceMenu plot={spec.id} trace={trace} />
          <Name name={trace.name} />
          <LiveValue name={trace.name} class="legend-value" />
          <UnitChoice name={trace.name} />
          {remove(spec.id, trace.name)}
        </li>
      ))}
    </ul>
  );
}
