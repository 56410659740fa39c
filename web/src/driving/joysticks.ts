// joysticks.ts: which device of this browser is which joystick of which driver station, and its values on their way there.
import {computed, signal} from '@preact/signals';
import {send} from '../live/connection';
import {model} from '../live/store';
import type {PageMessage} from '../live/types';
import {stored} from '../settings';
import {gamepads, heldKeys, readScreen} from './input';
import {assign, gamepadStick, KEYBOARDS, KeyboardStick, screenStick, STICKS, UNPLUGGED} from './sticks';
import type {Place, Stick} from './sticks';

export interface Device {
  key: string;
  name: string;
}

/** "robot/stick", or "off", by device. */
export const chosen = stored<Record<string, string>>('drive.sticks', {});
const pads = signal<Device[]>([]);
export const devices = computed<Device[]>(() => [
  ...pads.value,
  ...KEYBOARDS.map((_, i) => ({key: `keyboard ${i + 1}`, name: `Keyboard ${i + 1}`})),
  {key: 'screen', name: 'Sticks on the screen'},
]);
/** Fingers have no keyboard. */
const instead = matchMedia('(pointer: coarse)').matches ? 'screen' : 'keyboard 1';
export const places = computed(() => assign(devices.value.map(({key}) => key), chosen.value, model.value?.robots.length ?? 0, instead));
/** What is sent of each device, for the page. */
export const values = signal(new Map<string, Stick>());

/** Gamepads of one kind are told apart by their order. */
export function lookForPads(): void {
  const found = gamepads().map(({id, index}) => ({key: `pad ${index} ${id}`, name: `${id.replace(/\s*\(.*$/, '') || 'Gamepad'}`}));
  if (found.map(({key}) => key).join() !== pads.peek().map(({key}) => key).join()) pads.value = found;
}

/** Whoever had the place gives it up. */
export function plugIn(device: string, place: string): void {
  const next = {...chosen.peek()};
  for (const [key, {robot, stick}] of places.peek()) if (key !== device && `${robot}/${stick}` === place) next[key] = 'off';
  next[device] = place;
  chosen.value = next;
}

function message({robot, stick}: Place, now: Stick): PageMessage {
  return {type: 'stick', robot, stick, ...now};
}

/** Sends what changed. `end` gives what unplugs all. */
export function stickSender(): {step: () => void; end: () => PageMessage[]} {
  const keyboards = KEYBOARDS.map((layout) => new KeyboardStick(layout));
  const sent = new Map<string, {place: Place; text: string}>();
  const read = (key: string): Stick => {
    if (key === 'screen') return screenStick(readScreen());
    const keyboard = keyboards[Number(key.slice('keyboard '.length)) - 1];
    if (key.startsWith('keyboard ') && keyboard) return keyboard.step(heldKeys());
    const pad = gamepads().find(({id, index}) => key === `pad ${index} ${id}`);
    return pad ? gamepadStick(pad) : UNPLUGGED;
  };
  const unplug = (slot: string): PageMessage => {
    const {place} = sent.get(slot)!;
    sent.delete(slot);
    return message(place, UNPLUGGED);
  };
  return {
    step() {
      lookForPads();
      const shown = new Map<string, Stick>();
      const used = new Set<string>();
      for (const [key, place] of places.peek()) {
        const now = read(key);
        const slot = `${place.robot}/${place.stick}`;
        const text = JSON.stringify(now);
        shown.set(key, now);
        used.add(slot);
        if (sent.get(slot)?.text === text) continue;
        send(message(place, now));
        sent.set(slot, {place, text});
      }
      for (const slot of [...sent.keys()]) if (!used.has(slot)) send(unplug(slot));
      values.value = shown;
    },
    end() {
      values.value = new Map();
      return [...sent.keys()].map(unplug);
    },
  };
}

export {STICKS};
