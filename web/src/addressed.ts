// addressed.ts: choices of a view that stand in its address, and that this browser remembers as a habit. Whoever gets a shared
// address sees the sender's choices, and keeps his own habits.
import {computed} from '@preact/signals';
import type {Signal} from '@preact/signals';
import {page, param, setParams, shareable} from './route';
import type {Page, Values} from './route';
import {stored} from './settings';

export interface Choice<T extends string> {
  readonly value: T;
  peek: () => T;
  choose: (value: T, others?: Values) => void;
}

const habits: {of: Page; key: string; habit: Signal<string>}[] = [];

/** A choice of page `of`: what the address says, else the habit. `name` is that of the habit; `choose` may change other keys as well. */
export function addressed<T extends string>(of: Page, key: string, name: string, first: T, isKnown: (text: string) => boolean): Choice<T> {
  const habit = stored<string>(name, first);
  habits.push({of, key, habit});
  const chosen = computed(() => [param(key, of).value, habit.value].find((text) => text !== null && isKnown(text)) as T | undefined ?? first);
  return {
    get value() {
      return chosen.value;
    },
    peek: () => chosen.peek(),
    choose(value, others = {}) {
      habit.value = value;
      setParams({[key]: value, ...others}, of);
    },
  };
}

/** The whole address of what is seen: what the page's own address leaves to habit is said. */
export function shared(values: Values = {}): string {
  const mine = habits.filter(({of, key}) => of === page.peek() && param(key, of).peek() === null);
  return shareable({...Object.fromEntries(mine.map(({key, habit}) => [key, habit.peek()])), ...values});
}
