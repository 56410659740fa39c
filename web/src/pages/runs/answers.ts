// answers.ts: what the program says of several runs that are compared: asked for once, and on while a run grows.
import {useEffect, useState} from 'preact/hooks';
import {HttpError, request, RETRY_MS} from '../../http';
import {AGAIN_MS} from '../../live/shown_run';
import {generation} from '../../live/store';

/** Answers about runs that are over, which stay as they are; and those on their way. */
const lasting = new Map<string, unknown>();
const MOST_LASTING = 100;
const onTheirWay = new Map<string, Promise<unknown>>();

/** ms for which answers are gathered: all plots are drawn anew with each that is taken. */
const GATHER_MS = 40;

export interface Asked {
  url: string; // "": nothing is asked
  lasts: boolean;
}

function remember(url: string, value: unknown): void {
  if (lasting.size >= MOST_LASTING) lasting.delete(lasting.keys().next().value!);
  lasting.set(url, value);
}

/** Asked once, however many want to know; of a run that is over anew, as what is on its way may be of before its end. */
function ask<T>({url, lasts}: Asked, check: (value: unknown, at: string) => T): Promise<T> {
  const key = `${lasts} ${url}`;
  const before = onTheirWay.get(key);
  if (before) return before as Promise<T>;
  const answer = request('GET', url, undefined, check)
    .then((value) => (lasts && remember(url, value), value))
    .finally(() => onTheirWay.delete(key));
  onTheirWay.set(key, answer);
  return answer;
}

/** What each address answers, in their order; null: not there yet, or why not. Asked once each, all at a time; again where no answer was
 *  had, while a run grows, and at its end. */
export function useAll<T>(asked: Asked[], check: (value: unknown, at: string) => T): {value: T | null; error: string}[] {
  const [known, setKnown] = useState<ReadonlyMap<string, T | Error>>(new Map());
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const came: [string, T | Error][] = [];
    let gone = false;
    let again: ReturnType<typeof setTimeout> | undefined;
    let gathering: ReturnType<typeof setTimeout> | undefined;
    const take = () => {
      gathering = undefined;
      setKnown((before) => new Map([...before, ...came.splice(0)]));
    };
    const keep = (url: string, value: T | Error) => {
      came.push([url, value]);
      if (!gone) gathering ??= setTimeout(take, GATHER_MS);
    };
    const later = (ms: number) => {
      if (!gone) again ??= setTimeout(() => setTurn((before) => before + 1), ms);
    };
    for (const one of asked) {
      const {url, lasts} = one;
      if (!url || lasting.has(url)) continue;
      ask(one, check).then(
        (value) => {
          keep(url, value);
          if (!lasts) later(AGAIN_MS);
        },
        (error: unknown) => {
          keep(url, error instanceof HttpError ? error : new Error('the program cannot be reached'));
          if (!(error instanceof HttpError && error.status === 404)) later(RETRY_MS);
        },
      );
    }
    return () => {
      gone = true;
      clearTimeout(again);
      clearTimeout(gathering);
      if (came.length) take();
    };
  }, [asked.map(({url, lasts}) => `${lasts} ${url}`).join('\n'), generation.value, turn]);
  return asked.map(({url}) => {
    const found = (lasting.get(url) as T | undefined) ?? known.get(url) ?? null;
    return found instanceof Error ? {value: null, error: found.message} : {value: found, error: ''};
  });
}
