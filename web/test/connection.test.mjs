// The line to the program: whatever of it is dead is noticed, and no socket is left behind.
import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';
import {load} from './load.mjs';

/* ---- a browser, its clock, and a program that answers when it is told to ---- */

let clock = 1e6; // ms
let timers = [];
let repeated = [];
let number = 0;
let asked = []; // requests that have no answer yet
let sockets = [];

class FakeSocket {
  static CONNECTING = 0;
  static OPEN = 1;
  static CLOSED = 3;
  readyState = FakeSocket.CONNECTING;
  closed = false;
  sent = [];
  constructor() {
    sockets.push(this);
  }
  send(text) {
    this.sent.push(JSON.parse(text));
  }
  /** Over a dead line the browser tells of the end much later. */
  close() {
    this.closed = true;
  }
  say(message) {
    this.readyState = FakeSocket.OPEN;
    this.onmessage({data: JSON.stringify(message)});
  }
}

Object.assign(globalThis, {
  location: {hash: '', href: 'http://tether.test/', protocol: 'http:'}, history: {replaceState() {}, pushState() {}}, addEventListener() {}, document: {addEventListener() {}, hidden: false},
  requestAnimationFrame: () => 0, cancelAnimationFrame() {}, localStorage: {getItem: () => null, setItem() {}}, WebSocket: FakeSocket,
  setTimeout: (call, ms = 0) => (timers.push({at: clock + ms, call, number: ++number}), number),
  clearTimeout: (wanted) => void (timers = timers.filter((timer) => timer.number !== wanted)),
  setInterval: (call) => void repeated.push(call),
  fetch: (url, {signal}) => new Promise((resolve, reject) => {
    asked.push({resolve});
    signal?.addEventListener('abort', () => reject(signal.reason));
  }),
});
Date.now = () => clock;
const {line, scenes, store} = await load({line: 'live/connection.ts', scenes: 'live/scenes.ts', store: 'live/store.ts'});
line.start();
const settle = () => new Promise((resolve) => setImmediate(resolve));

async function wait(seconds) {
  for (let i = 0; i < 10 * seconds; i++) {
    clock += 100;
    for (const timer of timers.filter(({at}) => at <= clock)) {
      timers = timers.filter((one) => one !== timer);
      timer.call();
    }
    await settle();
    if ((clock / 100) % 10 === 0) repeated.forEach((call) => call());
    await settle();
  }
}

async function answer() {
  asked.pop().resolve(new Response(JSON.stringify({role: 'administer', routes: [], sockets: [{path: '/live'}]})));
  for (let i = 0; i < 5; i++) await settle();
}

const hello = {
  type: 'hello', protocol: 1, version: '1', scene: 's', description: '', timestep: 0.01, tick: 0.01, pace: 'realtime', dynamics: true, token: 't', role: 'administer', replay: null,
  recording: '',
};
const model = {type: 'model', bodies: [], joints: [], robots: [], signals: [], commands: [], shapes: [], materials: [], textures: [], meshes: 0, lines: [], rays: []};
const open = () => sockets.filter(({closed}) => !closed);

beforeEach(async () => {
  store.connection.value = 'connecting';
  void line.connect();
  await settle();
  asked = asked.slice(-1);
  sockets = [];
});

test('a question over a dead line is given up, and asked again', async () => {
  await wait(22);
  assert.equal(asked.length, 2);
  await answer();
  assert.equal(open().length, 1);
});

test('Try now asks at once, also while an earlier question has no answer', async () => {
  line.retryNow();
  await settle();
  assert.equal(asked.length, 2);
  await answer();
  await answer(); // that of before, late
  assert.equal(sockets.length, 1);
});

test('a socket that does not open, or says nothing, is given up', async () => {
  await answer();
  await wait(26);
  assert.ok(sockets[0].closed && asked.length);
  await answer();
  sockets[1].readyState = FakeSocket.OPEN;
  await wait(26);
  assert.ok(sockets[1].closed && asked.length);
});

test('a large model may take its time; afterwards silence is noticed', async () => {
  await answer();
  sockets[0].say(hello);
  await wait(20);
  assert.ok(!sockets[0].closed);
  sockets[0].say(model);
  assert.equal(store.connection.value, 'live');
  await wait(8);
  assert.deepEqual([sockets[0].closed, store.connection.value], [true, 'lost']);
});

