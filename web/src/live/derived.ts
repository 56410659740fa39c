// derived.ts: formulas compiled for what is shown, and for the world that computes now; compiled once, whoever asks.
import {compile, ExpressionError} from './expression';
import type {Compiled} from './expression';
import {keptModel, model} from './store';
import type {Model} from './types';

const MOST_COMPILED = 500;
type Known = Map<string, Compiled | string>;
/** By the model, since another has other signals. */
const known = new WeakMap<Model, {units: ReadonlyMap<string, string>; compiled: Known}>();

function lookUp(name: string, of: Model | null): Compiled | string {
  if (!of) return 'There is no world yet.';
  let found = known.get(of);
  if (!found) known.set(of, (found = {units: new Map(of.signals.map(({name: signal, unit}) => [signal, unit])), compiled: new Map()}));
  const {units, compiled} = found;
  const before = compiled.get(name);
  if (before !== undefined) return before;
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  let made: Compiled | string;
  try {
    made = compile(name, (signal) => units.get(signal));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    made = error.message;
  }
  compiled.set(name, made);
  return made;
}

/** null: it can't be evaluated with the signals that are shown; problemOf() says why. */
export function derived(name: string): Compiled | null {
  const found = lookUp(name, keptModel.value ?? model.value);
  return typeof found === 'string' ? null : found;
}

/** Of the world that computes now. */
export function derivedLive(name: string): Compiled | null {
  const found = lookUp(name, model.value);
  return typeof found === 'string' ? null : found;
}

export function problemOf(name: string): string {
  const found = lookUp(name, keptModel.value ?? model.value);
  return typeof found === 'string' ? found : '';
}
