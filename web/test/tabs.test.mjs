// Two tabs of one browser: what both write stays, and what waits is stored once.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const kept = new Map();
const listeners = [];
let locked = Promise.resolve();
const locks = {
  request(_, call) {
    const done = locked.then(call);
    locked = done.catch(() => undefined);
    return done;
  },
};
Object.assign(globalThis, {
  location: {hash: '', href: 'http://tether.test/'}, history: {replaceState() {}, pushState() {}}, document: {addEventListener() {}, hidden: false},
  addEventListener: (type, call) => type === 'storage' && listeners.push(call), requestAnimationFrame: () => 0, cancelAnimationFrame() {},
  localStorage: {getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value)},
});
Object.defineProperty(globalThis, 'navigator', {value: {locks}, configurable: true});
/** A page of its own: what has another export is another module. */
const tab = (name) => load({run: 'ui/timeline_run.ts', session: 'pages/trials/session.ts', store: 'live/store.ts', [name]: 'check.ts'});

const trial = (started) => ({
  started, scene: 's', driver: 'Ada', time: 1, startedBy: 'hand', stoppedBy: 'hand', condition: '', note: '', discarded: false, recording: '', begin: 0,
});
kept.set('tether.trial.waiting', JSON.stringify([trial('one'), trial('two')]));
const [a, b] = [await tab('a'), await tab('b')];

test('each tab keeps the bookmarks of the other, and shows them', () => {
  for (const {store} of [a, b]) store.hello.value = {token: '', recording: 'kept'};
  a.run.addBookmark(1, 'of a');
  b.run.addBookmark(2, 'of b');
  for (const call of listeners) call({key: 'tether.bookmarks'});
  const names = ({run}) => run.bookmarks.value.map(({name}) => name);
  assert.deepEqual([names(a), names(b)], [['of a', 'of b'], ['of a', 'of b']]);
  a.run.removeBookmark(2);
  for (const call of listeners) call({key: 'tether.bookmarks'});
  assert.deepEqual([names(a), names(b)], [['of a'], ['of a']]);
});

test('a trial that waits is stored by one tab, and once', async () => {
  const posted = [];
  globalThis.fetch = async (_, {body}) => {
    const {started} = JSON.parse(body);
    posted.push(started);
    await new Promise((resolve) => setTimeout(resolve, 20));
    return new Response(JSON.stringify({...trial(started), id: posted.length}));
  };
  await Promise.all([a.session.storeWaiting(), b.session.storeWaiting()]);
  assert.deepEqual([posted.sort(), kept.get('tether.trial.waiting')], [['one', 'two'], '[]']);
});

test('where the browser keeps nothing, the page does', () => {
  const {setItem} = globalThis.localStorage;
  globalThis.localStorage.setItem = () => {
    throw new Error('full');
  };
  a.run.addBookmark(3, 'here alone');
  a.run.addBookmark(4, 'too');
  assert.deepEqual(a.run.bookmarks.value.map(({name}) => name), ['of a', 'here alone', 'too']);
  globalThis.localStorage.setItem = setItem;
});
