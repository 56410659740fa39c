// theme.ts: light and dark: what the system prefers, until the reader says otherwise.
import {computed, effect, signal} from '@preact/signals';
import {stored} from './settings';

export type Theme = 'system' | 'light' | 'dark';

export const theme = stored<Theme>('theme', 'system');
const query = matchMedia('(prefers-color-scheme: dark)');
const systemDark = signal(query.matches);
query.addEventListener('change', () => (systemDark.value = query.matches));
export const dark = computed(() => (theme.value === 'system' ? systemDark.value : theme.value === 'dark'));

/** To ask the browser makes it compute the page's style, and plots ask for every line that they draw. */
const colours = new Map<string, string>();

effect(() => {
  document.documentElement.dataset.theme = dark.value ? 'dark' : 'light';
  colours.clear();
});

/** A colour of the style sheet, for what draws on a canvas. */
export function cssColor(name: string): string {
  const known = colours.get(name);
  if (known) return known;
  const found = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  if (found) colours.set(name, found); // the style sheet may be on its way
  return found;
}
