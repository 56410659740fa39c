// route.ts: which page is shown: what stands behind # in the address.
import {signal} from '@preact/signals';

export const PAGES = ['world', 'signals', 'wires', 'drive', 'telemetry', 'runs', 'sweeps', 'trials'] as const;
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
};

function current(): Page {
  const name = location.hash.slice(1).split(/[/?]/)[0];
  return PAGES.find((page) => page === name) ?? 'world';
}

export const page = signal<Page>(current());
addEventListener('hashchange', () => (page.value = current()));

export function go(to: Page): void {
  location.hash = to;
}
