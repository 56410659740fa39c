// mapping.ts: from a joystick to a robot's commands. A mapping is a list of rows, kept for each robot by name.
import type {CommandInfo, Model} from '../live/types';
import type {Axis, Inputs, PadButton} from './input';

/** arcade_left and arcade_right are the two sides of a robot that one stick drives: forward ± turn. */
export type Source = Axis | PadButton | 'arcade_left' | 'arcade_right' | 'dpad_y' | 'dpad_x' | 'triggers';
/** value: scale × input. rate: from where it is, input × scale is added each second. toggle: a press sets `scale`, the next one 0. */
export type RowKind = 'value' | 'rate' | 'toggle';

export interface Row {
  source: Source;
  kind: RowKind;
  /** A command without its robot's prefix, or how a robot without dynamics is moved: @forward m/s, @turn rad/s. */
  target: string;
  scale: number;
}

export const SOURCES: Record<Source, string> = {
  arcade_left: 'Left stick: left side',
  arcade_right: 'Left stick: right side',
  left_y: 'Left stick ↕',
  left_x: 'Left stick ↔',
  right_y: 'Right stick ↕',
  right_x: 'Right stick ↔',
  dpad_y: 'D-pad ↕',
  dpad_x: 'D-pad ↔',
  triggers: 'Triggers',
  a: 'A', b: 'B', x: 'X', y: 'Y',
  up: 'D-pad up', down: 'D-pad down', left: 'D-pad left', right: 'D-pad right',
  l1: 'L1', r1: 'R1', l2: 'L2', r2: 'R2',
  back: 'Back', select: 'Guide', start: 'Start',
};
export const KINDS: Record<RowKind, string> = {value: 'sets', rate: 'moves', toggle: 'switches'};
export const FORWARD = '@forward';
export const TURN = '@turn';
/** Where a command has no limit of its own. */
const UNLIMITED = 1e6;
const DEFAULT_SCALE: Record<string, number> = {torque: 20, velocity: 2, duty: 1, position: 1};

export function readSource(source: Source, inputs: Inputs): number {
  const clamp = (value: number) => Math.max(-1, Math.min(1, value));
  switch (source) {
    case 'arcade_left':
      return clamp(inputs.left_y + inputs.left_x);
    case 'arcade_right':
      return clamp(inputs.left_y - inputs.left_x);
    case 'dpad_y':
      return inputs.up - inputs.down;
    case 'dpad_x':
      return inputs.right - inputs.left;
    case 'triggers':
      return inputs.r2 - inputs.l2;
    default:
      return inputs[source];
  }
}

/** Commands of a robot, by their names without its prefix. */
export function commandsOf(model: Model, robot: number): Map<string, {id: number; info: CommandInfo}> {
  const prefix = `${model.robots[robot]?.name ?? ''}/`;
  const found = new Map<string, {id: number; info: CommandInfo}>();
  model.commands.forEach((info, id) => {
    if (info.robot === robot) found.set(info.name.startsWith(prefix) ? info.name.slice(prefix.length) : info.name, {id, info});
  });
  return found;
}

function scaleOf(name: string, info: CommandInfo): number {
  const limit = Math.min(Math.abs(info.lower), Math.abs(info.upper));
  const kind = name.split('.').pop()!;
  if (limit > 0 && limit < UNLIMITED) return kind === 'torque' ? Math.min(limit, 60) : limit;
  return DEFAULT_SCALE[kind] ?? 1;
}

/** What a robot is likely to want, from the names of its commands. The driver changes what is wrong. */
export function guessMapping(model: Model, robot: number): Row[] {
  const commands = commandsOf(model, robot);
  const rows: Row[] = [];
  const used = new Set<string>();
  const add = (source: Source, target: string, kind: RowKind, scale: number) => {
    rows.push({source, kind, target, scale});
    used.add(target.split('.')[0]!);
  };
  const has = (name: string) => commands.has(name);
  const scaled = (name: string) => scaleOf(name, commands.get(name)!.info);
  if (has('x') && has('y') && has('heading')) {
    add('left_y', FORWARD, 'rate', 2);
    add('left_x', TURN, 'rate', -2.5);
    ['x', 'y', 'heading'].forEach((name) => used.add(name));
  } else {
    for (const part of ['track', 'drive', 'side', 'motor', 'wheel']) {
      const kind = ['duty', 'torque', 'velocity'].find((each) => has(`left_${part}.${each}`) && has(`right_${part}.${each}`));
      if (!kind) continue;
      add('arcade_left', `left_${part}.${kind}`, 'value', scaled(`left_${part}.${kind}`));
      add('arcade_right', `right_${part}.${kind}`, 'value', scaled(`right_${part}.${kind}`));
      break;
    }
  }
  addOthers(commands, used, rows.length > 0, add);
  if (has('grip')) (['a', 'b', 'x', 'y'] as const).forEach((button, i) => rows.push({source: button, kind: 'toggle', target: 'grip', scale: i + 1}));
  return rows;
}

