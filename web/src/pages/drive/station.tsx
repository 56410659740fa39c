// station.tsx: the driver stations of the robots: enable, mode, practice match, e-stop, place, game data.
import {useState} from 'preact/hooks';
import {send} from '../../live/connection';
import {live, model, notify, status} from '../../live/store';
import type {RobotMode, StationAction, StationPlace, StationStatus} from '../../live/types';
import {Button, Field, Panel, Segmented} from '../../ui/controls';

const MODES = [
  {value: 'autonomous', text: 'Autonomous'},
  {value: 'teleop', text: 'Teleop'},
  {value: 'test', text: 'Test'},
] as const;
const PLACES: StationPlace[] = ['red1', 'red2', 'red3', 'blue1', 'blue2', 'blue3'];
const PERIODS = {none: '', autonomous: 'Autonomous', pause: 'Pause', teleop: 'Teleop', over: 'Match over'} as const;
const MOST_DATA = 63; // bytes

function order(action: StationAction, robot = -1, value?: string): void {
  if (!send({type: 'station', action, robot, ...(value === undefined ? {} : {value})})) notify('Not connected: nothing was done', 'error');
}

function stateOf(station: StationStatus): {text: string; kind: 'good' | 'bad' | 'warn'} {
  if (station.estop) return {text: 'E-stop', kind: 'bad'};
  return station.enabled ? {text: `Enabled: ${station.mode}`, kind: 'good'} : {text: `Disabled: ${station.mode}`, kind: 'warn'};
}

/** 2:15, rounded up as a scoreboard does. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds - 1e-6));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** For all robots at once. */
export function StationBar() {
  const stations = status.value?.stations ?? [];
  const first = stations[0];
  if (!first) return null;
  const off = !live.value;
  const match = status.value!.match;
  const plays = match === 'autonomous' || match === 'pause' || match === 'teleop';
  const enabled = stations.some((each) => each.enabled);
  const same = stations.every((each) => each.enabled === first.enabled && each.estop === first.estop && each.mode === first.mode);
  const state = same ? stateOf(first) : {text: 'Robots differ', kind: 'warn' as const};
  return (
    <div class="station-bar" role="group" aria-label="Driver station">
      <Segmented label="Mode" options={MODES} value={first.mode} onChange={(mode: RobotMode) => order('mode', -1, mode)} />
      <Button
        label={enabled ? 'Disable' : 'Enable'}
        text={enabled ? 'Disable' : 'Enable'}
        icon={enabled ? 'stop' : 'play'}
        kind={enabled ? 'danger' : 'primary'}
        disabled={off || (!enabled && stations.every((each) => each.estop))}
        onClick={() => order(enabled ? 'disable' : 'enable')}
      />
      <span class={`tag ${state.kind}`}>{state.text}</span>
      <span class="grow" />
      {match !== 'none' && <span class="match-clock mono" aria-label="Match time">{PERIODS[match]}{first.matchTime > 0 && ` ${clock(first.matchTime)}`}</span>}
      <Button
        icon={plays ? 'close' : 'trials'}
        label={plays ? 'End the practice match' : 'Start a practice match'}
        text={plays ? 'End match' : 'Practice match'}
        kind="plain"
        disabled={off}
        onClick={() => order(plays ? 'end' : 'match')}
      />
    </div>
  );
}

function GameData({present}: {present: string}) {
  const [typed, setTyped] = useState({text: present, over: present});
  const text = typed.over === present ? typed.text : present; // what is told counts, once it is another
  const fits = new TextEncoder().encode(text).length <= MOST_DATA;
  return (
    <Field label="Game data" hint={fits ? 'A text that the field tells every robot program' : `At most ${MOST_DATA} bytes`}>
      <span class="game-data">
        <input aria-label="Game data" value={text} aria-invalid={!fits} onInput={(event) => setTyped({text: event.currentTarget.value, over: present})} onKeyDown={(event) => event.key === 'Enter' && fits && order('data', -1, text)} />
        <Button label="Send the game data" text="Send" kind="plain" disabled={!fits || text === present} onClick={() => order('data', -1, text)} />
      </span>
    </Field>
  );
}

/** Each robot's own. */
export function Stations() {
  const stations = status.value?.stations ?? [];
  if (!stations.length) return null;
  return (
    <Panel title="Driver stations" class="stations">
      <ul class="panel-body station-list">
        {model.value!.robots.map(({name}, robot) => {
          const station = stations[robot];
          if (!station) return null;
          const state = stateOf(station);
          return (
            <li key={name}>
              <span class="device-name" title={name}>{name}</span>
              <select class={`place ${station.place.replace(/\d/, '')}`} aria-label={`Place of ${name}`} value={station.place} onChange={(event) => order('place', robot, event.currentTarget.value)}>
                {PLACES.map((place) => (
                  <option key={place} value={place}>{place}</option>
                ))}
              </select>
              <span class={`tag ${state.kind}`}>{state.text}</span>
              <span class="grow" />
              <Button
                label={`${station.enabled ? 'Disable' : 'Enable'} ${name}`}
                text={station.enabled ? 'Disable' : 'Enable'}
                kind="plain"
                disabled={!live.value || station.estop}
                onClick={() => order(station.enabled ? 'disable' : 'enable', robot)}
              />
              <Button
                label={`${station.estop ? 'Release the e-stop of' : 'E-stop'} ${name}`}
                text={station.estop ? 'Release' : 'E-stop'}
                kind="danger"
                pressed={station.estop}
                disabled={!live.value || status.value!.stopped}
                onClick={() => order(station.estop ? 'release' : 'estop', robot)}
              />
            </li>
          );
        })}
      </ul>
      <div class="panel-body"><GameData present={stations[0]!.data} /></div>
    </Panel>
  );
}
