// A draft: what is written reaches the program, the newest last.
import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';
import {load} from './load.mjs';

const listeners = {};
Object.assign(globalThis, {
  location: {hash: '#build', href: 'http://tether.test/'}, history: {replaceState() {}, pushState() {}}, addEventListener: (name, act) => (listeners[name] ??= []).push(act),
  document: {addEventListener() {}, hidden: false}, localStorage: {getItem: () => null, setItem() {}},
});
const {builder: {Draft, textHash}, http, merge: {merged}, session, store} = await load({
  builder: 'pages/builder/draft.ts', http: 'http.ts', merge: 'pages/builder/merge.ts', session: 'pages/builder/session.ts', store: 'live/store.ts',
});
const state = {draft: 'd', name: '', revision: 1, main: 'a.yaml', files: [], runs: false, problems: [], robots: [], wires: [], signals: [], commands: []};
let has = new Map(); // files that the program has
let during = () => {}; // while a file is on its way
let before = () => {}; // before it answers
let looked = () => {}; // once it was looked at
let keptAlive = 0;
let refused = 0;
let away = false; // the program is
let full = false; // and has no room for more
let deleted = false; // the draft d is
let drives = false; // and may not administer: the word token is not for it

let revision = 1;
let reads = 0;

/** Another tab, or somebody else, changes a file. */
function elsewhere(path, text) {
  revision++;
  if (text === null) has.delete(path);
  else has.set(path, text);
}

globalThis.fetch = async (url, {method = 'GET', body, keepalive = false} = {}) => {
  if (away) throw new TypeError('Failed to fetch');
  const [address, query] = url.split('?');
  const asked = new URLSearchParams(query);
  if (deleted && /^api\/drafts\/d(\/|$)/.test(address)) return new Response('{"error": "there is no such draft"}', {status: 404});
  if (address === 'api/drafts') return new Response('{"draft": "new", "main": "a.yaml"}');
  const seen = asked.get('revision');
  const path = decodeURIComponent(address.split('/files/')[1] ?? '');
  if (method === 'GET' && path) {
    reads++;
    if (drives && has.get(path)?.includes('token')) return new Response('{"error": "the word token"}', {status: 403});
    return new Response(has.get(path) ?? '', {status: has.has(path) ? 200 : 404});
  }
  if (method === 'GET') {
    const answer = JSON.stringify({...state, revision, files: [...has].map(([one, text]) => ({path: one, size: text.length}))});
    looked();
    return new Response(answer);
  }
  if (full) return new Response('{"error": "no room"}', {status: 503});
  if (keepalive) keptAlive++;
  const text = method === 'DELETE' ? null : await new Response(body).text();
  during();
  if (drives && text?.includes('token')) return new Response('{"error": "the word token"}', {status: 403});
  const over = asked.get('over')?.split(',').map(Number);
  const present = has.has(path) ? textHash(has.get(path)) : 0;
  if ((seen && Number(seen) !== revision) || (over && !over.includes(present))) {
    refused++;
    return new Response('{"error": "changed"}', {status: 409});
  }
  elsewhere(path, text);
  const made = revision;
  before();
  return new Response(JSON.stringify({revision: made}));
};

beforeEach(() => {
  has = new Map();
  during = before = looked = () => {};
  keptAlive = refused = 0;
  reads = 0;
  drives = away = full = deleted = false;
  store.connection.value = 'live';
});

const file = (text) => [{path: 'a.yaml', bytes: new Blob([text])}];

test('a file that is brought takes the place of what was written there before', async () => {
  const draft = new Draft('d');
  draft.write('a.yaml', 'typed');
  await draft.add(file('brought'));
  await draft.settle();
  assert.deepEqual([has.get('a.yaml'), draft.texts.value.get('a.yaml')], ['brought', 'brought']);
});

test('what is written while a file is brought comes behind it', async () => {
  const draft = new Draft('d');
  before = () => {
    before = () => {};
    draft.write('a.yaml', 'typed on');
  };
  await draft.add(file('brought'));
  await draft.settle();
  assert.deepEqual([has.get('a.yaml'), draft.texts.value.get('a.yaml'), refused], ['typed on', 'typed on', 0]);
});

/** Whatever was sent. */
const answered = () => new Promise((resolve) => setImmediate(resolve));

