// compare.tsx: two to eight runs over one another: a colour each, from a moment that they have in common; how far each is from one of
// them; and a race of all.
import {signal} from '@preact/signals';
import {useMemo} from 'preact/hooks';
import {formatSignal, formatDate, shownUnit} from '../../format';
import {go, param, setParams} from '../../route';
import {cssColor, dark} from '../../theme';
import {Button, Empty, Panel, Switch} from '../../ui/controls';
import {StaticChart} from '../../ui/static_chart';
import {aligned, commonEvents, difference, extremes, MOTION, START, valueAt, zeroOf} from './align';
import type {Aligned} from './align';
import {useAll} from './answers';
import {compare, race, toggleCompared} from './library';
import {names, Picker, Suggestions} from './picker';
import {checkRunDetail, checkRunSamples, POINTS, runUrl, samplesUrl, titleOf} from './types';
import type {Run, RunDetail, RunSamples} from './types';

/** Points of a trace that others are taken from: between two of them a line stands for what was left out. */
const POINTS_OF_DIFFERENCE = 10000;

const alignment = param('align', 'runs');
const reference = param('by', 'runs');
const byDifference = param('difference', 'runs');
/** s, aligned, that the plots show; null: all. And where they are pointed at. */
const stretch = signal<[number, number] | null>(null);
const cursor = signal<number | null>(null);

/** Those that are compared were often made in one minute. */
const dateOf = (run: Run) => formatDate(run.started, true);

const colourOf = (i: number) => `--trace-${i + 1}`;

interface Shown {
  run: Run;
  index: number; // its colour
  trace: Aligned;
}