/** A model's own name of a joint, where a robot's file means something else by it. */
const OF_MODEL = /^joint:(.*\/)?/;

/** Joints that are left over, in their order, on the sticks that are left over. */
function addOthers(
  commands: ReturnType<typeof commandsOf>,
  used: Set<string>,
  drives: boolean,
  add: (source: Source, target: string, kind: RowKind, scale: number) => void,
): void {
  const free: Source[] = drives ? ['right_y', 'dpad_y', 'right_x', 'dpad_x'] : ['left_y', 'right_y', 'left_x', 'right_x'];
  for (const name of commands.keys()) {
    const [joint, kind] = name.split('.') as [string, string | undefined];
    // What a motor of the same name turns is its motor's.
    if (used.has(joint) || used.has(joint.replace(OF_MODEL, '')) || joint === 'grip' || !free.length || /wheel|caster/.test(joint)) continue;
    const position = commands.get(`${joint}.position`);
    const best = ['velocity', 'duty', 'torque'].find((each) => commands.has(`${joint}.${each}`));
    if (position) add(free.shift()!, `${joint}.position`, 'rate', 1);
    else if (best) add(free.shift()!, `${joint}.${best}`, 'value', scaleOf(`${joint}.${best}`, commands.get(`${joint}.${best}`)!.info));
    else if (!kind && /^(actuator:)?\w+$/.test(name) && !['reset', 'pause', 'match_timer'].includes(name)) {
      add(free.shift()!, name, 'value', scaleOf(name, commands.get(name)!.info));
    }
  }
}

/** Where a robot without dynamics is, as the driver moves it. */
export interface Place {
  x: number;
  y: number;
  heading: number;
}

/** What is known of what commands move. */
export interface Known {
  /** Where it is now, 0 where nobody can say; null: that is on its way. */
  now: (target: string) => number | null;
  limits: (target: string) => [lower: number, upper: number];
}

const NOTHING: Known = {now: () => 0, limits: () => [-Infinity, Infinity]};

/** What rows remember between two moments. */
export class Driver {
  private readonly values = new Map<string, number>();
  private readonly pressed = new Set<Source>();
  private place: Place;

  constructor(place: Place, private readonly known: Known = NOTHING) {
    this.place = {...place};
  }

  /** Commands by name for these inputs, `seconds` simulated after the last. */
  step(rows: Row[], inputs: Inputs, seconds: number): Map<string, number> {
    const out = new Map<string, number>();
    let forward = 0;
    let turn = 0;
    let placed = false;
    for (const {source, kind, target, scale} of rows) {
      const value = readSource(source, inputs);
      if (target === FORWARD || target === TURN) {
        placed = true;
        if (target === FORWARD) forward += scale * value;
        else turn += scale * value;
      } else if (kind === 'value') {
        out.set(target, (out.get(target) ?? 0) + scale * value);
      } else if (kind === 'rate') {
        this.moveOn(target, value, scale * value * seconds);
      } else {
        this.toggle(source, target, scale, value > 0.5);
      }
    }
    if (placed) this.move(forward, turn, seconds, out);
    for (const [target, value] of this.values) out.set(target, value);
    return out;
  }

  /** A joint stays alone until its stick is moved, and goes on from where it is then: it must not jump. Beyond a limit nothing is
   *  counted, so that it comes back as soon as the stick does. */
  private moveOn(target: string, input: number, by: number): void {
    if (input === 0) return;
    const from = this.values.get(target) ?? this.known.now(target);
    if (from === null) return;
    const [lower, upper] = this.known.limits(target);
    this.values.set(target, Math.max(lower, Math.min(upper, from + by)));
  }

  private toggle(source: Source, target: string, scale: number, down: boolean): void {
    if (down && !this.pressed.has(source)) this.values.set(target, this.values.get(target) === scale ? 0 : scale);
    if (down) this.pressed.add(source);
    else this.pressed.delete(source);
  }

  /** From a unicycle's motion; the heading in the middle of the step keeps circles round. */
  private move(forward: number, turn: number, seconds: number, out: Map<string, number>): void {
    const middle = this.place.heading + (turn * seconds) / 2;
    this.place.x += forward * seconds * Math.cos(middle);
    this.place.y += forward * seconds * Math.sin(middle);
    this.place.heading += turn * seconds;
    out.set('x', this.place.x);
    out.set('y', this.place.y);
    out.set('heading', this.place.heading);
  }
}

/** What is sent when a driver lets go: zero for what a stick held; what was moved or switched stays. */
export function released(rows: Row[]): Map<string, number> {
  return new Map(rows.filter(({kind, target}) => kind === 'value' && !target.startsWith('@')).map(({target}) => [target, 0]));
}
