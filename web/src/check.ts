// check.ts: what comes from the program is looked at once, at the door: behind it everything is of the type that it says.

/** Throws `Unexpected` unless the value is of the type; `at` says where it stands in the answer. */
export type Check<T> = (value: unknown, at: string) => T;
export type Checked<C> = C extends Check<infer T> ? T : never;

export class Unexpected extends Error {
  constructor(
    at: string,
    what: string,
  ) {
    super(`the program's answer is not understood: ${at || 'it'} is no ${what}; this page may be of another version, reload it`);
  }
}

function plain<T>(type: string, what: string): Check<T> {
  return (value, at) => {
    if (typeof value !== type) throw new Unexpected(at, what);
    return value as T;
  };
}

export const number = plain<number>('number', 'number');
export const text = plain<string>('string', 'text');
export const flag = plain<boolean>('boolean', 'true or false');
/** Whatever it is: who asks does not look at it. */
export const anything: Check<unknown> = (value) => value;

/** Of a table. */
export const cell: Check<string | number | boolean | null> = (value, at) => {
  if (value !== null && !['string', 'number', 'boolean'].includes(typeof value)) throw new Unexpected(at, 'cell of a table');
  return value as string | number | boolean | null;
};

export function orNull<T>(check: Check<T>): Check<T | null> {
  return (value, at) => (value === null ? null : check(value, at));
}

/** A key that may be left out. */
export function orNothing<T>(check: Check<T>): Check<T | undefined> {
  return (value, at) => (value === undefined ? undefined : check(value, at));
}

export function either<A, B>(one: Check<A>, other: Check<B>): Check<A | B> {
  return (value, at) => {
    try {
      return one(value, at);
    } catch {
      return other(value, at);
    }
  };
}

export function oneOf<const T extends string>(...texts: T[]): Check<T> {
  return (value, at) => {
    if (!texts.includes(value as T)) throw new Unexpected(at, texts.join(', '));
    return value as T;
  };
}

export function listOf<T>(each: Check<T>): Check<T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) throw new Unexpected(at, 'list');
    for (let i = 0; i < value.length; i++) each(value[i], `${at}[${i}]`);
    return value as T[];
  };
}

/** A list of numbers, of any length: quicker than `listOf`. null, which is JSON's word for what is no number, becomes NaN. */
export const numbers: Check<number[]> = (value, at) => {
  if (!Array.isArray(value)) throw new Unexpected(at, 'list of numbers');
  for (let i = 0; i < value.length; i++) {
    if (value[i] === null) value[i] = NaN;
    else if (typeof value[i] !== 'number') throw new Unexpected(`${at}[${i}]`, 'number');
  }
  return value as number[];
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Optional<S> = {[K in keyof S]: undefined extends S[K] ? K : never}[keyof S];
type Shaped<S> = {[K in Exclude<keyof S, Optional<S>>]: S[K]} & {[K in Optional<S>]?: S[K]};

/** An object with these keys; others, of a newer program, are let through. */
export function object<S extends Record<string, Check<unknown>>>(keys: S): Check<Shaped<{[K in keyof S]: Checked<S[K]>}>> {
  const entries = Object.entries(keys);
  return (value, at) => {
    if (!isObject(value)) throw new Unexpected(at, 'object');
    for (const [key, check] of entries) check(value[key], at ? `${at}.${key}` : key);
    return value as never;
  };
}

/** An object whose keys are names. */
export function recordOf<T>(each: Check<T>): Check<Record<string, T>> {
  return (value, at) => {
    if (!isObject(value)) throw new Unexpected(at, 'object');
    for (const [key, inner] of Object.entries(value)) each(inner, at ? `${at}.${key}` : key);
    return value as Record<string, T>;
  };
}