test('who leaves the page sends what was not sent yet', async () => {
  const draft = new Draft('d');
  draft.write('a.yaml', 'typed');
  draft.leave();
  await answered();
  assert.deepEqual([has.get('a.yaml'), keptAlive], ['typed', 1]);
  await draft.settle();
});

/** A draft as a tab has it that opened it a while ago. */
async function opened(...files) {
  for (const [path, text] of files) elsewhere(path, text);
  const draft = new Draft('d');
  await draft.open();
  return draft;
}

test('who leaves the page writes over nothing that another tab wrote', async () => {
  assert.deepEqual(['', 'a', 'foobar'].map(textHash), [0x811c9dc5, 0xe40c292c, 0xbf9cf968]);
  const draft = await opened(['a.yaml', 'a'], ['b.yaml', 'b'], ['c.yaml', 'c'], ['d.yaml', 'd']);
  elsewhere('a.yaml', 'theirs');
  elsewhere('d.yaml', null);
  elsewhere('new.yaml', 'theirs');
  for (const path of ['a.yaml', 'b.yaml', 'c.yaml', 'd.yaml', 'new.yaml']) draft.write(path, 'mine');
  draft.leave();
  await answered();
  assert.deepEqual(Object.fromEntries(has), {'a.yaml': 'theirs', 'b.yaml': 'mine', 'c.yaml': 'mine', 'new.yaml': 'theirs'});
  await draft.settle();
});

test('who leaves the page while a text is on its way sends the newer one', async () => {
  for (const moment of ['during', 'before']) {
    const draft = await opened(['a.yaml', 'a']);
    const leave = once(() => {
      draft.write('a.yaml', 'newer');
      draft.leave();
    });
    if (moment === 'during') during = leave;
    else before = leave;
    draft.write('a.yaml', 'sent');
    await draft.settle();
    await answered();
    assert.deepEqual([has.get('a.yaml'), keptAlive], ['newer', 1], moment);
    keptAlive = 0;
    await draft.settle();
  }
});

test('who leaves the page writes over nothing that another tab wrote back', async () => {
  const draft = await opened(['a.yaml', 'a']);
  draft.write('a.yaml', 'x');
  await draft.settle();
  elsewhere('a.yaml', 'y');
  await draft.settle();
  elsewhere('a.yaml', 'x');
  draft.write('a.yaml', 'z');
  draft.leave();
  await answered();
  assert.deepEqual([has.get('a.yaml'), keptAlive, refused], ['x', 1, 1]);
  await draft.settle();
});

const shown = (draft) => Object.fromEntries(draft.texts.value);

test('what another tab has written is there before anything is written over it', async () => {
  const draft = await opened(['a.yaml', 'name: a\nx: 1\n'], ['b.yaml', 'b']);
  elsewhere('a.yaml', 'name: theirs\nx: 1\n');
  elsewhere('b.yaml', 'theirs');
  elsewhere('c.yaml', 'new');
  draft.write('a.yaml', 'name: a\nx: 12\n');
  await draft.settle();
  assert.equal(has.get('a.yaml'), 'name: theirs\nx: 12\n');
  assert.deepEqual(shown(draft), {'a.yaml': 'name: theirs\nx: 12\n', 'b.yaml': 'theirs', 'c.yaml': 'new'});
});

test('who comes back to the page sees what others did, and its own changes are read once', async () => {
  const draft = await opened(['a.yaml', 'a'], ['b.yaml', 'b']);
  elsewhere('a.yaml', 'theirs');
  elsewhere('b.yaml', null);
  await draft.settle();
  assert.deepEqual(shown(draft), {'a.yaml': 'theirs'});
  reads = 0;
  draft.write('a.yaml', 'mine');
  await draft.settle();
  assert.equal(reads, 0);
  await draft.add([{path: 'c.yaml', bytes: new Blob(['c'])}]);
  await draft.remove('c.yaml');
  await draft.settle();
  assert.deepEqual([Object.fromEntries(has), shown(draft)], [{'a.yaml': 'mine'}, {'a.yaml': 'mine'}]);
});

/** Does it once. */
function once(action) {
  return () => {
    during = before = looked = () => {};
    action();
  };
}

