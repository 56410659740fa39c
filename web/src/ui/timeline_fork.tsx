// timeline_fork.tsx: a new run from the moment that is shown, with the same settings or others; the program goes on with it.
import {signal} from '@preact/signals';
import {useState} from 'preact/hooks';
import {number, object, oneOf, orNull, text} from '../check';
import {formatClock} from '../format';
import {request} from '../http';
import {goLive, pause, shownDetails, shownRun} from '../live/moment';
import {awaitWorld} from '../live/scenes';
import {hello, notify} from '../live/store';
import {lacks, may} from '../role';
import {Button, Field} from './controls';
import {Dialog} from './dialog';
import {runAddress} from '../live/shown_run';

const begun = object({fork: number});
/** done: 0…1 of the way to the moment. */
const progress = object({state: oneOf('running', 'starting', 'done', 'failed'), done: number, error: orNull(text)});
const POLL_MS = 200;

interface Fork {
  time: number;
  done: number;
}

/** The one that is being made; null: none. */
const making = signal<Fork | null>(null);

async function fork(run: string, time: number, settings: Record<string, string>): Promise<void> {
  const {name = '', scene = ''} = shownDetails.peek() ?? {};
  making.value = {time, done: 0};
  const token = hello.peek()?.token; // of the world that ends then
  try {
    const {fork: id} = await request('POST', `${runAddress(run)}/fork`, {time, settings}, begun);
    for (let seen = false; ; seen = true) {
      // Between two worlds nobody answers, and the new one need not know how it came to be.
      const now = await request('GET', `api/forks/${id}`, undefined, progress).catch((error: unknown) => {
        if (!seen) throw error;
        return null;
      });
      if (now?.state === 'failed') throw new Error(now.error ?? 'the program does not say why');
      if (!now || now.state === 'starting' || now.state === 'done') break;
      making.value = {time, done: now.done};
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    goLive();
    awaitWorld({title: 'A new run', begun: `A new run begins where ${name || scene || 'the one that was shown'} was at ${formatClock(time)}`}, token);
  } catch (error) {
    notify(`The fork could not be made: ${(error as Error).message}`, 'error');
  } finally {
    making.value = null;
  }
}

function Settings({time, onClose}: {time: number; onClose: () => void}) {
  const [rows, setRows] = useState([{path: '', value: ''}]);
  const change = (i: number, part: Partial<{path: string; value: string}>) => setRows(rows.map((row, k) => (k === i ? {...row, ...part} : row)));
  const given = rows.filter(({path}) => path.trim());
  return (
    <Dialog title={`A new run from ${formatClock(time)}`} onClose={onClose}>
      <p>
        The recording is computed again up to this moment; from there on the new run goes its own way. The run that is going on now ends.
      </p>
      {rows.map((row, i) => (
        <div key={i} class="fork-row">
          <Field label="Setting" hint={i ? undefined : 'Leave it empty to go on as it was'}>
            <input value={row.path} placeholder="robots.red1.motors.left.torque" onInput={(event) => change(i, {path: event.currentTarget.value})} />
          </Field>
          <Field label="Value">
            <input value={row.value} placeholder="2 N·m" onInput={(event) => change(i, {value: event.currentTarget.value})} />
          </Field>
        </div>
      ))}
      <div class="fork-actions">
        <Button icon="plus" label="Another setting" text="Another setting" onClick={() => setRows([...rows, {path: '', value: ''}])} />
        <span class="grow" />
        <Button
          icon="fork"
          label="Begin the new run"
          text="Begin the new run"
          kind="primary"
          onClick={() => {
            onClose();
            void fork(shownRun.peek(), time, Object.fromEntries(given.map(({path, value}) => [path.trim(), value.trim()])));
          }}
        />
      </div>
    </Dialog>
  );
}

export function ForkButton({time}: {time: number}) {
  const [asked, ask] = useState<number | null>(null);
  if (!shownRun.value) return null;
  const under = making.value;
  const percent = under ? `${Math.round(100 * under.done)} %` : '';
  return (
    <>
      <Button
        icon="fork"
        label={may('drive') ? 'A new run from this moment, with the same settings or others' : lacks('drive')}
        text={under ? percent : 'Fork here'}
        kind="plain"
        disabled={!!under || !may('drive')}
        onClick={() => {
          pause();
          ask(time);
        }}
      />
      {under && <progress class="visually-hidden" max={1} value={under.done} aria-label="The new run is being made" />}
      {asked !== null && <Settings time={asked} onClose={() => ask(null)} />}
    </>
  );
}
