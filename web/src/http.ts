// http.ts: requests to the program, and what comes of them as a page shows it.
import {effect} from '@preact/signals';
import {useCallback, useEffect, useState} from 'preact/hooks';
import {anything, Unexpected} from './check';
import type {Check} from './check';
import {connection, generation} from './live/store';

export class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** No answer came. Whether the program had the request nobody knows. */
export class Unreachable extends Error {
  constructor() {
    super('the program cannot be reached'); // browsers say each in words of their own
  }
}

/** What is wrong lies with the program or the way to it, and may be over in a moment. */
export const passes = (error: unknown) => error instanceof Unreachable || (error instanceof HttpError && (error.status >= 500 || error.status === 401 || error.status === 429));

/** Of what is asked now, and of what was asked before the program was lost. */
let present = new AbortController();
let before: AbortController | null = null;

// What was asked before it was lost, and is not answered when it is back, went over a line that is dead, and would never be answered.
effect(() => {
  if (connection.value === 'lost') {
    before = present;
    present = new AbortController();
  } else if (connection.value === 'live') {
    before?.abort();
    before = null;
  }
});

/** AbortSignal.timeout, which not all browsers have that these pages are built for. */
function endsAfter(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), ms);
  return controller.signal;
}

function refusal(status: number, value: unknown): HttpError {
  return new HttpError(status, (value as {error?: string} | null)?.error ?? `the program answered ${status}`);
}

async function ask(url: string, init: RequestInit): Promise<{answer: Response; text: string}> {
  try {
    const answer = await fetch(url, init);
    return {answer, text: await answer.text()};
  } catch {
    throw new Unreachable();
  }
}

/** What somebody does reaches the program also where the page goes away at once, as long as it is small: browsers send 64 KiB of all
 *  requests together then. */
const SMALL_BYTES = 24000;

/** Asks the program. `body` becomes JSON, or is bytes as they are; `check` says what the answer has to be, see check.ts.
 *  Errors of the program are {"error": text}; a server that is none says only its number. `limitMs`: there is an answer by then, or an
 *  error. */
export async function request(method: string, url: string, body?: unknown): Promise<unknown>;
export async function request<T>(method: string, url: string, body: unknown, check: Check<T>, limitMs?: number): Promise<T>;
export async function request<T>(method: string, url: string, body?: unknown, check: Check<T> = anything as Check<T>, limitMs = 0): Promise<T> {
  const isBytes = body instanceof Blob || body instanceof ArrayBuffer || ArrayBuffer.isView(body);
  const sent = body === undefined ? undefined : isBytes ? (body as BodyInit) : JSON.stringify(body);
  const {answer, text} = await ask(url, {
    method,
    keepalive: typeof sent === 'string' && new TextEncoder().encode(sent).length <= SMALL_BYTES,
    signal: limitMs ? endsAfter(limitMs) : method === 'GET' ? present.signal : null,
    headers: body === undefined || isBytes ? {} : {'Content-Type': 'application/json'},
    body: sent,
  });
  let value: unknown = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    if (answer.ok) throw new HttpError(answer.status, 'the answer is no JSON');
  }
  if (!answer.ok) throw refusal(answer.status, value);
  try {
    return check(value, '');
  } catch (error) {
    throw error instanceof Unexpected ? new HttpError(answer.status, error.message) : error;
  }
}

/** Bytes that the program hands out. */
export async function requestBytes(url: string): Promise<ArrayBuffer> {
  const answer = await fetch(url, {signal: present.signal});
  if (!answer.ok) throw refusal(answer.status, await answer.json().catch(() => null));
  return answer.arrayBuffer();
}

export interface Fetched<T> {
  value: T | null;
  error: HttpError | null;
  loading: boolean;
  /** `value` is of what was asked for before, or there is none yet. */
  behind: boolean;
  again: () => void;
}

/** What failed is asked for again after this. */
export const RETRY_MS = 3000;

/** Gets `url` ("": nothing), again `periodMs` after each answer, when it failed, and when the program came back. */
export function useFetched<T>(url: string, check: Check<T>, periodMs = 0): Fetched<T> {
  const [state, setState] = useState<{url: string; value: T | null; error: HttpError | null; loading: boolean}>({url, value: null, error: null, loading: true});
  const [count, setCount] = useState(0);
  const again = useCallback(() => setCount((before) => before + 1), []);
  useEffect(() => {
    if (!url) return;
    let gone = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const later = (ms: number) => ms && !gone && (timer = setTimeout(again, ms));
    request('GET', url, undefined, check).then(
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
  return {...state, behind: url !== '' && (state.url !== url || state.loading), again};
}