test('what another tab writes while a large file is on its way is there before the next change', async () => {
  for (const change of [(draft) => draft.add([{path: 'part.stl', bytes: new Blob(['mesh'])}]), (draft) => draft.remove('old.stl')]) {
    const draft = await opened(['a.yaml', 'x: 1\ny: 1\n'], ['old.stl', 'mesh']);
    during = once(() => elsewhere('a.yaml', 'x: 2\ny: 1\n'));
    await change(draft);
    assert.equal(draft.texts.value.get('a.yaml'), 'x: 2\ny: 1\n');
    draft.write('a.yaml', 'x: 2\ny: 3\n');
    await draft.settle();
    assert.equal(has.get('a.yaml'), 'x: 2\ny: 3\n');
  }
});

test('what another tab writes between a look and a change is not written over', async () => {
  for (const moment of ['looked', 'during']) {
    const draft = await opened(['a.yaml', 'x: 1\ny: 1\n']);
    const action = once(() => elsewhere('a.yaml', 'x: 2\ny: 1\n'));
    if (moment === 'looked') looked = action;
    else during = action;
    draft.write('a.yaml', 'x: 1\ny: 3\n');
    await draft.settle();
    assert.deepEqual([has.get('a.yaml'), draft.texts.value.get('a.yaml')], ['x: 2\ny: 3\n', 'x: 2\ny: 3\n'], moment);
  }
});

test('where two wrote in the same line, what is written here stands, and it is said', async () => {
  const draft = await opened(['a.yaml', 'x: 1']);
  elsewhere('a.yaml', 'x: 2');
  draft.write('a.yaml', 'x: 3');
  await draft.settle();
  assert.equal(has.get('a.yaml'), 'x: 3');
  assert.match(store.notices.value.at(-1).text, /a\.yaml was changed elsewhere/);
});

test('a text that takes the role administer keeps no other from being sent', async () => {
  drives = true;
  const draft = await opened(['a.yaml', 'a'], ['b.yaml', 'b']);
  draft.write('a.yaml', 'a token');
  draft.write('b.yaml', 'mine');
  await assert.rejects(draft.settle(), /^Error: a\.yaml: the word token$/);
  assert.deepEqual([Object.fromEntries(has), draft.failure.value], [{'a.yaml': 'a', 'b.yaml': 'mine'}, 'a.yaml: the word token']);
  draft.write('a.yaml', 'a word');
  await draft.settle();
  assert.deepEqual([has.get('a.yaml'), draft.failure.value, draft.busy.value], ['a word', '', false]);
});

test('what only who administers may read is not written over, and keeps nothing else from being sent', async () => {
  drives = true;
  const draft = await opened(['a.yaml', 'a'], ['b.yaml', 'b']);
  elsewhere('a.yaml', 'token');
  elsewhere('c.yaml', 'token');
  draft.write('b.yaml', 'mine');
  await draft.settle();
  assert.deepEqual([has.get('b.yaml'), draft.failure.value], ['mine', '']);
  draft.write('a.yaml', 'mine');
  draft.write('b.yaml', 'mine again');
  await assert.rejects(draft.settle(), /^Error: a\.yaml could not be read: the word token$/);
  assert.deepEqual(Object.fromEntries(has), {'a.yaml': 'token', 'b.yaml': 'mine again', 'c.yaml': 'token'});
  elsewhere('a.yaml', 'a');
  await draft.settle();
  assert.deepEqual([has.get('a.yaml'), draft.failure.value], ['mine', '']);
});

test('a draft opens without what only who administers may read, unless that is its scene', async () => {
  drives = true;
  const draft = await opened(['a.yaml', 'a'], ['b.yaml', 'token']);
  assert.deepEqual(Object.fromEntries(draft.texts.value), {'a.yaml': 'a'});
  draft.write('a.yaml', 'mine');
  await draft.settle();
  draft.write('b.yaml', 'mine');
  draft.leave();
  await answered();
  await assert.rejects(draft.settle(), /^Error: b\.yaml could not be read: the word token$/);
  assert.deepEqual(Object.fromEntries(has), {'a.yaml': 'mine', 'b.yaml': 'token'});
  elsewhere('a.yaml', 'token');
  await assert.rejects(new Draft('d').open(), /^Error: a\.yaml could not be read: the word token$/);
});

