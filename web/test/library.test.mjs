// The library of runs: which of them is looked at.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {loadHooks} from './hooks.mjs';

Object.assign(globalThis, {
  location: {hash: '#runs', href: 'http://tether.test/'}, history: {replaceState() {}, pushState() {}}, addEventListener() {}, document: {addEventListener() {}, hidden: false},
  requestAnimationFrame: () => 0, cancelAnimationFrame() {}, localStorage: {getItem: () => null, setItem() {}},
});
const {library, route, run, store} = await loadHooks({library: 'pages/runs/library.ts', route: 'route.ts', store: 'live/store.ts'});
const kept = (id) => ({id, name: id, scene: 's', tags: [], note: '', outcome: '', started: `2026-01-0${id.length}T00:00:00Z`, pinned: false});

test('what is looked at stays while newer runs come, and as long as it is listed', () => {
  const old = kept('a');
  const newer = kept('bb');
  const shown = run(library.useCurrent, []);
  const current = (...runs) => (shown(runs), shown.now);
  assert.equal(current(), '');
  assert.equal(current(old), 'a');
  assert.equal(current(old, newer), 'a');
  route.setParams({search: 'bb'}, 'runs');
  assert.equal(current(old, newer), 'bb', 'the other is not found');
  route.setParams({search: null}, 'runs');
  assert.equal(current(old, newer, kept('ccc')), 'bb');
  route.setParams({id: 'a'}, 'runs');
  assert.equal(current(old, newer), 'a', 'a click');
  route.setParams({id: null}, 'runs');
  assert.equal(current(newer), 'a', 'somebody removed it');
  library.leaveGone('a');
  assert.equal(current(newer), 'bb', 'and that is known');
  shown.end();
});

test('a run of the address that is not kept is not replaced by another', () => {
  const shown = run(library.useCurrent, []);
  route.setParams({id: 'gone'}, 'runs');
  shown([kept('a')]);
  assert.equal(shown.now, 'gone');
  library.leaveGone('gone');
  shown([kept('a')]);
  assert.deepEqual([shown.now, library.looked.value], ['a', null]);
  shown.end();
});

test('a file that is no log is refused with its name once, whoever says it', async () => {
  const answers = ['data.csv: only logs can be opened, whose names end in .wpilog', 'the folder is full'];
  globalThis.XMLHttpRequest = class {
    upload = {};
    open() {}
    send() {
      Object.assign(this, {status: 400, response: {error: answers.shift()}});
      this.onload();
    }
  };
  await library.bring([{name: 'data.csv'}, {name: 'one.wpilog'}]);
  assert.deepEqual(store.notices.value.map(({text}) => text), ['data.csv: only logs can be opened, whose names end in .wpilog', 'one.wpilog: the folder is full']);
  store.notices.value.forEach(({id}) => store.dismiss(id));
});
