// results.tsx: what trials tell about concepts and drivers.
import {useEffect, useMemo, useState} from 'preact/hooks';
import {listOf, object, text} from '../../check';
import {csvCell, formatDate, formatValue} from '../../format';
import {request, useFetched} from '../../http';
import {notify} from '../../live/store';
import {lacks, may} from '../../role';
import {addressOf} from '../../route';
import {summarize} from '../../statistics';
import {Button, Empty, Panel, Segmented} from '../../ui/controls';
import {save} from '../../ui/download';
import {Question} from '../../ui/dialog';
import {Editable} from '../../ui/editable';
import {BoxPlot} from './boxplot';
import type {Group} from './boxplot';
import type {Trial} from './types';

const checkKept = listOf(object({id: text}));
/** s before a trial's start at which its recording is shown. */
const LEAD = 1;

/** Where a trial is seen again; nothing where its run was not kept, or is no longer. */
function Recording({trial, kept}: {trial: Trial; kept: ReadonlySet<string> | null}) {
  if (!trial.recording) return <span class="muted" title="Nothing of this run was recorded">–</span>;
  if (kept && !kept.has(trial.recording)) return <span class="muted" title={`${trial.recording} is no longer kept`}>removed</span>;
  return <a href={addressOf('world', {run: trial.recording, t: Math.max(0, trial.begin - LEAD).toFixed(3)})} aria-label={`Watch trial ${trial.id}`}>watch</a>;
}

type By = 'scene' | 'driver' | 'both';
const BY = [
  {value: 'scene', text: 'Concepts'},
  {value: 'driver', text: 'Drivers'},
  {value: 'both', text: 'Both'},
] as const;

function groupsOf(trials: Trial[], by: By): Group[] {
  const times = new Map<string, number[]>();
  for (const trial of trials) {
    if (trial.discarded) continue;
    const driver = trial.driver || 'nobody named';
    const name = by === 'scene' ? trial.scene : by === 'driver' ? driver : `${trial.scene} · ${driver}`;
    times.set(name, [...(times.get(name) ?? []), trial.time]);
  }
  return [...times].map(([name, list]) => ({name, times: list, summary: summarize(list)})).sort((a, b) => a.name.localeCompare(b.name));
}