test('Try now leaves no socket behind', async () => {
  await answer();
  line.retryNow();
  await settle();
  await answer();
  assert.deepEqual([sockets.length, open().length], [2, 1]);
});

/** What has to come is said over a line that is dead; so many seconds later there is another. */
async function loseAndFind(seconds) {
  await answer();
  sockets[0].say(hello);
  sockets[0].say(model);
  line.sendSurely({type: 'stick', robot: 0, stick: 0, axes: [], buttons: [], povs: []});
  await wait(7);
  assert.equal(store.connection.value, 'lost');
  sockets = [];
  await wait(seconds - 7);
  line.retryNow();
  await settle();
  await answer();
  sockets.at(-1).say(hello);
  sockets.at(-1).say(model);
  return sockets.at(-1).sent.filter(({type}) => type === 'stick').length;
}

test('what may not have come is said again', async () => assert.equal(await loseAndFind(8), 1));

test('what the program has let go of by itself is not said again, since others may hold it', async () => assert.equal(await loseAndFind(40), 0));

/** The program goes on with another world, of which it says `what`. */
async function goOn(what) {
  sockets.at(-1).onclose({code: 1001, reason: ''});
  sockets = [];
  line.retryNow();
  await settle();
  await answer();
  sockets.at(-1).say({...hello, ...what});
  sockets.at(-1).say(model);
}
const texts = () => store.notices.value.map(({kind, text}) => [kind, text]);

test('a scene that was chosen begins, or it is said why it did not, and that stays', async () => {
  const choose = async () => {
    store.notices.value = [];
    const chosen = scenes.runScene('xrp', 'XRP');
    await settle();
    asked.pop().resolve(new Response('', {status: 202}));
    await chosen;
    assert.deepEqual([texts(), store.awaited.value.title], [[], 'XRP'], 'it has not begun yet');
  };
  await answer();
  sockets[0].say({...hello, token: 'one'});
  sockets[0].say(model);
  await choose();
  await goOn({token: 'two', scene: 'xrp'});
  assert.deepEqual(texts(), [['info', 'XRP begins.']]);
  await choose();
  await goOn({token: 'three', refused: {scene: 'xrp', reason: 'port in use'}});
  const [refusal] = texts();
  assert.deepEqual(refusal, ['error', 'XRP could not be opened, so s began anew: port in use']);
  await wait(20);
  assert.deepEqual(texts(), [refusal]);
  // Whoever comes back to the same world has heard it.
  store.notices.value = [];
  await goOn({token: 'three', refused: {scene: 'xrp', reason: 'port in use'}});
  assert.deepEqual(texts(), []);
  // Whoever looks at a world that somebody else ended hears it, too.
  await goOn({token: 'four', refused: {scene: 'draft', reason: 'no such file'}});
  assert.deepEqual(texts(), [['error', 'draft could not be opened, so s began anew: no such file']]);
  await goOn({token: 'five', scene: 'other'});
  assert.equal(texts().length, 1);
});

test('a page whose token counts no more says so, asks slowly, and takes another', async () => {
  const refuse = async (status) => {
    asked.pop().resolve(new Response('{"error": "a token is needed"}', {status}));
    for (let i = 0; i < 5; i++) await settle();
  };
  await answer();
  sockets[0].say({...hello, token: 'withdrawn'});
  sockets[0].say(model);
  sockets[0].onclose({code: 1008, reason: 'the token was withdrawn'});
  await wait(1);
  await refuse(401);
  assert.equal(store.connection.value, 'refused');
  assert.match(store.refusal.value, /^Your token counts no more/);
  asked = [];
  await wait(10);
  assert.equal(asked.length, 0);
  await wait(6);
  await refuse(429);
  assert.match(store.refusal.value, /Too many wrong tokens/);
  const shown = line.showToken('another');
  await answer(); // to the token
  await shown;
  await settle();
  await answer(); // to the page
  sockets.at(-1).say({...hello, token: 'withdrawn'});
  sockets.at(-1).say(model);
  assert.equal(store.connection.value, 'live');
});
