// keys.ts: shortcuts that hold on every page. They never act while somebody writes into a field.
import {control, togglePause} from '../live/control';
import {go, PAGES, TITLES} from '../route';
import {hello, status} from '../live/store';
import {signal} from '@preact/signals';
import {isLive, stepBy, togglePlay} from '../live/moment';
import {onTimeLineKey, timeLineKey, TIMELINE_KEYS} from './timeline_keys';
import {closeLast, listen as listenOutside} from './popovers';
import {pressStopKey, STOP_KEY} from './stop_key';

export const helpShown = signal(false);

interface Shortcut {
  keys: string;
  text: string;
  run: (event: KeyboardEvent) => void;
  /** Also as it repeats while it is held. */
  held?: boolean;
}

export const SHORTCUTS: Shortcut[] = [
  {keys: 'Space', text: 'Pause or resume what is shown', run: () => (isLive.peek() ? togglePause() : togglePlay())},
  {keys: '.', text: 'Step one tick while paused', held: true, run: () => (isLive.peek() ? status.peek()?.paused && control('step', 1) : stepBy(hello.peek()?.tick ?? 0.01))},
  {keys: 'Shift+R', text: 'Reset the world', run: () => control('reset')},
  {keys: 'Escape', text: 'Close what is open', run: closeLast},
  {keys: STOP_KEY, text: 'Emergency stop: press twice, or hold', held: true, run: pressStopKey},
  ...PAGES.map((page, i) => ({keys: String(i + 1), text: TITLES[page], run: () => go(page)})),
  ...TIMELINE_KEYS,
  {keys: '?', text: 'These shortcuts', run: () => (helpShown.value = !helpShown.value)},
];

/** Whether keys go to what has the focus: a field, or a button that Space presses. A dialog takes all but the emergency stop. */
function isTaken(event: KeyboardEvent): boolean {
  // Also of what stands in a shadow, as the editor does.
  const [inner] = event.composedPath();
  const target = inner instanceof Element ? inner : null;
  if (event.key !== STOP_KEY && document.querySelector('dialog[open]')) return true;
  if (event.key === 'Escape') return false;
  if (target?.closest('input:not([type=radio]):not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]')) return true;
  // What scrolls, chooses or moves by these keys has them.
  if (/^(Arrow|Home|End)/.test(event.key) && target?.closest('input, [role=tree], [tabindex="0"]')) return true;
  return event.key === ' ' && !!target?.closest('button, a, summary, input:not([type=range]), [role=treeitem]');
}

function name(event: KeyboardEvent): string {
  if (event.key === ' ') return 'Space';
  return event.shiftKey && /^[a-z]$/i.test(event.key) ? `Shift+${event.key.toUpperCase()}` : event.key;
}

export function listen(): void {
  listenOutside();
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTaken(event)) return;
    if (timeLineKey(event)) return onTimeLineKey(event);
    const found = SHORTCUTS.find(({keys}) => keys === name(event));
    if (!found) return;
    event.preventDefault();
    if (!event.repeat || found.held) found.run(event);
  });
}
