// unsaved.ts: what was written on a page and the program has not got yet, when the page goes away, perhaps for good: it is sent without
// waiting for answers, and where that cannot be done the browser asks first.
import {useEffect, useRef} from 'preact/hooks';
import {connection} from './live/store';

/** Bytes that browsers still send for a page that is gone: 64 KiB of all that is on its way, heads included. */
export const MOST_LEFT_BEHIND = 60000;

export interface Unsaved {
  isUnsaved: () => boolean;
  /** leave() sends it, and the program takes it. */
  canBeSent: () => boolean;
  leave: () => void;
}

const all = new Set<Unsaved>();

/** It counts until what is returned is called. */
export function guard(one: Unsaved): () => void {
  all.add(one);
  return () => void all.delete(one);
}

/** Of a field: what is typed and not saved yet; `sendable`: the program did not refuse it. */
export function useUnsaved(now: {unsaved: boolean; sendable: boolean; save: () => void}): void {
  const newest = useRef(now);
  newest.current = now;
  useEffect(() => guard({isUnsaved: () => newest.current.unsaved, canBeSent: () => newest.current.sendable, leave: () => newest.current.save()}), []);
}

const isAway = () => connection.peek() === 'lost' || connection.peek() === 'connecting';

addEventListener('pagehide', () => {
  for (const one of all) if (one.isUnsaved()) one.leave();
});
addEventListener('beforeunload', (event) => {
  const lost = [...all].some((one) => one.isUnsaved() && (isAway() || !one.canBeSent()));
  if (!lost) return;
  event.preventDefault();
  event.returnValue = ''; // for browsers that know no preventDefault() here
});
