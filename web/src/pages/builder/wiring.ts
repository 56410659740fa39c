// wiring.ts: the arrays of a wire as they stand in a scene: which it has, and what an entry says.
import {read, set, setList} from './yaml_edit';
import type {Plain} from './yaml_edit';
import type {Schema} from './types';

export interface Entry {
  name: string;
  unit: string; // '': SI
  scale: number; // negative: the other sign
  offset: number;
  wrap: string;
}

export interface ArrayKind {
  key: string;
  title: string;
  /** Whether commands come in it, or signals go out. */
  incoming: boolean;
  /** Entries at most, as the wire's documents say. */
  most: number;
  /** Bytes of one entry, where the message is nothing but this array. */
  bytes: number;
  /** Names besides signals or commands. */
  extra: string[];
}

const out = (key: string, title: string, most: number, bytes = 0, extra: string[] = []): ArrayKind => ({key, title, incoming: false, most, bytes, extra: [...extra, 'none']});
const into = (key: string, title: string, most: number, bytes = 0, extra: string[] = []): ArrayKind => ({key, title, incoming: true, most, bytes, extra: [...extra, 'none']});

/** Of each protocol that has arrays; the others are written in the file. */
export const ARRAYS: Record<string, ArrayKind[]> = {
  'float-udp': [out('sensors', 'To the controller', 256, 4), into('commands', 'From the controller', 256, 4, ['stamp'])],
  'sharp-json': [out('sensors', 'To the controller', 3), into('commands', 'From the controller', 3)],
  xrp: [
    into('motors', 'Motors', 4), into('servos', 'Servos', 4), into('outputs', 'Digital outputs', 32),
    out('encoders', 'Encoders', 4), out('rates', 'Rates of the encoders', 4), out('inputs', 'Digital inputs', 32), out('analogs', 'Analog inputs', 8),
    out('gyro', 'Gyro: rates x, y, z, angles x, y, z', 6), out('accelerometer', 'Accelerometer x, y, z', 3),
  ],
};

/** Protocols as a person chooses one, with what they are for, and the keys that people change; the others are written in the file. */
export const PROTOCOLS: {name: string; title: string; help: string; keys: string[]}[] = [
  {name: 'float-udp', title: 'Numbers over UDP', help: 'Arrays of floats in an order of your own; a client is made in Python, Java, C or C++.', keys: ['bind', 'peer', 'period', 'watchdog']},
  {name: 'xrp', title: 'XRP', help: 'A WPILib program for the XRP.', keys: ['bind', 'period', 'watchdog']},
  {name: 'halsim-ws', title: 'WPILib simulation', help: 'A WPILib robot program, over WebSocket. Its devices are written in the file.', keys: ['connect', 'listen']},
  {name: 'lockstep-tcp', title: 'Lock-step over TCP', help: 'A controller that the world waits for; joints only.', keys: ['listen', 'steps_per_frame']},
  {name: 'ezphysics', title: 'ezphysics', help: 'Clients of ezphysics.', keys: ['listen', 'mode']},
  {name: 'sharp-json', title: 'sharp-json', help: 'Three motors and their encoders, as the robot sharp has them.', keys: ['bind', 'peer', 'watchdog']},
];

export interface WireInFile {
  index: number;
  protocol: string;
  robot: string;
  keys: Record<string, Plain>;
}

function isMapping(value: Plain | undefined): value is {[key: string]: Plain} {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The wires of a scene's text, in order. */
export function wiresIn(text: string): WireInFile[] {
  const {wires = null} = read(text) ?? {};
  return (Array.isArray(wires) ? wires : []).flatMap((wire, index) => {
    const [protocol] = isMapping(wire) ? Object.keys(wire) : typeof wire === 'string' ? [wire] : [];
    if (!protocol) return [];
    const keys = isMapping(wire) && isMapping(wire[protocol]) ? (wire[protocol] as Record<string, Plain>) : {};
    return [{index, protocol, robot: typeof keys.robot === 'string' ? keys.robot : '', keys}];
  });
}

const numberOr = (value: Plain | undefined, fallback: number) => (typeof value === 'number' && Number.isFinite(value) ? value : fallback);
const textOf = (value: Plain | undefined) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

/** A list's entries, whether written as a name or as a mapping. */
export function entriesIn(wire: WireInFile, key: string): Entry[] {
  const list = wire.keys[key];
  if (!Array.isArray(list)) return [];
  return list.map((item) => {
    const keys: {[key: string]: Plain} = isMapping(item) ? item : {name: item};
    return {name: textOf(keys.name), unit: textOf(keys.unit), scale: numberOr(keys.scale, 1), offset: numberOr(keys.offset, 0), wrap: textOf(keys.wrap)};
  });
}

/** As a person writes an entry: nothing that goes without saying. */
function written({name, unit, scale, offset, wrap}: Entry): Plain {
  return {
    name,
    ...(unit && {unit}),
    ...(scale !== 1 && {scale}),
    ...(offset !== 0 && {offset}),
    ...(wrap && wrap !== 'none' && {wrap}),
  };
}

/** The text with a wire's list as `entries` say. Those that did not change stay as they are written. */
export function withEntries(text: string, wire: WireInFile, key: string, entries: Entry[]): string {
  const before = wire.keys[key];
  const old = entriesIn(wire, key).map((entry, i) => ({entry: JSON.stringify(entry), item: (before as Plain[])[i]!}));
  const items = entries.map((entry) => {
    const at = old.findIndex((one) => one.entry === JSON.stringify(entry));
    return at < 0 ? written(entry) : old.splice(at, 1)[0]!.item;
  });
  return setList(text, ['wires', wire.index, wire.protocol, key], items);
}

/** A wire more: with the robot it drives where there are several. */
export function withWire(text: string, protocol: string, robot: string): string {
  const count = wiresIn(text).length;
  const keys: {[key: string]: Plain} = robot ? {robot} : {};
  if (protocol === 'float-udp') Object.assign(keys, {sensors: [{name: 'time'}], commands: [{name: 'stamp'}]});
  return set(text, ['wires', count], {[protocol]: Object.keys(keys).length ? keys : null});
}

/** Units that a value of this SI unit can be said in, the SI one first. */
export function unitsFor(schema: Schema | null, si: string): string[] {
  return schema?.units.filter((unit) => unit.si === si && unit.name !== si).map(({name}) => name) ?? [];
}

/** What a new entry is like. */
export function entryOf(name: string): Entry {
  return {name, unit: '', scale: 1, offset: 0, wrap: ''};
}

/** A list with one of its entries elsewhere; `to` counts places between entries. */
export function moved<T>(list: T[], from: number, to: number): T[] {
  const rest = list.filter((_, i) => i !== from);
  rest.splice(to > from ? to - 1 : to, 0, list[from]!);
  return rest;
}
