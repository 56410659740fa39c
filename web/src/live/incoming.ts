// incoming.ts: the program's messages are looked at where they come in; docs/web.md has them.
import {anything, flag, listOf, number, numbers, object, oneOf, orNothing, orNull, recordOf, text, Unexpected} from '../check';
import type {Check} from '../check';
import {ROLES} from '../role';
import type {ServerMessage} from './types';

/** As many numbers. */
function tuple<T extends number[]>(length: T['length']): Check<T> {
  return (value, at) => {
    if (numbers(value, at).length !== length) throw new Unexpected(at, `list of ${length} numbers`);
    return value as T;
  };
}

const vector = tuple<[number, number, number]>(3);
const quaternion = tuple<[number, number, number, number]>(4);
const place = oneOf('red1', 'red2', 'red3', 'blue1', 'blue2', 'blue3');

const shape = object({
  kind: oneOf('plane', 'sphere', 'capsule', 'ellipsoid', 'cylinder', 'box', 'mesh', 'heightfield'),
  body: number, size: vector, position: vector, rotation: quaternion, rgba: quaternion, mesh: number,
  material: orNothing(number), name: text, decoration: flag, hidden: orNothing(flag),
});
const body = object({name: text, parent: number, robot: number, piece: number});

const model = object({
  type: oneOf('model'),
  dynamics: orNothing(flag),
  bodies: listOf(body),
  joints: listOf(object({name: text, kind: oneOf('hinge', 'slide', 'ball', 'free'), body: number, robot: number, lower: orNull(number), upper: orNull(number)})),
  robots: listOf(object({name: text, alliance: text, root: number})),
  signals: listOf(object({name: text, unit: text, robot: number, command: flag})),
  commands: listOf(object({name: text, unit: text, robot: number, lower: number, upper: number})),
  shapes: listOf(shape),
  materials: listOf(object({name: text, texture: number, repeat: tuple<[number, number]>(2), uniform: flag, specular: number, shininess: number, emission: number})),
  textures: listOf(object({cube: flag, width: number, height: number})),
  meshes: number,
  lines: listOf(object({x1: number, y1: number, x2: number, y2: number, width: number, darkness: number, black: flag})),
  rays: listOf(object({name: text, body: number, position: vector, direction: vector, signal: number})),
  stations: orNothing(listOf(object({place, x: number, y: number, heading: number}))),
});

const field = object({name: text, value: text, unit: text, offset: number, size: number, wrong: flag});
const wire = object({
  name: text, protocol: text, robot: number, address: text, state: oneOf('waiting', 'driving', 'late', 'silent'), peer: orNull(text),
  received: number, accepted: number, sent: number, sendFailed: number, late: number, repeated: number, watchdogTrips: number,
  dropped: recordOf(number),
  bad: orNull(object({peer: text, text, size: number, hex: text, fields: listOf(field)})),
  roundTrip: orNull(object({last: number, min: number, mean: number, max: number})),
});
const station = object({enabled: flag, estop: flag, mode: oneOf('autonomous', 'teleop', 'test'), place, matchTime: number, data: text, sticks: listOf(number)});

const MESSAGES = {
  hello: object({
    type: oneOf('hello'), protocol: number, version: text, scene: text, description: text, timestep: number, tick: number,
    pace: oneOf('realtime', 'lockstep', 'fast'), dynamics: flag, token: text, role: oneOf(...ROLES),
    replay: orNull(object({run: text, duration: number})), recording: text,
    refused: orNothing(orNull(object({scene: text, reason: text}))),
  }),
  model,
  status: object({
    type: oneOf('status'), time: number, step: number, factor: number, speed: number, paused: flag, stopped: flag, lateTicks: number,
    wires: listOf(wire), match: oneOf('none', 'autonomous', 'pause', 'teleop', 'over'), stations: listOf(station), framesDropped: number, pages: number,
  }),
  event: object({type: oneOf('event'), step: number, source: text, text}),
  message: object({type: oneOf('message'), wire: number, incoming: flag, step: number, size: number, hex: text, fields: listOf(field)}),
  joystick: object({type: oneOf('joystick'), connected: flag}),
  phantoms: object({type: oneOf('phantoms'), phantoms: listOf(object({id: number, run: text, name: text, shapes: listOf(shape), bodies: listOf(body)}))}),
  error: object({type: oneOf('error'), text}),
};

const CHECKS = new Map<string, Check<ServerMessage>>(Object.entries(MESSAGES));
const kind = object({type: text, protocol: orNothing(anything)});

/** A message as it came. Of a program that speaks another version of the protocol only that is known; a message of a kind that
 *  nobody here knows is null. Throws `Unexpected`. */
export function readMessage(data: string, protocol: number): ServerMessage | null {
  const value: unknown = JSON.parse(data);
  const {type, protocol: spoken} = kind(value, 'message');
  if (type === 'hello' && spoken !== protocol) return value as ServerMessage;
  const check: Check<ServerMessage> | undefined = CHECKS.get(type);
  return check ? check(value, type) : null;
}