/** One signal of all runs, and its values. */
function Plot({name, unit, traces, from, to, different}: {name: string; unit: string; traces: Shown[]; from: number; to: number; different: boolean}) {
  const lines = useMemo(() => traces.map(({trace, index}) => ({...trace, colour: cssColor(colourOf(index))})), [traces, dark.value]);
  const at = cursor.value;
  return (
    <section class="compare-plot" aria-label={name}>
      <h3>{different && 'Difference of '}{name} <span class="unit">{shownUnit(unit)}</span></h3>
      <StaticChart
        label={`${name} of ${traces.length} runs`}
        lines={lines}
        from={from}
        to={to}
        sync="compare"
        onZoom={(a, b) => (stretch.value = [a, b])}
        onReset={() => (stretch.value = null)}
        onCursor={(time) => (cursor.value = time)}
      />
      <div class="scroll" tabIndex={0} role="group" aria-label={`Values of ${name}`}>
        <table>
          <thead><tr><th>run</th><th class="number">{at === null ? 'at the end' : `at ${at.toFixed(3)} s`}</th><th class="number">least</th><th class="number">greatest</th></tr></thead>
          <tbody>
            {traces.map(({run, index, trace}) => {
              const [least, greatest] = extremes(trace, from, to);
              const last = trace.times[trace.times.length - 1] ?? NaN;
              return (
                <tr key={run.id}>
                  <td>
                    <i class={`swatch inline trace-${index + 1}`} />{' '}
                    <button type="button" class="link" title="Look at this run" onClick={() => go('runs', {id: run.id, runs: null})}>{titleOf(run)}, {dateOf(run)}</button>
                  </td>
                  <td class="number">{formatSignal(valueAt(trace, at ?? Math.min(last, to)))}</td>
                  <td class="number">{formatSignal(least)}</td>
                  <td class="number">{formatSignal(greatest)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** The runs, their colours, and which of them the others are measured by. */
function Chosen({runs, gone, zeros, by}: {runs: Run[]; gone: string[]; zeros: (number | null | undefined)[]; by: string}) {
  return (
    <ul class="compare-runs" aria-label="Runs that are compared">
      {runs.map((run, i) => (
        <li key={run.id}>
          <i class={`swatch trace-${i + 1}`} />
          <span class="compare-name" title={run.file}>{titleOf(run)} <span class="muted">{dateOf(run)}</span></span>
          {zeros[i] === null && <span class="tag warn">has no such moment</span>}
          {by && (
            <label class="switch"><input type="radio" name="reference" aria-label={`Measure against ${titleOf(run)}, ${dateOf(run)}`} checked={run.id === by} onChange={() => setParams({by: run.id}, 'runs')} /><span>reference</span></label>
          )}
          <Button icon="close" label={`Don’t compare ${titleOf(run)}, ${dateOf(run)}`} onClick={() => toggleCompared(run.id)} />
        </li>
      ))}
      {gone.map((id) => (
        <li key={id}>
          <span class="compare-name" title={id}>{id}</span>
          <span class="tag warn" title="It was deleted, or its name is another">not kept here</span>
          <Button icon="close" label={`Don’t compare ${id}`} onClick={() => toggleCompared(id)} />
        </li>
      ))}
    </ul>
  );
}

/** A run, and what is known of it so far. */
interface Known {
  run: Run;
  index: number;
  detail: RunDetail | null;
  names: string[]; // of the signals that are wanted those that it has
  samples: RunSamples | null;
  zero: number | null; // s of the run that is 0 here
}

/** What is drawn of a signal: each run that has it, from its moment on; or less the reference's, which is left out then. */
function tracesOf(name: string, known: Known[], by: string): Shown[] {
  const all = known.flatMap(({run, index, names: having, samples, zero}) => {
    const at = having.indexOf(name);
    return samples && zero !== null && at >= 0 ? [{run, index, trace: aligned(samples, at, zero)}] : [];
  });
  if (!by) return all;
  const reference = all.find(({run}) => run.id === by);
  return reference ? all.filter((one) => one !== reference).map((one) => ({...one, trace: difference(one.trace, reference.trace)})) : [];
}

/** Signals that at least one of them has, each once. */
function signalsOf(details: (RunDetail | null)[]): {name: string; unit: string}[] {
  const units = new Map(details.flatMap((detail) => detail?.signals ?? []).map(({name, unit}) => [name, unit]));
  return [...units].map(([name, unit]) => ({name, unit}));
}

/** Samples are asked for with what is known of the runs, not after it: most have the same signals. */
function useKnown(runs: Run[], align: string, points: number): {known: Known[]; error: string} {
  const details = useAll(runs.map(({id, recording}) => ({url: runUrl(id), lasts: !recording})), checkRunDetail);
  const having = details.map(({value}) => names.value.filter((name) => !value || value.signals.some((signal) => signal.name === name)));
  const samples = useAll(runs.map(({id, recording}, i) => ({url: samplesUrl(id, having[i]!, points), lasts: !recording})), checkRunSamples);
  const known = runs.map((run, index) => {
    const detail = details[index]!.value;
    return {run, index, detail, names: having[index]!, samples: samples[index]!.value, zero: zeroOf(detail, align)};
  });
  // Until a run is known it may have been asked for a signal that it has not.
  const error = details.find((each) => each.error)?.error ?? samples.find((each, i) => each.error && details[i]!.value)?.error ?? '';
  return {known, error};
}

/** Where the plots begin and end when all is shown. */
function spanOf(known: Known[]): [number, number] {
  const with0 = known.filter(({zero}) => zero !== null);
  return [Math.min(0, ...with0.map(({zero}) => -zero!)), Math.max(1e-3, ...with0.map(({run, zero}) => run.duration - zero!))];
}

function Alignment({align, details}: {align: string; details: (RunDetail | null)[]}) {
  const loaded = details.filter((detail) => detail !== null);
  const events = loaded.length === details.length ? commonEvents(loaded) : [];
  return (
    <label class="compare-align">
      <span class="muted">0 s is</span>
      <select aria-label="0 s is" value={align} onChange={(event) => { stretch.value = null; setParams({align: event.currentTarget.value === START ? null : event.currentTarget.value}, 'runs'); }}>
        <option value={START}>the start</option>
        <option value={MOTION}>the first motion</option>
        {[...new Set([...events, ...(align === START || align === MOTION ? [] : [align])])].map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </label>
  );
}

export function Compare({runs, gone}: {runs: Run[]; gone: string[]}) {
  const align = alignment.value ?? START;
  const different = byDifference.value !== null;
  const by = different ? (runs.find(({id}) => id === reference.value) ?? runs[0])?.id ?? '' : '';
  const {known, error} = useKnown(runs, align, different ? POINTS_OF_DIFFERENCE : POINTS);
  const signals = useMemo(() => signalsOf(known.map(({detail}) => detail)), [known.map(({detail}) => detail?.id ?? '').join()]);
  const samples = known.map((each) => each.samples);
  const drawn = useMemo(() => names.value.map((name) => ({name, traces: tracesOf(name, known, by)})), [...samples, names.value, by, align, known.map(({zero}) => zero).join()]);
  const [from, to] = stretch.value ?? spanOf(known);
  return (
    <div class="run-detail compare">
      <header class="run-head">
        <h2>{runs.length} {runs.length === 1 ? 'run' : 'runs'} compared</h2>
        <Chosen runs={runs} gone={gone} zeros={known.map(({detail, zero}) => (detail ? zero : undefined))} by={by} />
        <div class="run-actions">
          <Button icon="flag" label="Race them as phantoms" text="Race them" kind="primary" disabled={!runs.length || runs.some(({program}) => program)} onClick={() => race(runs.map(({id}) => id))} />
          <Alignment align={align} details={known.map(({detail}) => detail)} />
          <Switch label="Differences" checked={different} onChange={(on) => setParams({difference: on ? 'yes' : null}, 'runs')} />
          <Button icon="close" label="Compare no more" onClick={() => compare([])} />
        </div>
      </header>
      {error && <p class="inline-error" role="alert">{error}</p>}
      <Panel title="Signals" class="run-plot" actions={<><Picker signals={signals} /><Button icon="fit" label="The whole runs" onClick={() => (stretch.value = null)} /></>}>
        {drawn.map(({name, traces}) => (
          <Plot key={name} name={name} unit={signals.find((signal) => signal.name === name)?.unit ?? ''} traces={traces} from={from} to={to} different={different} />
        ))}
        {!drawn.length && <Empty icon="signals" title="Choose signals of these runs">Each is drawn once, with a colour for each run; drag to look closer.<Suggestions signals={signals} /></Empty>}
      </Panel>
    </div>
  );
}
