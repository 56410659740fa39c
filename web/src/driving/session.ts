// session.ts: driving while it lasts: fifty times a second from the joystick to the robot, or to a core as its joystick.
import {computed, effect, signal, untracked} from '@preact/signals';
import {addressed} from '../addressed';
import {send, sendSurely} from '../live/connection';
import {newestFrame} from '../live/frames';
import {goLive, isLive} from '../live/moment';
import {lastValue, sampleTime, want} from '../live/samples';
import {events, hello, live, model, notify, signalIds} from '../live/store';
import type {PageMessage} from '../live/types';
import {param, setParams} from '../route';
import {load, save} from '../settings';
import {noInputs, readInputs, releaseAll, takeKeys} from './input';
import type {Inputs} from './input';
import {stickSender} from './joysticks';
import {KEYBOARD_KEYS} from './sticks';
import {commandsOf, Driver, guessMapping, released} from './mapping';
import type {Known, Place, Row} from './mapping';

/** robot: its commands. station: joysticks of driver stations, for robot programs. joystick: that of a core. */
export type Use = 'robot' | 'station' | 'joystick';

const PERIOD_MS = 20;
/** Commands that don't change are said again, so that no watchdog takes the driver for gone. */
const REPEAT_MS = 100;

const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) < 65536;

export const use = addressed<Use>('drive', 'use', 'drive.use', 'robot', (text) => ['robot', 'station', 'joystick'].includes(text));
export const core = addressed<string>('drive', 'core', 'drive.core', '127.0.0.1:4000', (text) => /^\S{1,200}$/.test(text));
/** Where the core's heartbeat is heard. */
export const heartbeatPort = addressed<string>('drive', 'heartbeat', 'drive.heartbeat', '2000', isPort);
/** Of the world's robots; the address has its name. */
export const robot = computed(() => Math.max(0, (model.value?.robots ?? []).findIndex(({name}) => name === param('robot').value)));
export const driving = signal(false);
export const inputs = signal<Inputs>(noInputs());
/** What was last sent, for the page. */
export const sent = signal(new Map<string, number>());
export const mapping = signal<Row[]>([]);

let stopDriving: (() => void) | null = null;

function keyOf(index: number): string {
  return `mapping.${model.peek()?.robots[index]?.name ?? ''}`;
}

export function chooseRobot(index: number): void {
  setParams({robot: model.peek()?.robots[index]?.name ?? null});
}

export function setMapping(rows: Row[]): void {
  mapping.value = rows;
  save(keyOf(robot.peek()), rows);
}

export function guessAgain(): void {
  if (model.peek()) setMapping(guessMapping(model.peek()!, robot.peek()));
}

function placeOf(index: number): Place {
  const root = model.peek()?.robots[index]?.root ?? 0;
  const poses = newestFrame()?.poses;
  if (!poses) return {x: 0, y: 0, heading: 0};
  const [x, y, , w, qx, qy, qz] = poses.subarray(7 * root, 7 * root + 7) as unknown as number[];
  return {x: x!, y: y!, heading: Math.atan2(2 * (w! * qz! + qx! * qy!), 1 - 2 * (qy! ** 2 + qz! ** 2))};
}

/** How often this robot was reset: with the world, or by itself, of which an event tells. */
function resetsOf(index: number): string {
  const own = `reset ${model.peek()?.robots[index]?.name ?? ''}`;
  const last = events.peek().filter((event) => event.source === 'world' && event.text === own).pop();
  return `${newestFrame()?.epoch} ${last?.id}`;
}

type Commands = ReturnType<typeof commandsOf>;

/** The signal that tells where something is that a command moves: that of the same name, or else what was commanded last. */
function signalOf(commands: Commands, target: string): string | undefined {
  const name = commands.get(target)?.info.name;
  return name && [name, `command:${name}`].find((each) => signalIds.peek().has(each));
}

/** Values count from the next sample on: the last that came may be of long ago, or of before a reset. */
function knownOf(commands: Commands): Known {
  const before = sampleTime();
  return {
    now: (target) => {
      const name = signalOf(commands, target);
      if (!name) return 0;
      const value = sampleTime() === before ? NaN : lastValue(name);
      return Number.isFinite(value) ? value : null;
    },
    limits: (target) => {
      const info = commands.get(target)?.info;
      return info ? [info.lower, info.upper] : [-Infinity, Infinity];
    },
  };
}

/** s simulated that one step may make up for. */
const LONGEST_STEP = 0.1;

/** Moves what is driven. `end` gives what lets go of all that it has moved itself, whatever is chosen by then. */
interface Sender {
  step: (now: Inputs) => void;
  end: () => PageMessage[];
}

