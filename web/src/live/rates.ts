// rates.ts: messages a second of each wire, from the counts in the status.
import {effect, signal} from '@preact/signals';
import {status} from './store';

export interface Rates {
  received: number;
  sent: number;
}

/** By the wire's name. */
export const wireRates = signal(new Map<string, Rates>());

const SMOOTH = 0.3;
let before = new Map<string, Rates>();
let beforeAt = 0;

effect(() => {
  const now = status.value;
  if (!now) {
    before = new Map();
    wireRates.value = new Map();
    return;
  }
  const at = performance.now();
  const seconds = (at - beforeAt) / 1000;
  const counts = new Map(now.wires.map(({name, received, sent}) => [name, {received, sent}]));
  const rates = new Map(
    [...counts].map(([name, count]) => {
      const last = before.get(name);
      const shown = wireRates.peek().get(name);
      const rate = (key: keyof Rates) => {
        const measured = last && seconds > 0 ? Math.max(0, (count[key] - last[key]) / seconds) : 0;
        return shown ? shown[key] + SMOOTH * (measured - shown[key]) : measured;
      };
      return [name, {received: rate('received'), sent: rate('sent')}];
    }),
  );
  before = counts;
  beforeAt = at;
  wireRates.value = rates;
});
