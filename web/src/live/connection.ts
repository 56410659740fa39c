// connection.ts: the WebSocket to the program: opens, comes back by itself, hands messages to the store, the frames and the samples.
import {decodeFrame, decodeSamples, POSES, SIGNALS} from './codec';
import {takeFrame} from './frames';
import {resubscribe, takeSamples} from './samples';
import {Unexpected} from '../check';
import {HttpError, request} from '../http';
import {role} from '../role';
import {forgetToken} from '../route';
import {checkAccess, offers, takeAccess} from './offers';
import {readMessage} from './incoming';
import {noteWorld} from './scenes';
import {connection, hello, lostAt, notify, receive, refusal, retryAt, status} from './store';
import {PROTOCOL} from './types';
import type {PageMessage, ServerMessage} from './types';

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5000;
/** Somebody may give the page's token back. */
const REFUSED_MS = 15000;
/** The program says its status five times a second; this long without anything and the line is dead. */
const SILENCE_MS = 5000;
/** A program that is busy lets one wait for its first word; *Try now* need not. */
const FIRST_WORD_MS = 20000;
/** Between hello and model nothing else comes, and a model may be large and the line slow. */
const MODEL_MS = 60000;

let socket: WebSocket | null = null;
let attempt = 0;
let retry = FIRST_RETRY_MS;
let timer: ReturnType<typeof setTimeout> | undefined;
let heard = 0;
let patience = SILENCE_MS; // ms without a message after which the line is dead
const onOpen = new Set<() => void>();
/** What comes at all has come after this, ms. */
const ON_ITS_WAY_MS = 1000;
/** Said so late that it may not have come, and to which run of the program. */
let unsure: {message: PageMessage; token: string | undefined; at: number}[] = [];
let silentSince = 0; // of the line that was lost last
/** The program cuts a line that takes nothing for 10 s, and lets go of all that it moved; what is said then would be somebody else's. */
const CUT_MS = 15000;

export function send(message: PageMessage): boolean {
  if (socket?.readyState !== WebSocket.OPEN) return false;
  socket.send(JSON.stringify(message));
  return true;
}

/** Sends what has to come: again after the next connect to the same run of the program, where the line may have been dead already. */
export function sendSurely(message: PageMessage): void {
  const at = Date.now();
  send(message);
  unsure = [...unsure.filter((one) => one.at > at - SILENCE_MS - ON_ITS_WAY_MS), {message, token: hello.peek()?.token, at}];
}

function sayAgain(): void {
  const mayHold = Date.now() - silentSince < CUT_MS;
  for (const {message, token, at} of unsure) if (mayHold && token === hello.peek()?.token && at > silentSince - ON_ITS_WAY_MS) send(message);
  unsure = [];
}

/** Calls `tell` now and after every connect: for what the program is to know of a page (monitor, contacts, joystick). */
export function whileConnected(tell: () => void): () => void {
  onOpen.add(tell);
  if (connection.peek() === 'live') tell();
  return () => void onOpen.delete(tell);
}

/** Asks first what the program has: a socket that it has not would be an error in the browser's console, however it is caught. An attempt
 *  that is under way is given up: its line may be dead. */
export async function connect(): Promise<void> {
  clearTimeout(timer);
  hangUp();
  const mine = ++attempt;
  const access = await request('GET', 'api/access', undefined, checkAccess, FIRST_WORD_MS).catch((error: Error) => error);
  if (mine !== attempt) return;
  if (access instanceof HttpError && REFUSALS[access.status]) return refuse(access);
  if (access instanceof Error) return lose();
  forgetToken();
  takeAccess(access);
  if (offers('/live')) return open();
  role.value = access.role;
  connection.value = 'worldless';
  timer = setTimeout(connect, LAST_RETRY_MS);
}

function open(): void {
  const url = new URL('live', location.href);
  url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  url.hash = '';
  const opened = new WebSocket(url);
  socket = opened;
  heard = Date.now();
  patience = FIRST_WORD_MS;
  opened.binaryType = 'arraybuffer';
  opened.onmessage = ({data}) => socket === opened && take(data);
  opened.onclose = () => socket === opened && lose();
}

/** Closes the socket without waiting for its end, which over a dead line may not come. */
function hangUp(): void {
  const former = socket;
  socket = null;
  former?.close();
}

export function retryNow(): void {
  if (connection.peek() === 'live') return;
  retry = FIRST_RETRY_MS;
  void connect();
}

function take(data: ArrayBuffer | string): void {
  heard = Date.now();
  if (typeof data !== 'string') return takeBytes(data);
  try {
    const message = readMessage(data, PROTOCOL);
    if (message) takeText(message);
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error;
    console.error(error.message);
    notify(error.message, 'error');
  }
}

function takeText(message: ServerMessage): void {
  if (message.type === 'hello' && message.protocol !== PROTOCOL) {
    hello.value = message;
    connection.value = 'foreign';
    return hangUp();
  }
  receive(message);
  if (message.type === 'hello') {
    retry = FIRST_RETRY_MS;
    patience = MODEL_MS;
  }
  if (message.type !== 'model') return;
  patience = SILENCE_MS;
  // With the model the program is known: now it may be told what this page wants.
  connection.value = 'live';
  noteWorld(hello.peek()!);
  resubscribe(send);
  sayAgain();
  for (const tell of onOpen) tell();
}

function takeBytes(bytes: ArrayBuffer): void {
  const kind = new DataView(bytes).getUint8(0);
  if (kind === POSES) {
    const frame = decodeFrame(bytes);
    takeFrame(frame);
    send({type: 'ack', sequence: frame.sequence});
  } else if (kind === SIGNALS) {
    takeSamples(decodeSamples(bytes));
  }
}

/** What a page can do about answers of this status. */
const REFUSALS: Record<number, string> = {
  401: 'Your token counts no more: it was withdrawn, or the program was started with another. Give the one that counts now.',
  403: 'The program does not let this page in',
  429: 'Too many wrong tokens came from this address. It is tried again in a while',
};

function refuse({status: code, message}: HttpError): void {
  lose();
  clearTimeout(timer);
  refusal.value = code === 401 ? REFUSALS[code]! : `${REFUSALS[code]}: ${message}.`;
  connection.value = 'refused';
  retryAt.value = Date.now() + REFUSED_MS;
  timer = setTimeout(connect, REFUSED_MS);
}

/** Shows the program another token, which becomes a cookie with the answer. */
export async function showToken(token: string): Promise<void> {
  await request('GET', `api/access?${new URLSearchParams({token})}`, undefined, checkAccess, FIRST_WORD_MS);
  retryNow();
}

function lose(): void {
  socket = null;
  if (connection.peek() === 'live' || connection.peek() === 'worldless') {
    lostAt.value = Date.now();
    silentSince = heard;
    connection.value = 'lost';
  }
  status.value = null;
  retryAt.value = Date.now() + retry;
  timer = setTimeout(connect, retry);
  retry = Math.min(2 * retry, LAST_RETRY_MS);
}

/** A machine that slept or a cable pulled: the socket never closes by itself. */
function watch(): void {
  if (!socket || Date.now() - heard <= patience) return;
  hangUp();
  lose();
}

export function start(): void {
  void connect();
  setInterval(watch, 1000);
  addEventListener('online', retryNow);
  document.addEventListener('visibilitychange', () => document.hidden || retryNow());
}