test('what was written while the program was away is sent when it is back, whichever page is shown then', async () => {
  elsewhere('a.yaml', 'a');
  await session.openDraft('d');
  const draft = session.draft.value;
  away = true;
  draft.write('a.yaml', 'mine');
  await assert.rejects(draft.settle());
  session.closeDraft();
  await answered();
  await session.openDraft('d');
  assert.equal(session.draft.value.texts.value.get('a.yaml'), 'mine', 'it is still there when the draft is opened again');
  session.closeDraft();
  away = false;
  await draft.settle();
  assert.equal(has.get('a.yaml'), 'mine');
  await session.openDraft('d');
  assert.notEqual(session.draft.value, draft, 'once it has all, the draft is that of the program');
  session.closeDraft();
});

test('what the program had no room for is sent again, without anybody\'s doing', async (context) => {
  context.mock.timers.enable({apis: ['setTimeout']});
  elsewhere('a.yaml', 'a');
  await session.openDraft('d');
  const draft = session.draft.value;
  full = true;
  draft.write('a.yaml', 'mine');
  await assert.rejects(draft.settle(), /no room/);
  assert.equal(draft.failure.value, 'no room');
  full = false;
  context.mock.timers.tick(http.RETRY_MS);
  for (let i = 0; i < 1000 && draft.busy.value; i++) await new Promise(setImmediate);
  assert.deepEqual([has.get('a.yaml'), draft.failure.value], ['mine', '']);
  session.closeDraft();
});

/** Whether the browser asks before the page goes away. */
function asks() {
  let asked = false;
  for (const act of listeners.beforeunload ?? []) act({preventDefault: () => (asked = true)});
  return asked;
}

test('the browser asks before a page goes away with what could not be sent then', async () => {
  elsewhere('a.yaml', 'a');
  await session.openDraft('d');
  const draft = session.draft.value;
  assert.equal(asks(), false, 'nothing was written');
  draft.write('a.yaml', 'few');
  assert.equal(asks(), false, 'few bytes are sent as the page goes');
  draft.write('a.yaml', 'ä'.repeat(40000));
  assert.equal(asks(), true, 'browsers send no more than 64 KiB');
  await draft.settle();
  assert.equal(asks(), false, 'the program has it');
  away = true;
  draft.write('a.yaml', 'few');
  store.connection.value = 'lost';
  assert.equal(asks(), true, 'the program is away');
  store.connection.value = 'live';
  await assert.rejects(draft.settle());
  session.closeDraft();
  await answered();
  assert.equal(asks(), true, 'also on another page');
  away = false;
  await draft.settle();
});

test('the texts of a draft that was deleted elsewhere stay, and become a new one', async () => {
  for (const path of ['a.yaml', 'b.yaml', 'part.stl']) elsewhere(path, 'as it was');
  await session.openDraft('d');
  const draft = session.draft.value;
  assert.equal(draft.gone.value, false);
  [deleted, has] = [true, new Map()];
  draft.write('a.yaml', 'mine');
  await assert.rejects(draft.settle(), /no such draft/);
  assert.deepEqual([draft.gone.value, asks()], [true, true]);
  session.closeDraft();
  await session.openDraft('d');
  assert.equal(session.draft.value, draft, 'who comes back finds it');
  assert.deepEqual(await draft.saveAsNew(), {id: 'new', lost: ['part.stl']});
  assert.deepEqual([Object.fromEntries(has), asks()], [{'a.yaml': 'mine', 'b.yaml': 'as it was'}, false]);
  session.closeDraft();
  await session.openDraft('d');
  assert.deepEqual([session.trouble.value, session.draft.value.gone.value, asks()], ['there is no such draft', false, false], 'one that was never there is not gone');
  session.closeDraft();
});

test('two changes of a text come together where they are of different lines', () => {
  const lines = (...all) => all.join('\n');
  assert.equal(merged(lines('a', 'b', 'c'), lines('a', 'b', 'x'), lines('y', 'b', 'c')), lines('y', 'b', 'x'));
  assert.equal(merged(lines('a', 'b', 'c'), lines('new', 'a', 'b', 'c'), lines('a', 'b')), lines('new', 'a', 'b'));
  assert.equal(merged('1.8', '1.85', '1.84'), null);
  assert.equal(merged(lines('a', 'b'), lines('a', 'x'), lines('a', 'x')), lines('a', 'x'));
  assert.equal(merged(lines('a', 'b', 'c'), lines('a', 'c'), lines('a', 'bb', 'c')), null);
});
