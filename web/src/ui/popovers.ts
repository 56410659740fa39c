// popovers.ts: what was opened over a page closes at Escape, the last first, and at a press anywhere else.
import {useLayoutEffect, useRef} from 'preact/hooks';
import type {RefObject} from 'preact';

interface Popover {
  element: () => Element | null;
  close: () => void;
  outside: boolean;
}

const stack: Popover[] = [];

/** Lists that the browser unfolds by itself. */
const lists = () => [...document.querySelectorAll<HTMLDetailsElement>('details.choice[open]')];

/** While `open`: Escape and, unless `outside` is false, a press outside of the element call `close`. The element holds the button that opened it as well. */
export function usePopover<T extends Element>(open: boolean, close: () => void, outside = true): RefObject<T | null> {
  const ref = useRef<T>(null);
  const closing = useRef(close);
  closing.current = close;
  useLayoutEffect(() => {
    if (!open) return;
    const mine: Popover = {element: () => ref.current, close: () => closing.current(), outside};
    stack.push(mine);
    return () => void stack.splice(stack.indexOf(mine), 1);
  }, [open, outside]);
  return ref;
}

/** Closes what was opened last; tells whether there was anything. */
export function closeLast(): boolean {
  const list = lists().pop();
  if (list) {
    list.open = false;
    list.querySelector('summary')?.focus();
    return true;
  }
  stack[stack.length - 1]?.close();
  return stack.length > 0;
}

function closeOthers(target: Node): void {
  for (const list of lists()) if (!list.contains(target)) list.open = false;
  for (const {element, close, outside} of [...stack]) if (outside && !element()?.contains(target)) close();
}

export function listen(): void {
  addEventListener('pointerdown', (event) => event.target instanceof Node && closeOthers(event.target), true);
}