/** Sends to a robot what changed, and everything now and then. It moves by the world's clock as the frames tell it, so that it is
 *  as fast as it should be in a world that is slow, paused or late. After a reset it begins anew, from where the robot is then. */
function robotSender(): Sender {
  const index = robot.peek();
  const commands = commandsOf(model.peek()!, index);
  const begin = () => new Driver(placeOf(index), knownOf(commands));
  let driver = begin();
  let resets = resetsOf(index);
  let seen = newestFrame();
  const last = new Map<string, number>();
  let held = new Map<string, number>(); // what is sent when the driver lets go
  let repeated = 0;
  const stopWanting = effect(() => want(mapping.value.flatMap(({kind, target}) => (kind === 'rate' && signalOf(commands, target)) || []), false));
  /** One that is out of its range would spoil the others. */
  const inRange = (values: Map<string, number>): [number, number][] =>
    [...values].flatMap(([name, value]) => {
      const command = commands.get(name);
      return command ? [[command.id, Math.max(command.info.lower, Math.min(command.info.upper, value))]] : [];
    });
  const step = (now: Inputs) => {
    if (resets !== resetsOf(index)) {
      driver = begin();
      resets = resetsOf(index);
      last.clear();
    }
    const frame = newestFrame();
    const elapsed = frame && seen && frame.epoch === seen.epoch ? frame.time - seen.time : 0;
    seen = frame;
    const values = driver.step(mapping.peek(), now, Math.max(0, Math.min(LONGEST_STEP, elapsed)));
    const before = held;
    held = released(mapping.peek());
    for (const [name, value] of before) if (!held.has(name) && !values.has(name)) values.set(name, value); // its row went
    const all = performance.now() - repeated > REPEAT_MS;
    if (all) repeated = performance.now();
    const changed = new Map([...values].filter(([name, value]) => all || last.get(name) !== value));
    for (const [name, value] of changed) last.set(name, value);
    const pairs = inRange(changed);
    if (pairs.length) send({type: 'command', values: pairs, epoch: newestFrame()?.epoch});
    sent.value = values;
  };
  const end = (): PageMessage[] => {
    stopWanting();
    const pairs = inRange(held);
    return pairs.length ? [{type: 'command', values: pairs}] : [];
  };
  return {step, end};
}

function joystickSender(): Sender {
  const step = (now: Inputs) =>
    void send({
      type: 'joystick',
      core: core.peek(),
      port: Number(heartbeatPort.peek()),
      axes: [now.left_x, now.left_y, now.right_x, now.right_y],
      dpad: [now.up, now.down, now.left, now.right],
      buttons: [now.a, now.b, now.x, now.y],
      back: now.back,
      select: now.select,
      start: now.start,
    });
  return {step, end: () => [{type: 'joystick', core: null}]};
}

const SENDERS: Record<Use, () => Sender> = {robot: robotSender, station: stickSender, joystick: joystickSender};

export function start(): void {
  if (driving.peek() || !live.peek()) return;
  if (!isLive.peek()) goLive(); // who drives has to see what moves
  const toStations = use.peek() === 'station';
  const world = hello.peek()?.token;
  const sender = SENDERS[use.peek()]();
  const stopKeys = toStations ? takeKeys((code) => KEYBOARD_KEYS.has(code)) : takeKeys();
  const timer = setInterval(() => {
    const now = readInputs(!toStations);
    inputs.value = now;
    if (!live.peek()) stop('The connection was lost: driving has ended');
    else sender.step(now);
  }, PERIOD_MS);
  const onHidden = () => document.hidden && stop('The page was hidden: driving has ended');
  const onBlur = () => releaseAll();
  document.addEventListener('visibilitychange', onHidden);
  addEventListener('blur', onBlur);
  driving.value = true;
  stopDriving = () => {
    clearInterval(timer);
    stopKeys();
    document.removeEventListener('visibilitychange', onHidden);
    removeEventListener('blur', onBlur);
    const last = sender.end();
    if (hello.peek()?.token === world) last.forEach((message) => sendSurely(message)); // another world has other robots and other ids
  };
}

export function stop(why?: string): void {
  if (!driving.peek()) return;
  driving.value = false;
  stopDriving?.();
  stopDriving = null;
  inputs.value = noInputs();
  sent.value = new Map();
  if (why) notify(why, 'error');
}

// By hand, or by the way back.
effect(() => {
  use.value;
  untracked(stop);
});

// Another world has other robots and other ids; another robot has commands of its own.
effect(() => {
  const [described, index] = [model.value, robot.value];
  untracked(stop);
  mapping.value = described ? load(keyOf(index), guessMapping(described, index)) : [];
});
