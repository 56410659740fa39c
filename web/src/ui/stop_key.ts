// stop_key.ts: the emergency stop's key: pressed twice, or held, so that nobody stops the robots by the way.
import {signal} from '@preact/signals';
import {toggleStop} from '../live/control';
import {live, notify, status} from '../live/store';
import {may} from '../role';

export const STOP_KEY = 'Backspace';
/** Within this the second press has to come, ms. */
const TWICE_MS = 1000;
const HOLD_MS = 500;

/** It was pressed once: the next press stops. */
export const armed = signal(false);

let pressedAt = -Infinity;
let timer: ReturnType<typeof setTimeout> | undefined;

function disarm(): void {
  clearTimeout(timer);
  armed.value = false;
  pressedAt = -Infinity;
}

/** The key went down, or repeats as it is held. */
export function pressStopKey(event: KeyboardEvent): void {
  if (!live.peek() || !status.peek() || status.peek()!.stopped) return;
  if (!may('drive')) {
    if (!event.repeat) notify('The emergency stop needs a token of the role drive', 'error');
    return;
  }
  const since = event.timeStamp - pressedAt;
  // A repeat of what went down elsewhere is not held here.
  if (event.repeat ? since >= HOLD_MS && Number.isFinite(since) : since <= TWICE_MS) {
    disarm();
    toggleStop();
  } else if (!event.repeat) {
    pressedAt = event.timeStamp;
    armed.value = true;
    clearTimeout(timer);
    timer = setTimeout(disarm, TWICE_MS);
  }
}