function Summaries({groups}: {groups: Group[]}) {
  const value = (number: number) => <td class="number">{formatValue(number, 4)}</td>;
  return (
    <table>
      <thead>
        <tr>
          <th>group</th><th class="number">count</th><th class="number">median [s]</th><th class="number" title="Between the quartiles">spread [s]</th>
          <th class="number">mean [s]</th><th class="number" title="Standard deviation of the sample">deviation [s]</th><th class="number">least [s]</th><th class="number">greatest [s]</th>
        </tr>
      </thead>
      <tbody>
        {groups.map(({name, summary}, i) => (
          <tr key={name}>
            <td><i class={`swatch inline trace-${(i % 10) + 1}`} /> {name}</td>
            <td class="number">{summary.count}</td>
            {value(summary.median)}{value(summary.upper - summary.lower)}{value(summary.mean)}{value(summary.deviation)}{value(summary.least)}{value(summary.greatest)}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function exportCsv(trials: Trial[]): void {
  const keys = ['id', 'started', 'scene', 'driver', 'time', 'startedBy', 'stoppedBy', 'condition', 'note', 'discarded', 'recording', 'begin'] as const;
  const rows = trials.map((trial) => keys.map((key) => csvCell(typeof trial[key] === 'boolean' ? String(trial[key]) : (trial[key] as string | number))).join(','));
  save('tether-trials.csv', new Blob([[keys.join(','), ...rows].join('\r\n') + '\r\n'], {type: 'text/csv'}));
}

/** Shows what was chosen at once, and keeps to it until the program's list has it. */
function Counts({trial, save}: {trial: Trial; save: (discarded: boolean) => Promise<void>}) {
  const [asked, setAsked] = useState<boolean | null>(null);
  useEffect(() => setAsked(null), [trial.discarded]);
  const choose = (discarded: boolean) => {
    setAsked(discarded);
    save(discarded).catch((error: Error) => {
      setAsked(null);
      notify(error.message, 'error');
    });
  };
  return <input type="checkbox" aria-label={`Trial ${trial.id} counts`} checked={!(asked ?? trial.discarded)} onChange={(event) => choose(!event.currentTarget.checked)} />;
}

function Delete({trial, again}: {trial: Trial; again: () => void}) {
  const [asking, ask] = useState(false);
  const remove = () => {
    ask(false);
    request('DELETE', `api/trials/${trial.id}`).then(again, (error: Error) => notify(`Trial ${trial.id} can’t be deleted: ${error.message}`, 'error'));
  };
  return (
    <>
      <Button icon="trash" label={may('administer') ? `Delete trial ${trial.id}` : lacks('administer')} disabled={!may('administer')} onClick={() => ask(true)} />
      {asking && (
        <Question title="Delete this trial?" yes="Delete it" no="Keep it" onNo={() => ask(false)} onYes={remove}>
          Trial {trial.id} of {formatDate(trial.started)}, {trial.time.toFixed(3)} s. It can’t be brought back. One that is not to count can stay: take away its tick.
        </Question>
      )}
    </>
  );
}

export function Results({trials, again}: {trials: Trial[]; again: () => void}) {
  const [by, setBy] = useState<By>('scene');
  const groups = useMemo(() => groupsOf(trials, by), [trials, by]);
  const runs = useFetched('api/runs', checkKept);
  const kept = useMemo(() => runs.value && new Set(runs.value.map(({id}) => id)), [runs.value]);
  const change = async (trial: Trial, part: Partial<Pick<Trial, 'note' | 'discarded'>>) => {
    await request('PUT', `api/trials/${trial.id}`, part); // the rest may be older here than what the program has
    again();
  };
  if (!trials.length) return <Empty icon="trials" title="No trials yet">Their times will be compared here, by concept and by driver.</Empty>;
  return (
    <div class="results">
      <Panel title="Comparison" class="comparison" actions={<Segmented label="Compare" options={BY} value={by} onChange={setBy} />}>
        {groups.length ? (
          <>
            <div class="boxplot-host"><BoxPlot groups={groups} /></div>
            <div class="scroll" tabIndex={0} role="group" aria-label="Figures of the comparison"><Summaries groups={groups} /></div>
          </>
        ) : (
          <Empty icon="trials" title="Every trial was discarded" />
        )}
      </Panel>
      <Panel title={`Trials · ${trials.length}`} class="trial-list" actions={<Button icon="download" label="Trials as CSV" text="CSV" onClick={() => exportCsv(trials)} />}>
        <div class="scroll">
          <table>
            <thead><tr><th>when</th><th>concept</th><th>driver</th><th class="number">time [s]</th><th>stopped by</th><th>recording</th><th>note</th><th>counts</th><th><span class="visually-hidden">delete</span></th></tr></thead>
            <tbody>
              {[...trials].reverse().map((trial) => (
                <tr key={trial.id} class={trial.discarded ? 'discarded' : ''}>
                  <td>{formatDate(trial.started)}</td>
                  <td>{trial.scene}</td>
                  <td>{trial.driver || <span class="muted">–</span>}</td>
                  <td class="number">{trial.time.toFixed(3)}</td>
                  <td title={trial.condition}>{trial.stoppedBy}</td>
                  <td><Recording trial={trial} kept={kept} /></td>
                  <td><Editable address={`trials/${trial.id}/note`} label={`Note of trial ${trial.id}`} value={trial.note} placeholder="add" save={(note) => change(trial, {note})} /></td>
                  <td><Counts trial={trial} save={(discarded) => change(trial, {discarded})} /></td>
                  <td><Delete trial={trial} again={again} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Panel>
    </div>
  );
}
