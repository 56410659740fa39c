// value.tsx: numbers that follow the stream, written straight into their elements: a tree of hundreds of values costs nothing
// but their text.
import {useEffect, useRef} from 'preact/hooks';
import {formatSignal} from '../../format';
import {sizeOf, valueOf} from './plots';

const PERIOD_MS = 100;

interface Shown {
  name: string;
  /** In SI. */
  of: (name: string) => number;
}
const shown = new Map<HTMLElement, Shown>();

setInterval(() => {
  for (const [element, what] of shown) write(element, what);
}, PERIOD_MS);

function write(element: HTMLElement, {name, of}: Shown): void {
  const value = of(name);
  const text = formatSignal(value / sizeOf(name));
  if (element.textContent !== text) element.textContent = text;
  element.dataset.raw = String(value);
}

/** A value of a trace, in the unit that people chose: the one it has, or what `of` says. */
export function LiveValue({name, class: kind, of = valueOf}: {name: string; class: string; of?: (name: string) => number}) {
  const element = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const current = element.current!;
    const what = {name, of};
    shown.set(current, what);
    write(current, what);
    return () => void shown.delete(current);
  }, [name, of]);
  return <span ref={element} class={kind} />;
}
