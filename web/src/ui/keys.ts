// keys.ts: shortcuts that hold on every page. They never act while somebody writes into a field.
import {control, togglePause, toggleStop} from '../live/control';
import {go, PAGES, TITLES} from '../route';
import {status} from '../live/store';
import {signal} from '@preact/signals';

export const helpShown = signal(false);

interface Shortcut {
  keys: string;
  text: string;
  run: () => void;
}

export const SHORTCUTS: Shortcut[] = [
  {keys: 'Space', text: 'Pause or resume', run: togglePause},
  {keys: '.', text: 'Step one tick while paused', run: () => status.peek()?.paused && control('step', 1)},
  {keys: 'Shift+R', text: 'Reset the world', run: () => control('reset')},
  {keys: 'Escape', text: 'Emergency stop', run: () => status.peek()?.stopped || toggleStop()},
  ...PAGES.map((page, i) => ({keys: String(i + 1), text: TITLES[page], run: () => go(page)})),
  {keys: '?', text: 'These shortcuts', run: () => (helpShown.value = !helpShown.value)},
];

/** Whether keys go to what has the focus: a field, or a button that Space presses. */
function isTaken(event: KeyboardEvent): boolean {
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest('dialog[open]') || document.querySelector('dialog[open]')) return true;
  if (target?.closest('input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]')) return true;
  return event.key === ' ' && !!target?.closest('button, a, summary, input, [role=treeitem]');
}

function name(event: KeyboardEvent): string {
  if (event.key === ' ') return 'Space';
  return event.shiftKey && /^[a-z]$/i.test(event.key) ? `Shift+${event.key.toUpperCase()}` : event.key;
}

export function listen(): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTaken(event)) return;
    const found = SHORTCUTS.find(({keys}) => keys === name(event));
    if (!found) return;
    event.preventDefault();
    if (!event.repeat || found.keys === '.') found.run();
  });
}
