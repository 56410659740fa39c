// joysticks_panel.tsx: the devices of this browser, what each is plugged in as, and what it says.
import {model} from '../../live/store';
import {Panel} from '../../ui/controls';
import {devices, places, plugIn, STICKS, values} from '../../driving/joysticks';
import type {Stick} from '../../driving/sticks';

const SIGNED = (value: number) => (value < 0 ? '\u2212' : '+') + Math.abs(value).toFixed(2);

/** Axes, buttons that are down, and POVs that are pressed, in a line. */
function tell({axes, buttons, povs}: Stick): string {
  const down = buttons.flatMap((value, i) => (value ? [`button ${i + 1}`] : []));
  const pressed = povs.filter((angle) => angle >= 0).map((angle) => `POV ${angle}°`);
  return [axes.map(SIGNED).join(' '), ...down, ...pressed].join(' · ');
}

export function Joysticks() {
  const robots = model.value!.robots;
  return (
    <Panel title="Joysticks" class="joysticks">
      <ul class="panel-body device-list">
        {devices.value.map(({key, name}) => {
          const place = places.value.get(key);
          const now = values.value.get(key);
          return (
            <li key={key}>
              <span class="device-name" title={name}>{name}</span>
              <select aria-label={`${name} is`} value={place ? `${place.robot}/${place.stick}` : 'off'} onChange={(event) => plugIn(key, event.currentTarget.value)}>
                <option value="off">not plugged in</option>
                {robots.map((robot, r) =>
                  Array.from({length: STICKS}, (_, stick) => (
                    <option key={`${r}/${stick}`} value={`${r}/${stick}`}>{robots.length > 1 ? `${robot.name}: joystick ${stick}` : `joystick ${stick}`}</option>
                  )),
                )}
              </select>
              {now && <span class="device-values mono">{tell(now)}</span>}
            </li>
          );
        })}
      </ul>
      <p class="panel-body muted">
        Gamepads and keyboards are mapped as in WPILib’s simulation GUI. A gamepad shows up once a button on it was pressed.
      </p>
    </Panel>
  );
}
