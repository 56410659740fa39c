// value.tsx: a number that follows the stream ten times a second, written straight into its element: a tree of hundreds of
// values costs nothing but their text.
import {useEffect, useRef} from 'preact/hooks';
import {formatValue} from '../../format';
import {valueOf} from './plots';

const PERIOD_MS = 100;
const shown = new Map<HTMLElement, string>();

setInterval(() => {
  for (const [element, name] of shown) write(element, name);
}, PERIOD_MS);

function write(element: HTMLElement, name: string): void {
  const value = valueOf(name);
  const text = formatValue(value);
  if (element.textContent !== text) element.textContent = text;
  element.dataset.raw = String(value);
}

export function LiveValue({name, class: kind}: {name: string; class: string}) {
  const element = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const current = element.current!;
    shown.set(current, name);
    write(current, name);
    return () => void shown.delete(current);
  }, [name]);
  return <span ref={element} class={kind} />;
}
