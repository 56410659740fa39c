// store.ts: what all pages know of the program, as Preact signals. Filled by connection.ts alone.
import {batch, computed, signal} from '@preact/signals';
import {shownUnit} from '../format';
import {role} from '../role';
import {newestFrame} from './frames';
import type {Hello, Model, Phantom, ServerMessage, Status, WireMessage, WorldEvent} from './types';

/** connecting: never connected yet; live; lost: was connected; refused: the program is there and lets this page in no more; foreign: the program speaks another version; worldless: a
 *  program without a world, such as `tether collect` or `tether sweep`: offers.ts says what it has. */
export type ConnectionState = 'connecting' | 'live' | 'lost' | 'refused' | 'foreign' | 'worldless';

export interface TimedEvent extends WorldEvent {
  id: number;
  time: number; // s of the run, when the page heard of it
}

export interface Notice {
  id: number;
  kind: 'info' | 'error';
  text: string;
}

const MAX_EVENTS = 300;
const MAX_MESSAGES = 200;
const NOTICE_MS = 6000;

export const connection = signal<ConnectionState>('connecting');
/** A world with which the program is to go on. */
export interface Chosen {
  title: string;
  /** Says that it begins. */
  begun: string;
}

/** The one that was chosen here: the program is away until it runs; null: none was. */
export const awaited = signal<Chosen | null>(null);
/** Why the program lets this page in no more, in words for people. */
export const refusal = signal('');
export const lostAt = signal(0); // ms since the epoch
export const retryAt = signal(0); // ms since the epoch, of the next attempt
export const hello = signal<Hello | null>(null);
export const model = signal<Model | null>(null);
/** Of a kept run that is shown in place of the world; null: the world itself is. shown_run.ts finds it. */
export const keptModel = signal<Model | null>(null);
export const status = signal<Status | null>(null);
export const events = signal<TimedEvent[]>([]);
export const messages = signal<WireMessage[]>([]);
export const joystickConnected = signal(false);
export const phantoms = signal<Phantom[]>([]);
export const notices = signal<Notice[]>([]);
/** Of the world: changes when the program or its world was exchanged, so that old samples and meshes are dropped. */
export const generation = signal(0);

export const live = computed(() => connection.value === 'live');
export const signalIds = computed(() => new Map(model.value?.signals.map(({name}, id) => [name, id])));
/** As people write it; "" of a signal that there is not. */
export function unitOf(name: string): string {
  return shownUnit(model.value?.signals[signalIds.value.get(name) ?? -1]?.unit ?? '');
}

let lastId = 0;

/** `stays`: until somebody has seen it. */
export function notify(text: string, kind: Notice['kind'] = 'info', stays = false): void {
  const id = ++lastId;
  notices.value = [...notices.value.slice(-3), {id, kind, text}];
  if (!stays) setTimeout(() => dismiss(id), NOTICE_MS);
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

function keep<T>(list: T[], item: T, most: number): T[] {
  return [...list.slice(Math.max(0, list.length + 1 - most)), item];
}

/** Takes in one message that came as text. */
export function receive(message: ServerMessage): void {
  switch (message.type) {
    case 'hello':
      if (hello.value && hello.value.token !== message.token) events.value = [];
      hello.value = message;
      role.value = message.role;
      break;
    case 'model':
      batch(() => {
        model.value = message;
        messages.value = [];
        phantoms.value = []; // those of this world are told behind it
        joystickConnected.value = false;
        generation.value++;
      });
      break;
    case 'status':
      status.value = message;
      break;
    case 'event':
      events.value = keep(events.value, {...message, id: ++lastId, time: newestFrame()?.time ?? status.value?.time ?? NaN}, MAX_EVENTS);
      break;
    case 'message':
      messages.value = keep(messages.value, message, MAX_MESSAGES);
      break;
    case 'joystick':
      joystickConnected.value = message.connected;
      break;
    case 'phantoms':
      phantoms.value = message.phantoms;
      break;
    case 'error':
      notify(message.text, 'error');
      break;
  }
}
