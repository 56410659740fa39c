// settings.ts: what the page remembers in the browser. Broken or forbidden storage only means that nothing is remembered.
import {effect, signal} from '@preact/signals';
import type {Signal} from '@preact/signals';

function read(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(`tether.${key}`) ?? 'null');
  } catch {
    return null;
  }
}

export function load<T>(key: string, fallback: T): T {
  const value = read(key);
  return value !== null && typeof value === typeof fallback && Array.isArray(value) === Array.isArray(fallback)
    ? (value as T)
    : fallback;
}

/** false: private browsing, a full disk; the setting holds until the page is left. */
export function save(key: string, value: unknown): boolean {
  try {
    localStorage.setItem(`tether.${key}`, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export function stored<T>(key: string, fallback: T): Signal<T> {
  const value = signal(load(key, fallback));
  effect(() => void save(key, value.value));
  return value;
}

export interface Shared<T> {
  readonly value: T;
  peek: () => T;
  /** As it is by now, whichever tab has changed it. */
  fresh: () => T;
  change: (to: (now: T) => T) => void;
}

/** What all tabs of the browser write in turn, such as a list that grows: none puts its own old one over that of another. */
export function shared<T>(key: string, fallback: T): Shared<T> {
  const known = signal(load(key, fallback));
  let kept = true; // the browser has what is known here
  const fresh = () => (kept ? (known.value = load(key, known.peek())) : known.peek());
  addEventListener('storage', (event) => {
    if (event.key === `tether.${key}`) fresh();
  });
  return {
    get value() {
      return known.value;
    },
    peek: () => known.peek(),
    fresh,
    change(to) {
      const next = to(fresh());
      known.value = next;
      kept = save(key, next);
    },
  };
}
