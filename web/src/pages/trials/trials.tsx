// trials.tsx: how long do people take with a concept? A clock, who drives what, and a comparison.
import {useEffect, useMemo, useState} from 'preact/hooks';
import {listOf} from '../../check';
import {formatClock} from '../../format';
import {useFetched} from '../../http';
import {want} from '../../live/samples';
import {Allowed, Denied} from '../../ui/allowed';
import {hello, live, model, notify, status} from '../../live/store';
import {param, setParams} from '../../route';
import {dark} from '../../theme';
import {Button, Field, Segmented, Switch} from '../../ui/controls';
import {Question} from '../../ui/dialog';
import {Show} from '../../ui/fetched';
import {KeptRun, NoWorld} from '../../ui/noworld';
import {Pad} from '../../driving/pad';
import * as drive from '../../driving/session';
import {WorldCanvas} from '../../view3d/canvas';
import {ConditionEditor} from './condition_editor';
import {exportCsv, Results} from './results';
import {abort, begin, busy, byHand, condition, discardRefused, driver, elapsed, last, phase, refusedTrials, resetFirst, startBy, stopBy, storedTrials, storeWaiting} from './session';
import type {Phase} from './session';
import {runScene, scenes as sceneList} from '../../live/scenes';
import type {Scene} from '../../live/scenes';
import {checkTrial} from './types';

const PARTS = [
  {value: 'trial', text: 'Trial'},
  {value: 'results', text: 'Results'},
] as const;
const STARTS = [
  {value: 'motion', text: 'First motion'},
  {value: 'hand', text: 'By hand'},
] as const;
const STOPS = [
  {value: 'hand', text: 'By hand'},
  {value: 'condition', text: 'A condition'},
] as const;
const SAYS: Record<Phase, string> = {
  idle: 'ready',
  resetting: 'resetting the world',
  armed: 'waiting for the first motion',
  running: 'running',
  done: 'done',
};

function Clock() {
  const now = phase.value;
  const stored = now === 'done' && last.value;
  const missing = !live.value
    ? 'The program is away.'
    : driver.value.trim() === ''
      ? 'Who drives? Give a name first.'
      : stopBy.value === 'condition' && !condition.value.terms.length
        ? 'When does the clock stop? Add a condition first.'
        : '';
  return (
    <div class={`float trial-clock ${now}`}>
      <output aria-label="Time of the trial">{formatClock(elapsed.value)}</output>
      <span class="muted" role="status">{stored ? (stored.id ? `stored as trial ${stored.id}` : 'not stored yet') : SAYS[now]}</span>
      {!busy.value && missing && <span class="trial-missing" role="status">{missing}</span>}
      <div class="trial-buttons">
        {busy.value ? (
          <>
            {now !== 'resetting' && <Button icon={now === 'armed' ? 'play' : 'check'} label={now === 'armed' ? 'Start now' : 'Stop'} text={now === 'armed' ? 'Start now' : 'Stop'} kind="primary" onClick={byHand} />}
            <Button icon="close" label="Abort" text="Abort" kind="danger" onClick={() => abort('The trial was aborted; nothing is stored')} />
          </>
        ) : (
          <Button icon="play" label={now === 'done' ? 'Next trial' : 'Begin'} text={now === 'done' ? 'Next trial' : 'Begin'} kind="primary" disabled={missing !== ''} onClick={begin} />
        )}
        <Button
          icon="drive"
          label={drive.driving.value ? 'Stop driving' : 'Drive from here'}
          text={drive.driving.value ? 'Stop driving' : 'Drive from here'}
          kind="plain"
          pressed={drive.driving.value}
          disabled={!live.value}
          onClick={() => (drive.driving.value ? drive.stop() : drive.start())}
        />
      </div>
    </div>
  );
}

/** The program ends its world and goes on with the scene that is chosen; the page comes back to it by itself. */
function Concept() {
  const scenes = useFetched('api/scenes', sceneList);
  const [changing, setChanging] = useState(false);
  const now = hello.value?.scene ?? '';
  const list = scenes.value ?? [];
  const concepts = list.filter(({name}) => name.startsWith('concept'));
  useEffect(() => setChanging(false), [hello.value?.token]);
  const choose = async (name: string) => {
    if (name === now) return;
    drive.stop();
    setChanging(true);
    try {
      await runScene(name);
    } catch (error) {
      setChanging(false);
      notify(`${name}: ${(error as Error).message}`, 'error');
      scenes.again();
    }
  };
  const refused = list.find((scene) => scene.refused);
  const option = ({name, title}: Pick<Scene, 'name' | 'title'>) => <option key={name} value={name}>{title}</option>;
  return (
    <>
      <select aria-label="Concept" value={now} disabled={!live.value || busy.value || changing} onChange={(event) => void choose(event.currentTarget.value)}>
        {!list.some(({name}) => name === now) && option({name: now, title: now})}
        <optgroup label="Concepts">{concepts.map(option)}</optgroup>
        <optgroup label="Other scenes">{list.filter((scene) => !concepts.includes(scene)).map(option)}</optgroup>
      </select>
      <span class="hint">{changing ? 'The other scene starts; this page follows.' : hello.value?.description}</span>
      {refused && !changing && (
        <p class="inline-error" role="alert"><b>{refused.name}</b> could not be opened, so {now} began anew. {refused.refused}</p>
      )}
    </>
  );
}

