// http.ts: requests to the program, and what comes of them as a page shows it.
import {useCallback, useEffect, useState} from 'preact/hooks';
import {generation} from './live/store';

export class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Errors of the program are {"error": text}; a server that is none says only its number. */
export async function request<T>(method: string, url: string, body?: unknown): Promise<T> {
  const answer = await fetch(url, {
    method,
    headers: body === undefined ? {} : {'Content-Type': 'application/json'},
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  let value: unknown = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    if (answer.ok) throw new HttpError(answer.status, 'the answer is no JSON');
  }
  if (!answer.ok) throw new HttpError(answer.status, (value as {error?: string} | null)?.error ?? `the program answered ${answer.status}`);
  return value as T;
}

export interface Fetched<T> {
  value: T | null;
  error: HttpError | null;
  loading: boolean;
  again: () => void;
}

/** What failed is asked for again after this. */
export const RETRY_MS = 3000;

/** Gets `url` ("": nothing), again `periodMs` after each answer, when it failed, and when the program came back. */
export function useFetched<T>(url: string, periodMs = 0): Fetched<T> {
  const [state, setState] = useState<{url: string; value: T | null; error: HttpError | null; loading: boolean}>({url, value: null, error: null, loading: true});
  const [count, setCount] = useState(0);
  const again = useCallback(() => setCount((before) => before + 1), []);
  useEffect(() => {
    if (!url) return;
    let gone = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const later = (ms: number) => ms && !gone && (timer = setTimeout(again, ms));
    request<T>('GET', url).then(
      (value) => {
        if (!gone) setState({url, value, error: null, loading: false});
        later(periodMs);
      },
      (error: unknown) => {
        const known = error instanceof HttpError ? error : new HttpError(0, 'the program cannot be reached');
        if (!gone) setState((before) => ({url, value: before.url === url ? before.value : null, error: known, loading: false}));
        later(known.status === 404 ? periodMs : Math.max(periodMs, RETRY_MS));
      },
    );
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [url, count, periodMs, generation.value]);
  return {...state, again};
}
