// tags.ts: changes of a run's tags, of which several may be on their way.
import {useEffect, useRef} from 'preact/hooks';

type Change = (tags: string[]) => string[];

/** Gives what changes the tags: one change after the other, each to what the program answered to the one before. `save` gives the tags
 *  that it answered. */
export function useTags(tags: string[], save: (tags: string[]) => Promise<string[]>): (change: Change) => Promise<void> {
  const last = useRef(Promise.resolve());
  const waiting = useRef(0);
  const latest = useRef(tags);
  useEffect(() => {
    if (!waiting.current) latest.current = tags;
  }, [tags]);
  return (change) => {
    waiting.current++;
    const mine = last.current.then(async () => {
      try {
        const wanted = change(latest.current);
        if (wanted !== latest.current) latest.current = await save(wanted);
      } finally {
        waiting.current--;
      }
    });
    last.current = mine.catch(() => {});
    return mine;
  };
}
