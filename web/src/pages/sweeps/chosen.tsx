// chosen.tsx: the one or two runs that were clicked on: their values, and both in 3D.
import {signal} from '@preact/signals';
import {useEffect} from 'preact/hooks';
import {formatValue} from '../../format';
import {HttpError, request, useFetched} from '../../http';
import type {Fetched} from '../../http';
import {Button, Panel} from '../../ui/controls';
import {write} from './conditions';
import {change, marked, MOST_RUNS, state} from './state';
import {checkRows, checkShow, checkShowing, sweepUrl} from './types';
import type {Rows, Showing, Sweep} from './types';

const LOOK_MS = 250;

/** What is being shown; `wall`: s that its runs took, where known. */
const shown = signal<{runs: string[]; wall: number; state: Showing | null; error: string} | null>(null);

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Where the replay is: its address, and the run that races there. */
export function replayUrl({address, runs}: Showing): string {
  return `${address}/#world${runs[1] ? `?race=${encodeURIComponent(runs[1])}` : ''}`;
}

/** Has the program show the runs, and goes there once it does; the way back leads to the page as it is now. */
export async function show(id: string, runs: string[], wall = 0): Promise<void> {
  const mine = {runs, wall, state: null as Showing | null, error: ''};
  shown.value = mine;
  try {
    const {show: key} = await request('POST', sweepUrl(id, 'show'), {runs}, checkShow);
    while (shown.value?.runs === runs) {
      const told = await request('GET', `api/shows/${key}`, undefined, checkShowing);
      if (shown.value?.runs !== runs) return;
      if (told.state === 'ready') {
        shown.value = null;
        location.href = replayUrl(told);
        return;
      }
      shown.value = {...mine, state: told, error: told.error ?? ''};
      if (told.state === 'failed') return;
      await pause(LOOK_MS);
    }
  } catch (error) {
    shown.value = {...mine, error: error instanceof HttpError ? error.message : 'the program cannot be reached'};
  }
}

function Progress() {
  const now = shown.value;
  if (!now) return null;
  if (now.error) {
    return (
      <div class="show-progress" role="alert">
        <span class="bad-text">It can’t be shown: {now.error}</span>
        <Button icon="close" label="Dismiss" onClick={() => (shown.value = null)} />
      </div>
    );
  }
  const opening = now.state?.state === 'opening';
  return (
    <div class="show-progress" role="status">
      <i class="spinner" />
      <span>
        {opening ? 'Opening the replay…' : now.state?.state === 'waiting' ? 'Waiting for another…' : `Making ${now.runs.length > 1 ? `log ${(now.state?.made ?? 0) + 1} of ${now.runs.length}` : 'its log'} again…`}
        {now.state && <span class="muted"> {now.state.seconds} s{now.wall > 1 && ` of about ${formatValue(now.wall, 2)} s`}</span>}
      </span>
      <Button icon="close" label="Don’t wait" onClick={() => (shown.value = null)} />
    </div>
  );
}

/** One run's row; nothing for "". */
function useRow(sweep: Sweep, id: string): Fetched<Rows> {
  const query = new URLSearchParams({filter: write({column: 'id', kind: 'same', text: id}), limit: '1'});
  return useFetched(id && sweepUrl(sweep.id, 'rows', query), checkRows);
}

function told(row: Rows | null, name: string): string {
  const value = row?.columns[name]?.[0];
  return value === null || value === undefined || value === '' ? '–' : typeof value === 'number' ? formatValue(value) : value;
}

/** Their values side by side. */
function Values({sweep, runs, rows}: {sweep: Sweep; runs: string[]; rows: (Rows | null)[]}) {
  const title = (row: Rows | null) => (row && !row.rows.length ? 'no such run' : `run ${row?.columns.run?.[0] ?? '…'}`);
  return (
    <table>
      <thead>
        <tr>
          <td />
          {runs.map((id, i) => (
            <th key={id}>
              <span>
                {title(rows[i]!)}
                <Button icon="close" label={`Let go of ${title(rows[i]!)}`} onClick={() => toggle(id)} />
              </span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {sweep.columns.filter(({name}) => name !== 'run').map(({name, unit}) => (
          <tr key={name}>
            <th scope="row">
              {name} <span class="unit">{unit}</span>
            </th>
            {runs.map((id, i) => (
              <td key={id} title={told(rows[i]!, name)}>{told(rows[i]!, name)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Clicked: chosen, or let go of again. */
export function toggle(id: string): void {
  const {runs} = state.peek();
  change({runs: runs.includes(id) ? runs.filter((each) => each !== id) : [...runs, id].slice(-MOST_RUNS)});
}

export function Chosen({sweep}: {sweep: Sweep}) {
  const {runs} = state.value;
  const fetched = [useRow(sweep, runs[0] ?? ''), useRow(sweep, runs[1] ?? '')];
  const rows = runs.map((id, i) => {
    const row = fetched[i]!.value;
    return row && (!row.rows.length || row.columns.id?.[0] === id) ? row : null; // not the one before
  });
  const numbers = rows.flatMap((row) => row?.rows ?? []);
  const wall = () => rows.reduce((sum, row) => sum + Number(row?.columns.wall_time?.[0] ?? 0), 0);
  useEffect(() => void (marked.value = numbers), [numbers.join()]);
  if (!runs.length) return shown.value ? <div class="chosen-alone"><Progress /></div> : null;
  return (
    <Panel title={runs.length > 1 ? 'Two runs' : 'One run'} class="chosen">
      <div class="chosen-body">
        {sweep.shows ? (
          <div class="chosen-actions">
            <Button icon="play" label={runs.length > 1 ? 'Race them in 3D' : 'Show in 3D'} text={runs.length > 1 ? 'Race them in 3D' : 'Show in 3D'} kind="primary" disabled={!!shown.value && !shown.value.error} onClick={() => void show(sweep.id, runs, wall())} />
            {runs.length === 1 && <p class="hint">Choose another to race it.</p>}
          </div>
        ) : (
          <p class="hint">
            This program asks for a token, which a replay would not. Where it runs: <code>tether sweep {sweep.plan} --only {runs[0]} --record run.wpilog</code>, then <code>tether replay run.wpilog</code>.
          </p>
        )}
        <Progress />
        <Values sweep={sweep} runs={runs} rows={rows} />
      </div>
    </Panel>
  );
}
