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

export function save(key: string, value: unknown): void {
  try {
    localStorage.setItem(`tether.${key}`, JSON.stringify(value));
  } catch {
    // Private browsing, a full disk: the setting holds until the page is left.
  }
}

export function stored<T>(key: string, fallback: T): Signal<T> {
  const value = signal(load(key, fallback));
  effect(() => save(key, value.value));
  return value;
}
