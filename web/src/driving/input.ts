// input.ts: one joystick out of all there are: gamepads, keys, and the sticks on the screen. Up and right are positive.
import {signal} from '@preact/signals';

export const AXES = ['left_x', 'left_y', 'right_x', 'right_y'] as const;
export const BUTTONS = ['a', 'b', 'x', 'y', 'up', 'down', 'left', 'right', 'back', 'select', 'start', 'l1', 'r1', 'l2', 'r2'] as const;
export type Axis = (typeof AXES)[number];
export type PadButton = (typeof BUTTONS)[number];
export type Inputs = Record<Axis | PadButton, number>;

/** Index of each button in the Gamepad API's standard mapping. */
const STANDARD: Record<PadButton, number> = {
  a: 0, b: 1, x: 2, y: 3, l1: 4, r1: 5, l2: 6, r2: 7, back: 8, start: 9, up: 12, down: 13, left: 14, right: 15, select: 16,
};
/** Keys that stand for controls; by place on the keyboard, not by letter. */
export const KEYS: Record<string, [Axis | PadButton, number]> = {
  KeyW: ['left_y', 1], KeyS: ['left_y', -1], KeyA: ['left_x', -1], KeyD: ['left_x', 1],
  ArrowUp: ['right_y', 1], ArrowDown: ['right_y', -1], ArrowLeft: ['right_x', -1], ArrowRight: ['right_x', 1],
  KeyF: ['a', 1], KeyG: ['b', 1], KeyR: ['x', 1], KeyT: ['y', 1],
  KeyI: ['up', 1], KeyK: ['down', 1], KeyJ: ['left', 1], KeyL: ['right', 1],
  KeyQ: ['l1', 1], KeyE: ['r1', 1], KeyB: ['back', 1], KeyN: ['select', 1], KeyM: ['start', 1],
};
const DEAD_ZONE = 0.08;

export const gamepadName = signal('');
/** What is held on the screen: by pointer, for as long as it is down. */
export const onScreen: Partial<Record<Axis | PadButton, number>> = {};
const held = new Set<string>();

export function noInputs(): Inputs {
  return Object.fromEntries([...AXES, ...BUTTONS].map((name) => [name, 0])) as Inputs;
}

/** A dead zone in the middle, and no jump where it ends. */
export function withoutDeadZone(value: number): number {
  const size = Math.abs(value);
  return size <= DEAD_ZONE ? 0 : (Math.sign(value) * (Math.min(1, size) - DEAD_ZONE)) / (1 - DEAD_ZONE);
}

/** Those that the browser knows of: a button must have been pressed on each. */
export function gamepads(): Gamepad[] {
  return [...navigator.getGamepads()].filter((pad): pad is Gamepad => !!pad?.connected);
}

/** Codes of the keys that are down while keys are taken. */
export function heldKeys(): ReadonlySet<string> {
  return held;
}

function addGamepads(inputs: Inputs): void {
  const pads = gamepads();
  gamepadName.value = pads[0]?.id.replace(/\s*\(.*$/, '') ?? '';
  for (const pad of pads) {
    AXES.forEach((name, i) => (inputs[name] += (i % 2 ? -1 : 1) * withoutDeadZone(pad.axes[i] ?? 0)));
    for (const name of BUTTONS) inputs[name] = Math.max(inputs[name], pad.buttons[STANDARD[name]]?.value ?? 0);
  }
}

/** The pad on the screen alone. */
export function readScreen(): Inputs {
  return {...noInputs(), ...onScreen};
}

/** The joystick as it is now. */
export function readInputs(keyboard: boolean): Inputs {
  const inputs = noInputs();
  addGamepads(inputs);
  for (const [name, value] of Object.entries(onScreen)) inputs[name as Axis] += value;
  if (keyboard) {
    for (const code of held) {
      const key = KEYS[code];
      if (key) inputs[key[0]] += key[1];
    }
  }
  for (const name of AXES) inputs[name] = Math.max(-1, Math.min(1, inputs[name]));
  for (const name of BUTTONS) inputs[name] = Math.max(0, Math.min(1, inputs[name]));
  return inputs;
}

/** Takes keys, by default those of KEYS, from the page until the returned function is called. */
export function takeKeys(wanted: (code: string) => boolean = (code) => !!KEYS[code]): () => void {
  const onKey = (event: KeyboardEvent) => {
    const target = event.target instanceof Element ? event.target : null;
    if (event.type === 'keyup') {
      if (!held.delete(event.code)) return; // also with a modifier that came meanwhile
    } else {
      if (event.ctrlKey || event.metaKey || event.altKey || !wanted(event.code)) return;
      if (target?.closest('input:not([type=radio]):not([type=checkbox]), select, textarea')) return;
      held.add(event.code);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  addEventListener('keydown', onKey, true);
  addEventListener('keyup', onKey, true);
  return () => {
    removeEventListener('keydown', onKey, true);
    removeEventListener('keyup', onKey, true);
    releaseAll();
  };
}

/** Nothing is held any more: the window lost the focus, and with it every key that would be let go. */
export function releaseAll(): void {
  held.clear();
  for (const name of Object.keys(onScreen)) delete onScreen[name as Axis];
}
