// completion.ts: what may stand where a cursor stands, from the one schema of all files and the names that the draft knows.
import {ARRAYS} from './wiring';
import type {Schema, SchemaKey} from './types';
import {placeAt} from './yaml_place';
import type {Place} from './yaml_place';

export type FileKind = SchemaKey['file'];

/** What a draft knows by name. */
export interface Names {
  signals: string[];
  commands: string[];
  joints: string[];
  robots: string[];
}

export interface Proposal {
  label: string;
  /** What is put in its place. */
  insert: string;
  detail: string;
  help: string;
}

export interface Proposals {
  from: number;
  list: Proposal[];
}

const schemaPath = (path: string[]) => path.filter((part) => part !== '*').join('.');

function about({type, unit, default: fallback, required}: SchemaKey): string {
  const parts = [type || unit, required ? 'required' : fallback && `default ${fallback}`];
  return parts.filter(Boolean).join(' · ');
}

function keyProposals(keys: SchemaKey[], at: string, {siblings}: Place): Proposal[] {
  const prefix = at ? `${at}.` : '';
  return keys
    .filter(({path}) => path.startsWith(prefix) && path.length > prefix.length && !path.slice(prefix.length).includes('.'))
    .map((key) => ({key, name: key.path.slice(prefix.length)}))
    .filter(({name}) => !siblings.includes(name))
    .map(({key, name}) => ({label: name, insert: key.kind === 'mapping' || key.kind === 'list' ? `${name}:` : `${name}: `, detail: about(key), help: key.help}));
}

/** Whether an entry of the list at this place is a name, and of what. */
function namesOfList(path: string[], names: Names): string[] | null {
  const [wires, protocol, key] = path.filter((part) => part !== '*');
  if (wires !== 'wires' || !protocol || !key) return null;
  if (protocol === 'lockstep-tcp' && key === 'joints') return names.joints;
  const array = ARRAYS[protocol]?.find((one) => one.key === key);
  return array ? [...(array.incoming ? names.commands : names.signals), ...array.extra] : null;
}

function namesOfKey(path: string[], names: Names): string[] {
  const last = path[path.length - 1];
  const plain = schemaPath(path);
  if (last === 'name') {
    const inList = namesOfList(path.slice(0, -1), names);
    if (inList) return inList;
  }
  if (plain === 'joints.name' || last === 'joint' || last === 'joints') return names.joints;
  if (last === 'signal') return names.signals;
  if (last === 'command') return names.commands;
  if (last === 'robot' && path[0] === 'wires') return [...names.robots, 'world'];
  return [];
}

const plainProposal = (detail: string, help = '') => (label: string): Proposal => ({label, insert: label, detail, help});

function valueProposals(schema: Schema, key: SchemaKey | undefined, place: Place, names: Names): Proposal[] {
  const {path} = place;
  const bare = path[path.length - 1] === '*' ? namesOfList(path, names) ?? [] : namesOfKey(path, names);
  const units = path[path.length - 1] === 'unit' ? schema.units : [];
  return [
    ...(key?.choices.map(plainProposal('', key.help)) ?? []),
    ...(key?.kind === 'flag' && !key.choices.length ? ['on', 'off'].map(plainProposal('', key.help)) : []),
    ...bare.map(plainProposal('')),
    ...units.map(({name, si}) => plainProposal(name === si ? '' : `of ${si}`)(name)),
  ];
}

/** What may stand at the cursor; null: nothing is known. */
export function proposals(schema: Schema, kind: FileKind, text: string, cursor: number, names: Names): Proposals | null {
  const place = placeAt(text, cursor);
  const keys = schema.keys.filter(({file}) => file === kind);
  const at = schemaPath(place.path);
  const list =
    place.kind === 'value'
      ? valueProposals(schema, keys.find(({path}) => path === at), place, names)
      : [...keyProposals(keys, at, place), ...(place.path[place.path.length - 1] === '*' ? valueProposals(schema, undefined, place, names) : [])];
  return list.length ? {from: place.from, list: unique(list)} : null;
}

function unique(list: Proposal[]): Proposal[] {
  const seen = new Set<string>();
  return list.filter(({label}) => !seen.has(label) && seen.add(label));
}
