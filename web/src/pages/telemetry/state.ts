// state.ts: whether a device sends: what tiles say of it.
import {formatDuration} from '../../format';
import type {Device} from './types';

export type Liveness = 'online' | 'stale' | 'gone';

/** s without a message after which a device is stale, and gone. */
const STALE = 10;
const GONE = 600;

export function livenessOf(silence: number | null): Liveness {
  return silence === null || silence > GONE ? 'gone' : silence > STALE ? 'stale' : 'online';
}

/** What it means, in words. */
export function livenessText({silence}: Device): string {
  if (silence === null) return 'nothing came since the program began';
  return silence > STALE ? `nothing came for ${formatDuration(Math.floor(silence))}` : 'messages come';
}

interface Count {
  time: number; // ms
  values: number;
  /** A second; null: not known yet. */
  rate: number | null;
}

/** s over which a rate is taken, so that whoever sends once a second has one that stands still. */
const OVER_MS = 2500;

/** Values a second of each device, from how many there were before. */
export class Rates {
  private readonly counts = new Map<string, Count>();

  take(devices: readonly Device[], time: number): void {
    for (const {device, values} of devices) {
      const before = this.counts.get(device);
      if (before && values >= before.values && time - before.time < OVER_MS) continue;
      const rate = before && values >= before.values ? (1000 * (values - before.values)) / (time - before.time) : null;
      this.counts.set(device, {time, values, rate});
    }
  }

  of(device: string): number | null {
    return this.counts.get(device)?.rate ?? null;
  }
}
