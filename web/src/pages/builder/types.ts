// types.ts: drafts of scenes over HTTP: docs/web.md.
import * as expect from '../../check';
import type {Checked} from '../../check';
import type {Model} from '../../live/types';

const entry = expect.object({
  key: expect.text, // of the wire's list
  index: expect.number,
  name: expect.text,
  unit: expect.text,
  scale: expect.number,
  offset: expect.number,
  wrap: expect.text,
});

const wire = expect.object({
  name: expect.text,
  protocol: expect.text,
  languages: expect.listOf(expect.text), // for which a client can be made
  inputs: expect.listOf(entry), // to the simulator
  outputs: expect.listOf(entry),
});
export type DraftWire = Checked<typeof wire>;

const problem = expect.object({
  file: expect.text,
  line: expect.number, // from 1; 0: of the file as a whole
  column: expect.number,
  severity: expect.oneOf('error', 'warning'),
  text: expect.text,
});
export type Problem = Checked<typeof problem>;

const named = expect.object({name: expect.text, unit: expect.text, robot: expect.number});
export type Named = Checked<typeof named>;

export const draftState = expect.object({
  draft: expect.text,
  name: expect.text,
  /** Another one with each change. */
  revision: expect.number,
  /** The scene's file. */
  main: expect.text,
  files: expect.listOf(expect.object({path: expect.text, size: expect.number})),
  /** No problem is an error. */
  runs: expect.flag,
  problems: expect.listOf(problem),
  robots: expect.listOf(expect.object({name: expect.text, file: expect.text, model: expect.text})),
  wires: expect.listOf(wire),
  signals: expect.listOf(named),
  commands: expect.listOf(named),
});
export type DraftState = Checked<typeof draftState>;

const draftEntry = expect.object({draft: expect.text, name: expect.text, main: expect.text, changed: expect.text, untouched: expect.flag});
export type DraftEntry = Checked<typeof draftEntry>;
export const drafts = expect.listOf(draftEntry);
export const madeDraft = expect.object({draft: expect.text, main: expect.text});
export const changedFile = expect.object({revision: expect.number});

const schemaKey = expect.object({
  file: expect.oneOf('scene', 'robot', 'arena'),
  /** As wires.float-udp.bind; an element of a list has its list's path. */
  path: expect.text,
  kind: expect.text,
  entries: expect.orNull(expect.text),
  required: expect.flag,
  unit: expect.text,
  default: expect.text,
  choices: expect.listOf(expect.text),
  type: expect.text,
  help: expect.text,
});
export type SchemaKey = Checked<typeof schemaKey>;

export const schema = expect.object({
  keys: expect.listOf(schemaKey),
  units: expect.listOf(expect.object({name: expect.text, si: expect.text, scale: expect.number})),
});
export type Schema = Checked<typeof schema>;

export const client = expect.object({file: expect.text, text: expect.text, start: expect.text});
export type Client = Checked<typeof client>;

export const saved = expect.object({name: expect.text, file: expect.text});

const vector = expect.numbers;
/** As the message `model`, with where each body is at the beginning: x y z w x y z. */
export const draftModel: expect.Check<DraftModel> = (value, at) => {
  expect.object({
    revision: expect.number,
    poses: expect.listOf(vector),
    bodies: expect.listOf(expect.object({name: expect.text, parent: expect.number, robot: expect.number})),
    joints: expect.listOf(expect.object({name: expect.text, kind: expect.text, robot: expect.number})),
    shapes: expect.listOf(expect.object({kind: expect.text, body: expect.number, size: vector, position: vector, rotation: vector, rgba: vector})),
  })(value, at);
  return value as DraftModel;
};
export type DraftModel = Model & {poses: number[][]; revision: number};
