// drive.tsx: a robot in your hands: sticks on the screen, keys, or any gamepad.
import {useEffect, useMemo} from 'preact/hooks';
import {Allowed, Denied} from '../../ui/allowed';
import {hello, joystickConnected, live, model} from '../../live/store';
import {dark} from '../../theme';
import {Button, Empty, Field, Panel, Segmented} from '../../ui/controls';
import {Icon} from '../../ui/icon';
import {KeptRun, NoWorld} from '../../ui/noworld';
import {WorldCanvas} from '../../view3d/canvas';
import {gamepadName, readInputs} from '../../driving/input';
import type {Axis, PadButton} from '../../driving/input';
import {SOURCES} from '../../driving/mapping';
import {lookForPads} from '../../driving/joysticks';
import {Joysticks} from './joysticks_panel';
import {MappingEditor} from './mapping_editor';
import {StationBar, Stations} from './station';
import {chooseRobot, core, driving, heartbeatPort, inputs, robot, start, stop, use} from '../../driving/session';
import {Pad} from '../../driving/pad';

const USES = [
  {value: 'robot', text: 'Robot', title: "Straight to a robot's commands"},
  {value: 'station', text: 'Driver station', title: 'As joysticks of driver stations, for robot programs'},
  {value: 'joystick', text: 'Joystick of a core', title: 'As the joystick of sharp-json, over UDP'},
] as const;

/** What the joystick's message to a core has room for. */
const SENT: (Axis | PadButton)[] = ['left_x', 'left_y', 'right_x', 'right_y', 'up', 'down', 'left', 'right', 'a', 'b', 'x', 'y', 'back', 'select', 'start'];

function Setup() {
  return (
    <div class="drive-setup">
      <Segmented
        label="Use"
        options={USES}
        value={use.value}
        onChange={(value) => use.choose(value)}
      />
      {use.value === 'robot' && (
        <select aria-label="Robot to drive" value={String(robot.value)} onChange={(event) => chooseRobot(Number(event.currentTarget.value))}>
          {model.value!.robots.map(({name}, i) => (
            <option key={name} value={String(i)}>{name}</option>
          ))}
        </select>
      )}
      {use.value === 'joystick' && (
        <>
          <input
            class="core-address"
            aria-label="Address of the core"
            placeholder="127.0.0.1:4000"
            value={core.value}
            disabled={driving.value}
            onChange={(event) => core.choose(event.currentTarget.value.trim())}
          />
          <label class="core-port">
            heartbeat at{' '}
            <input
              type="number"
              aria-label="Port for the heartbeat"
              min={1}
              max={65535}
              value={heartbeatPort.value}
              disabled={driving.value}
              onChange={(event) => event.currentTarget.checkValidity() && heartbeatPort.choose(String(event.currentTarget.valueAsNumber))}
            />
          </label>
        </>
      )}
      <span class="grow" />
      {use.value !== 'station' && (gamepadName.value ? <span class="tag good"><Icon name="drive" size={14} />{gamepadName.value}</span> : <span class="tag">no gamepad: press a button on it</span>)}
      {use.value === 'joystick' && driving.value && (
        <span class={`tag ${joystickConnected.value ? 'good' : 'bad'}`}>{joystickConnected.value ? 'core connected' : 'core disconnected'}</span>
      )}
      <Button
        icon={driving.value ? 'stop' : 'play'}
        label={driving.value ? 'Stop driving' : 'Start driving'}
        text={driving.value ? 'Stop driving' : 'Start driving'}
        kind={driving.value ? 'danger' : 'primary'}
        disabled={!live.value}
        onClick={() => (driving.value ? stop() : start())}
      />
    </div>
  );
}

export function Drive() {
  const options = useMemo(
    () => ({camera: 'follow' as const, look: null, place: null, robot: robot.value, dark: dark.value, shadows: true, contacts: false, frames: false, trails: false, rays: true, lines: true, names: false}),
    [robot.value, dark.value],
  );
  // Sticks show what they do before driving begins, so that one sees which pad is in hand.
  useEffect(() => {
    const timer = setInterval(() => {
      lookForPads();
      if (!driving.peek()) inputs.value = readInputs(false);
    }, 50);
    return () => {
      clearInterval(timer);
      stop();
    };
  }, []);
  if (!model.value) return <NoWorld icon="drive" title="Nothing to drive" />;
  if (hello.value?.replay) return <KeptRun icon="drive" title="Nothing to drive" />;
  if (!model.value.robots.length && use.value === 'robot') return <Empty icon="drive" title="This scene has no robot">Choose a scene with one.</Empty>;
  return (
    <div class="drive">
      <Denied needs="drive" />
      <Allowed needs="drive">
        <Setup />
        <StationBar />
      </Allowed>
      <div class="drive-view">
        <WorldCanvas options={options} />
        <Pad />
      </div>
      {use.value === 'robot' && <MappingEditor />}
      {use.value === 'station' && (
        <Allowed needs="drive">
          <div class="drive-side">
            <Stations />
            <Joysticks />
          </div>
        </Allowed>
      )}
      {use.value === 'joystick' && (
        <Panel title="Joystick of a core" class="mapping">
          <div class="panel-body">
            <Field label="How it works">
              <p>While you drive, this program sends the joystick to {core.value} by UDP and listens for its heartbeat at 127.0.0.1:{heartbeatPort.value}.</p>
            </Field>
            <dl class="pairs joystick-values">
              {SENT.map((name) => (
                <div key={name}><dt>{SOURCES[name]}</dt><dd class="mono">{inputs.value[name].toFixed(2)}</dd></div>
              ))}
            </dl>
          </div>
        </Panel>
      )}
    </div>
  );
}
