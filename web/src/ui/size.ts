// size.ts: how large an element is inside, CSS px: for what draws itself as large as its place.
import {useLayoutEffect, useState} from 'preact/hooks';

/** Tells the size of an element, first soon after it is there, then whenever it changes; answers what ends that. */
export function watchSize(element: Element, tell: (width: number, height: number) => void): () => void {
  const observer = new ResizeObserver(() => tell(element.clientWidth, element.clientHeight));
  observer.observe(element);
  return () => observer.disconnect();
}

/** The size of an element, [width, height]; [0, 0] before it is known. */
export function useSize(host: {readonly current: Element | null}): [number, number] {
  const [size, setSize] = useState<[number, number]>([0, 0]);
  useLayoutEffect(() => {
    const element = host.current!;
    setSize([element.clientWidth, element.clientHeight]);
    return watchSize(element, (width, height) => setSize((before) => (before[0] === width && before[1] === height ? before : [width, height])));
  }, []);
  return size;
}
