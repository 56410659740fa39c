// sticks.ts: gamepads, keyboards and the pad on the screen as the joysticks of a driver station. Gamepads are mapped as FIRST's
// Driver Station and WPILib's simulation GUI map them, keyboards as that GUI does: forward is negative, angles are clockwise.
import type {Inputs} from './input';

/** A joystick as the program takes it; all empty: unplugged. */
export interface Stick {
  axes: number[];
  buttons: number[];
  povs: number[];
}

export const UNPLUGGED: Stick = {axes: [], buttons: [], povs: []};
export const STICKS = 6; // of a station
const MOST_AXES = 12;
const MOST_BUTTONS = 32;

const bounded = (value: number) => Math.max(-1, Math.min(1, Number.isFinite(value) ? value : 0));

/** Degrees of the direction that is pressed, or −1. */
export function pov(up: boolean, right: boolean, down: boolean, left: boolean): number {
  const x = Number(right) - Number(left);
  const y = Number(up) - Number(down);
  return x || y ? (Math.round((Math.atan2(x, y) * 180) / Math.PI) + 360) % 360 : -1;
}

/** Buttons of the Gamepad API's standard mapping in WPILib's order: A B X Y, bumpers, back, start, sticks. */
const BUTTONS = [0, 1, 2, 3, 4, 5, 8, 9, 10, 11];
const [LEFT_TRIGGER, RIGHT_TRIGGER, UP, DOWN, LEFT, RIGHT] = [6, 7, 12, 13, 14, 15] as const;

/** One with the standard mapping has 6 axes (the triggers are 2 and 3), 10 buttons and a POV; any other is as it comes. */
export function gamepadStick(pad: Gamepad): Stick {
  const pressed = (at: number) => Number(pad.buttons[at]?.pressed ?? false);
  const axis = (at: number) => bounded(pad.axes[at] ?? 0);
  const value = (at: number) => bounded(pad.buttons[at]?.value ?? 0);
  if (pad.mapping !== 'standard')
    return {axes: pad.axes.slice(0, MOST_AXES).map(bounded), buttons: pad.buttons.slice(0, MOST_BUTTONS).map((_, i) => pressed(i)), povs: []};
  return {
    axes: [axis(0), axis(1), value(LEFT_TRIGGER), value(RIGHT_TRIGGER), axis(2), axis(3)],
    buttons: BUTTONS.map(pressed),
    povs: [pov(!!pressed(UP), !!pressed(RIGHT), !!pressed(DOWN), !!pressed(LEFT))],
  };
}

/** The pad on the screen, as such a gamepad. */
export function screenStick(now: Inputs): Stick {
  return {
    axes: [now.left_x, -now.left_y, now.l2, now.r2, now.right_x, -now.right_y].map(bounded),
    buttons: [now.a, now.b, now.x, now.y, now.l1, now.r1, now.back, now.start, 0, 0].map((value) => Number(value > 0.5)),
    povs: [pov(now.up > 0.5, now.right > 0.5, now.down > 0.5, now.left > 0.5)],
  };
}

interface KeyAxis {
  more: string;
  less: string;
  /** A throttle stays where it is, and moves slowly. */
  throttle?: boolean;
}

interface KeyLayout {
  axes: KeyAxis[];
  buttons: string[];
  /** Up, then clockwise in steps of 45°. */
  pov: string[];
}

/** Keys by their place on the keyboard. */
export const KEYBOARDS: KeyLayout[] = [
  {
    axes: [{more: 'KeyD', less: 'KeyA'}, {more: 'KeyS', less: 'KeyW'}, {more: 'KeyR', less: 'KeyE', throttle: true}],
    buttons: ['KeyZ', 'KeyX', 'KeyC', 'KeyV'],
    pov: ['Numpad8', 'Numpad9', 'Numpad6', 'Numpad3', 'Numpad2', 'Numpad1', 'Numpad4', 'Numpad7'],
  },
  {axes: [{more: 'KeyL', less: 'KeyJ'}, {more: 'KeyK', less: 'KeyI'}], buttons: ['KeyM', 'Comma', 'Period', 'Slash'], pov: []},
  {
    axes: [{more: 'ArrowRight', less: 'ArrowLeft'}, {more: 'ArrowDown', less: 'ArrowUp'}],
    buttons: ['Insert', 'Home', 'PageUp', 'Delete', 'End', 'PageDown'],
    pov: [],
  },
];
/** Of the way to the end, each 20 ms. */
const KEY_RATE = 0.05;
const THROTTLE_RATE = 0.01;

export const KEYBOARD_KEYS = new Set(KEYBOARDS.flatMap(({axes, buttons, pov: keys}) => [...axes.flatMap(({more, less}) => [more, less]), ...buttons, ...keys]));

/** A keyboard remembers where its axes are: a key moves them, and they come back. */
export class KeyboardStick {
  private readonly values: number[];

  constructor(private readonly layout: KeyLayout) {
    this.values = layout.axes.map(() => 0);
  }

  /** 20 ms later. */
  step(held: ReadonlySet<string>): Stick {
    this.layout.axes.forEach(({more, less, throttle}, i) => {
      const way = Number(held.has(more)) - Number(held.has(less));
      const value = this.values[i]!;
      const back = throttle ? 0 : Math.sign(value) * Math.min(Math.abs(value), KEY_RATE);
      // A key against the way an axis points turns it at once as fast as it moves and comes back together.
      const kept = way && Math.sign(way) === Math.sign(value) ? 0 : back;
      this.values[i] = bounded(Math.round((value - kept + way * (throttle ? THROTTLE_RATE : KEY_RATE)) * 1e6) / 1e6);
    });
    const at = this.layout.pov.findIndex((key) => held.has(key));
    return {axes: [...this.values], buttons: this.layout.buttons.map((key) => Number(held.has(key))), povs: this.layout.pov.length ? [at < 0 ? -1 : 45 * at] : []};
  }
}

/** Where a device's joystick is plugged in: a robot's station and its number there. */
export interface Place {
  robot: number;
  stick: number;
}

/** What each device moves: as it was chosen; of the others gamepads take the first place that is free, and without any `instead` does. */
export function assign(devices: string[], chosen: Record<string, string>, robots: number, instead = 'keyboard 1'): Map<string, Place> {
  const places = new Map<string, Place>();
  const taken = new Set<string>();
  const take = (device: string, robot: number, stick: number) => {
    places.set(device, {robot, stick});
    taken.add(`${robot}/${stick}`);
  };
  for (const device of devices) {
    const [robot, stick] = (chosen[device] ?? '').split('/').map(Number);
    const fits = robot !== undefined && stick !== undefined && robot < robots && stick < STICKS && robot >= 0 && stick >= 0;
    if (fits && !taken.has(`${robot}/${stick}`)) take(device, robot, stick);
  }
  for (const device of devices) {
    if (chosen[device] !== undefined || (!device.startsWith('pad ') && device !== instead)) continue;
    if (device === instead && taken.size) continue;
    const free = [...Array(robots * STICKS).keys()].map((at) => [at % robots, Math.floor(at / robots)] as const).find(([robot, stick]) => !taken.has(`${robot}/${stick}`));
    if (free) take(device, ...free);
  }
  return places;
}