function Setup({drivers}: {drivers: string[]}) {
  return (
    <section class="trial-setup panel" aria-label="Setup of the trial">
      <div class="field">
        <span class="field-label">Concept</span>
        <Concept />
      </div>
      <Field label="Driver">
        <input list="trial-drivers" placeholder="Who drives?" maxLength={64} value={driver.value} onInput={(event) => (driver.value = event.currentTarget.value)} />
      </Field>
      <datalist id="trial-drivers">{drivers.map((name) => <option key={name} value={name} />)}</datalist>
      <div class="field">
        <span class="field-label">The clock starts</span>
        <Segmented label="The clock starts" options={STARTS} value={startBy.value} onChange={(value) => (startBy.value = value)} />
      </div>
      <div class="field">
        <span class="field-label">The clock stops</span>
        <Segmented label="The clock stops" options={STOPS} value={stopBy.value} onChange={(value) => (stopBy.value = value)} />
      </div>
      {stopBy.value === 'condition' && <ConditionEditor />}
      <Switch label="Reset the world first" checked={resetFirst.value} onChange={(on) => (resetFirst.value = on)} />
    </section>
  );
}

function TrialPart({drivers}: {drivers: string[]}) {
  const options = useMemo(
    () => ({camera: 'station' as const, look: null, place: status.value?.stations[0]?.place ?? null, robot: 0, dark: dark.value, shadows: true, contacts: false, frames: false, trails: false, rays: false, lines: true, names: false}),
    [dark.value, status.value?.stations[0]?.place],
  );
  const terms = condition.value.terms.map(({signal}) => signal);
  useEffect(() => want(['time', ...terms], false), [terms.join('\n')]);
  useEffect(() => () => drive.stop(), []);
  if (!model.value) return <NoWorld icon="trials" title="No world to drive in" />;
  if (hello.value?.replay) return <KeptRun icon="trials" title="No world to drive in" />;
  return (
    <div class="trial">
      <Allowed needs="drive"><Setup drivers={drivers} /></Allowed>
      <div class="trial-view">
        <WorldCanvas options={options} />
        <Allowed needs="drive"><Clock /></Allowed>
        {drive.driving.value && <Pad />}
      </div>
    </div>
  );
}

/** Trials that the program does not take as they are. */
function Refused() {
  const [asking, ask] = useState(false);
  const list = refusedTrials.value;
  if (!list.length) return null;
  return (
    <div class="inline-error" role="alert">
      The program does not take {list.length === 1 ? 'a trial' : `${list.length} trials`}, kept in this browser alone: {list[0]!.why}.{' '}
      <button type="button" class="link" onClick={() => exportCsv(list.map((trial) => ({...trial, id: 0})))}>Save as CSV</button>{' '}
      <button type="button" class="link" onClick={() => ask(true)}>Discard</button>
      {asking && (
        <Question title="Discard what the program does not take?" yes="Discard" no="Keep" onNo={() => ask(false)} onYes={() => (ask(false), discardRefused())}>
          It can’t be brought back.
        </Question>
      )}
    </div>
  );
}

export function Trials() {
  const part = param('part', 'trials').value === 'results' ? 'results' : 'trial';
  const trials = useFetched('api/trials', listOf(checkTrial));
  useEffect(() => void storeWaiting(), []);
  useEffect(() => trials.again(), [storedTrials.value]);
  const drivers = [...new Set((trials.value ?? []).map((trial) => trial.driver))].filter(Boolean).sort();
  return (
    <div class="trials">
      <div class="trials-head">
        <Segmented label="Part" options={PARTS} value={part} onChange={(to) => setParams({part: to === 'results' ? to : null}, 'trials')} />
        {trials.value && <span class="muted">{trials.value.length === 1 ? '1 trial' : `${trials.value.length} trials`} stored</span>}
      </div>
      <Denied needs="drive" />
      <Refused />
      {part === 'trial' ? (
        <TrialPart drivers={drivers} />
      ) : (
        <Show from={trials} what="trials" icon="trials" missing="Its store of trials could not be opened; trials are kept in this browser until it can.">
          {(list) => <Allowed needs="drive"><Results trials={list} again={trials.again} /></Allowed>}
        </Show>
      )}
    </div>
  );
}
