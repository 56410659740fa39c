// topbar.tsx: the world's clock and the hand on it, on every page.
import {control, SPEEDS, togglePause, toggleStop} from '../live/control';
import {lacks, may, role} from '../role';
import {Allowed} from './allowed';
import {offers} from '../live/offers';
import {awaited, connection, hello, live, status} from '../live/store';
import {formatClock, formatCount} from '../format';
import {theme} from '../theme';
import type {Theme} from '../theme';
import {Button} from './controls';
import {Icon} from './icon';
import {helpShown} from './keys';
import {SceneMenu} from './scenemenu';
import {Share} from './share';
import {armed, STOP_KEY} from './stop_key';

const CONNECTION = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Disconnected',
  refused: 'Refused',
  foreign: 'Other version',
  worldless: 'No world',
} as const;

function Figure({label, value, warn, title, wide, extra}: {label: string; value: string; warn?: boolean; title?: string; wide?: boolean; extra?: boolean}) {
  return (
    <div class={`figure${warn ? ' warn' : ''}${wide ? ' wide' : ''}${extra ? ' extra' : ''}`} title={title}>
      <span class="figure-value">{value}</span>
      <span class="figure-label">{label}</span>
    </div>
  );
}

function Speed() {
  const now = status.value;
  const speed = now?.speed ?? 1;
  const choices = SPEEDS.includes(speed) ? SPEEDS : [...SPEEDS, speed].sort((a, b) => a - b);
  const fixed = hello.value?.pace !== undefined && hello.value.pace !== 'realtime';
  return (
    <select
      class="speed"
      aria-label="Speed factor"
      title={fixed ? `This world's pace is ${hello.value!.pace}` : 'Speed factor'}
      value={String(speed)}
      disabled={!live.value || fixed}
      onChange={(event) => control('speed', Number(event.currentTarget.value))}
    >
      {choices.map((choice) => (
        <option key={choice} value={String(choice)}>{`${choice}×`}</option>
      ))}
    </select>
  );
}

function Transport() {
  const now = status.value;
  const off = !live.value || !now;
  const paused = now?.paused ?? false;
  return (
    <div class="transport" role="group" aria-label="Simulation">
      <Button
        icon={paused ? 'play' : 'pause'}
        label={paused ? 'Resume' : 'Pause'}
        shortcut="Space"
        kind={paused ? 'primary' : 'ghost'}
        disabled={off}
        onClick={togglePause}
      />
      <Button icon="step" label="Step one tick" shortcut="." disabled={off || !paused} onClick={() => control('step', 1)} />
      <Speed />
      <Button icon="reset" label="Reset the world" shortcut="Shift+R" disabled={off} onClick={() => control('reset')} />
    </div>
  );
}

function Figures() {
  const now = status.value;
  const disabled = !!now?.stations.length && !now.stopped && now.stations.every(({enabled}) => !enabled);
  const behind = !!now && !now.paused && now.factor < 0.95 * now.speed && hello.value?.pace === 'realtime';
  return (
    <div class="figures">
      {!may('administer') && <Figure label="you may" value={role.value} extra title={may('drive') ? lacks('administer') : lacks('drive')} />}
      {disabled && <Figure label="robots" value="disabled" warn extra title="Their driver stations disable them: see the page Drive" />}
      <Figure label="simulated" value={now ? formatClock(now.time) : '–:––.–––'} title={now ? `step ${formatCount(now.step)}` : undefined} wide />
      <Figure
        label="real-time"
        value={now ? (now.paused ? 'paused' : `${now.factor.toFixed(2)}×`) : '–'}
        warn={behind}
        title="Simulated seconds per second"
      />
      <Figure label="late ticks" value={now ? formatCount(now.lateTicks) : '–'} warn={!!now?.lateTicks} title="Ticks that began after their time" />
    </div>
  );
}

function EmergencyStop() {
  const stopped = status.value?.stopped ?? false;
  return (
    <button
      type="button"
      class={`estop${stopped ? ' active' : ''}${armed.value ? ' armed' : ''}`}
      aria-pressed={stopped}
      disabled={!live.value || !status.value}
      title={stopped ? 'Release the emergency stop' : `Emergency stop: every command to zero (${STOP_KEY} twice, or held)`}
      onClick={toggleStop}
    >
      <Icon name="stop" size={16} />
      <span>{stopped ? 'Release' : armed.value ? 'Once more' : 'E-stop'}</span>
      {!stopped && <kbd aria-hidden="true">{armed.value ? '' : '2 × '}<span>⌫</span></kbd>}
    </button>
  );
}

const NEXT: Record<Theme, Theme> = {system: 'light', light: 'dark', dark: 'system'};
const THEME_ICON = {system: 'system', light: 'sun', dark: 'moon'} as const;

function Lamp() {
  const changes = connection.value === 'lost' && awaited.value !== null;
  const text = changes ? 'Changing' : CONNECTION[connection.value];
  return (
    <span class={`lamp ${changes ? 'connecting' : connection.value}`} role="status" aria-label={`Connection: ${text}`}>
      <i />
      <span>{text}</span>
    </span>
  );
}

export function TopBar() {
  return (
    <header class="topbar">
      <div class="scene">
        <Lamp />
        <SceneMenu />
      </div>
      {offers('/live') && <Allowed needs="drive"><Transport /></Allowed>}
      {offers('/live') && <Figures />}
      <div class="topbar-end">
        <Button
          icon={THEME_ICON[theme.value]}
          label={`Colours: ${theme.value}; change to ${NEXT[theme.value]}`}
          onClick={() => (theme.value = NEXT[theme.value])}
        />
        <Share />
        <Button icon="help" label="Shortcuts and help" shortcut="?" onClick={() => (helpShown.value = true)} />
        {offers('/live') && <Allowed needs="drive"><EmergencyStop /></Allowed>}
      </div>
    </header>
  );
}
