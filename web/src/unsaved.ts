// unsaved.ts: what was written on a page and the program has not got yet. It is sent again when the program is back; when the page goes
// away, perhaps for good, it is sent without waiting for answers, and where that cannot be done the browser asks first.
import {effect, signal, untracked} from '@preact/signals';
import {useEffect, useRef} from 'preact/hooks';
import {passes} from './http';
import {connection, notify} from './live/store';

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

/* ---- texts of fields ---- */

/** typed: not sent yet; sent: on its way; away: no answer came, it is sent again; refused: the program does not take it; taken: the program
 *  has it, and what it tells of it comes in a moment. */
type State = 'typed' | 'sent' | 'away' | 'refused' | 'taken';

interface Text {
  /** What people call it, for messages. */
  label: string;
  text: string;
  state: State;
  save: (text: string) => Promise<unknown>;
}

/** What was typed, by the address of what it is of (runs/ID/note). It outlives its field: whoever opens another run, or another page, finds
 *  it again. */
const texts = signal<ReadonlyMap<string, Text>>(new Map());
const RETRY_MS = 3000;
let retrying: ReturnType<typeof setTimeout> | undefined;

function put(address: string, text: Text | null): void {
  const next = new Map(texts.peek());
  if (text) next.set(address, text);
  else next.delete(address);
  texts.value = next;
}

async function send(address: string): Promise<void> {
  const held = texts.peek().get(address);
  if (!held) return;
  const {label, text} = held;
  const wasAway = held.state === 'away';
  const become = (state: State) => {
    const now = texts.peek().get(address);
    if (now?.text === text && now.state === 'sent') put(address, {...now, state});
  };
  put(address, {...held, state: 'sent'});
  try {
    await held.save(text);
    become('taken');
  } catch (error) {
    become(passes(error) ? 'away' : 'refused');
    if (passes(error)) retrying ??= setTimeout(sendAgain, RETRY_MS);
    if (!passes(error) || !wasAway) notify(`${label} not saved: ${(error as Error).message}`, 'error');
  }
}

function sendAgain(): void {
  retrying = undefined;
  for (const [address, {state}] of texts.peek()) if (state === 'away') void send(address);
}

// What had no answer when the program was lost went over a line that is dead.
effect(() => {
  if (connection.value !== 'live' && connection.value !== 'worldless') return;
  untracked(() => texts.peek().forEach(({state}, address) => (state === 'sent' || state === 'away') && void send(address)));
});

const isUnsaved = ({state}: Text) => state !== 'taken';
guard({
  isUnsaved: () => [...texts.peek().values()].some(isUnsaved),
  canBeSent: () => [...texts.peek().values()].every(({state}) => state !== 'refused' && state !== 'away'),
  leave: () => texts.peek().forEach(({state}, address) => (state === 'typed' || state === 'away') && void send(address)),
});

export interface Typing {
  text: string;
  state: State | null;
  type: (text: string) => void;
  /** Sends what is typed. */
  keep: () => void;
  /** What was before stands there again. */
  drop: () => void;
}

/** Of a field: what is typed there stays until the program has it, also what is typed while an earlier text is on its way, or is refused,
 *  so that it can be mended; and also where the field goes. `value`: as the program has it, which may change at any time. */
export function useText(address: string, label: string, value: string, save: (text: string) => Promise<unknown>): Typing {
  const held = texts.value.get(address);
  const newest = useRef({label, value, save});
  newest.current = {label, value, save};
  const drop = () => texts.peek().has(address) && put(address, null);
  const keep = () => {
    if (texts.peek().get(address)?.state === 'typed') void send(address);
  };
  useEffect(() => {
    if (texts.peek().get(address)?.state === 'taken') drop();
  }, [address, value]);
  useEffect(() => () => {
    if (texts.peek().get(address)?.state === 'taken') drop();
    else keep();
  }, [address]);
  return {
    text: held?.text ?? value,
    state: held?.state ?? null,
    type: (text) => {
      // While another text is on its way, what was before is a change, too.
      if (text === newest.current.value && texts.peek().get(address)?.state !== 'sent') drop();
      else put(address, {label: newest.current.label, save: (typed) => newest.current.save(typed), text, state: 'typed'});
    },
    keep,
    drop,
  };
}

/** What was typed below an address and not saved, in the place of fields that are gone for good. */
export function unsavedBelow(prefix: string): {address: string; label: string; text: string}[] {
  return [...texts.value].flatMap(([address, held]) => (address.startsWith(prefix) && isUnsaved(held) ? [{address, label: held.label, text: held.text}] : []));
}

export function forget(addresses: readonly string[]): void {
  for (const address of addresses) put(address, null);
}

/** Fields take what is typed as they are left, and whoever leaves the page leaves its field. The focus stays, as the page may. */
const leaveField = () => void document.activeElement?.dispatchEvent(new FocusEvent('blur'));

addEventListener('hashchange', leaveField, true); // before what is shown changes

const isAway = () => ['lost', 'refused', 'connecting'].includes(connection.peek());

addEventListener('pagehide', () => {
  leaveField();
  for (const one of all) if (one.isUnsaved()) one.leave();
});
addEventListener('beforeunload', (event) => {
  leaveField();
  const lost = [...all].some((one) => one.isUnsaved() && (isAway() || !one.canBeSent()));
  if (!lost) return;
  event.preventDefault();
  event.returnValue = ''; // for browsers that know no preventDefault() here
});
