// route.ts: the address of what is seen: #PAGE?key=value&…. A reload, the way back, and whoever gets the address see the same.
// Keys of all pages stay when another page is opened; the others belong to their page, which finds them again when it is opened again.
import {computed, signal} from '@preact/signals';
import type {ReadonlySignal} from '@preact/signals';

export const PAGES = ['world', 'signals', 'wires', 'drive', 'telemetry', 'runs', 'sweeps', 'trials', 'build'] as const;
export type Page = (typeof PAGES)[number];

export const TITLES: Record<Page, string> = {
  world: 'World',
  signals: 'Signals',
  wires: 'Wires',
  drive: 'Drive',
  telemetry: 'Telemetry',
  runs: 'Runs',
  sweeps: 'Sweeps',
  trials: 'Trials',
  build: 'Build',
};

/** Of all pages: the kept run that is shown, the moment of it, the stretch that plots and that the time line show, the robot that is looked at. */
const SHARED = ['run', 't', 'from', 'to', 'bar', 'robot'];
/** Addresses as they were written before: #sweeps/ID, #world/race/ID. */
const OLD_PATHS: [RegExp, string][] = [[/^sweeps\/([^/]+)$/, 'sweep'], [/^world\/race\/([^/]+)$/, 'race']];
/** ms: browsers refuse an address that changes with every movement of a hand. */
const WRITE_MS = 150;

/** A key's value; several where it is given several times; null: it is not there. */
export type Values = Record<string, string | string[] | null>;
type Keys = ReadonlyMap<string, readonly string[]>;

interface Address {
  page: Page;
  shared: Keys;
  /** Of each page that was opened. */
  own: Readonly<Partial<Record<Page, Keys>>>;
}

const NONE: Keys = new Map();

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // somebody mistyped it
  }
}

/** What an address says. */
export function parse(hash: string): {page: Page; keys: Keys} {
  const [path = '', query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  const given = new URLSearchParams(query);
  for (const [pattern, key] of OLD_PATHS) {
    const id = pattern.exec(path)?.[1];
    if (id) given.set(key, decoded(id));
  }
  const keys = new Map([...new Set(given.keys())].map((key) => [key, given.getAll(key)]));
  return {page: PAGES.find((name) => name === path.split('/')[0]) ?? 'world', keys};
}

/** The address of a page with keys, in letters that people can read. */
export function format(page: Page, ...keys: Keys[]): string {
  const query = new URLSearchParams(keys.flatMap((each) => [...each].flatMap(([key, values]) => values.map((value) => [key, value]))));
  const text = query.toString().replace(/%2C/g, ',').replace(/%3A/g, ':').replace(/%2F/g, '/');
  return `#${page}${text && `?${text}`}`;
}

function only(keys: Keys, shared: boolean): Keys {
  return new Map([...keys].filter(([key]) => SHARED.includes(key) === shared));
}

function read(before?: Address): Address {
  const {page, keys} = parse(location.hash);
  return {page, shared: only(keys, true), own: {...before?.own, [page]: only(keys, false)}};
}

const address = signal<Address>(read());

export const page: ReadonlySignal<Page> = computed(() => address.value.page);

function find({shared, own, page: shown}: Address, name: string, of: Page = shown): readonly string[] {
  return (SHARED.includes(name) ? shared : own[of])?.get(name) ?? [];
}

const made = new Map<string, ReadonlySignal<string[]>>();

/** All values of a key that may be given several times. */
export function params(name: string, of?: Page): ReadonlySignal<string[]> {
  const id = `${of ?? ''}?${name}`;
  let found = made.get(id);
  // One text a list, so that nobody is told of a list that is the same.
  const text = found ? null : computed(() => JSON.stringify(find(address.value, name, of)));
  if (text) made.set(id, (found = computed(() => JSON.parse(text.value) as string[])));
  return found!;
}

const firsts = new Map<string, ReadonlySignal<string | null>>();

/** A key's value; null: the address doesn't have it. A key of one page is looked for on the page that is shown, or on `of`, as it was left. */
export function param(name: string, of?: Page): ReadonlySignal<string | null> {
  const id = `${of ?? ''}?${name}`;
  let found = firsts.get(id);
  if (!found) firsts.set(id, (found = computed(() => find(address.value, name, of)[0] ?? null)));
  return found;
}

function changed(keys: Keys, values: Values): Keys {
  const next = new Map(keys);
  for (const [key, value] of Object.entries(values)) {
    const list = value === null ? [] : [value].flat();
    if (list.length) next.set(key, list);
    else next.delete(key);
  }
  return next;
}

function split(values: Values, shared: boolean): Values {
  return Object.fromEntries(Object.entries(values).filter(([key]) => SHARED.includes(key) === shared));
}

function withValues(before: Address, of: Page, values: Values): Address {
  return {
    ...before,
    shared: changed(before.shared, split(values, true)),
    own: {...before.own, [of]: changed(before.own[of] ?? NONE, split(values, false))},
  };
}

function textOf({page: shown, shared, own}: Address): string {
  return format(shown, own[shown] ?? NONE, shared);
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Of the browser, as it was last read or written here. */
let known = location.hash;

function note(): void {
  clearTimeout(timer);
  timer = undefined;
  known = location.hash;
}

/** Writes what is pending: before somebody leaves, copies the address, or goes on. Where somebody has just followed a link, of which the
 *  browser tells next, nothing is written over it. */
function flush(): void {
  if (location.hash !== known) return;
  const text = textOf(address.peek());
  if (text !== known) history.replaceState(history.state, '', text);
  note();
}

/** Changes keys, of the page that is shown or of another; null removes one. No new entry in the history. */
export function setParams(values: Values, of: Page = address.peek().page): void {
  address.value = withValues(address.peek(), of, values);
  timer ??= setTimeout(flush, WRITE_MS);
}

/** Where a link to a page leads: to what was seen there last, with `values` changed. */
export function addressOf(to: Page, values: Values = {}): string {
  return textOf({...withValues(address.value, to, values), page: to});
}

/** Opens a page, as a new entry in the history. */
export function go(to: Page, values: Values = {}): void {
  flush();
  address.value = {...withValues(address.peek(), to, values), page: to};
  history.pushState(null, '', textOf(address.peek()));
  note();
}

function withoutToken(): URL {
  const url = new URL(location.href);
  url.searchParams.delete('token');
  return url;
}

/** Takes the token out of the address, for history, bookmarks, and who looks at the screen. To be called once the program has answered
 *  this browser without it: by the cookie that it came to be. */
export function forgetToken(): void {
  const {href} = withoutToken();
  if (href !== location.href) history.replaceState(history.state, '', href);
}

/** The whole address of what is seen now, for somebody else, who has a token of his own; `values`: what the address leaves out since it
 *  is this browser's habit. */
export function shareable(values: Values = {}): string {
  flush();
  const now = address.peek();
  const url = withoutToken();
  url.hash = textOf(withValues(now, now.page, values));
  return url.href;
}

addEventListener('hashchange', () => {
  note();
  address.value = read(address.peek());
});
addEventListener('pagehide', flush);
