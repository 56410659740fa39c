// Bookmarks: of which run they are.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

Object.assign(globalThis, {location: {hash: '', href: 'http://tether.test/'}, history: {replaceState() {}, pushState() {}}, addEventListener() {}, requestAnimationFrame: () => 0, cancelAnimationFrame() {}, localStorage: {getItem: () => null, setItem() {}}});
const {run, store} = await load({run: 'ui/timeline_run.ts', store: 'live/store.ts'});

test('bookmarks are of one run, kept or not', () => {
  const times = () => run.bookmarks.value.map(({time}) => time);
  const begin = (token, recording = '') => (store.hello.value = {token, recording});
  begin('first');
  run.addBookmark(2);
  run.addBookmark(1);
  assert.deepEqual(times(), [1, 2]);
  begin('first');
  assert.deepEqual(times(), [1, 2], 'connected again');
  begin('second');
  assert.deepEqual(times(), [], 'a run that is not kept ends with the program');
  begin('second', 'kept');
  run.addBookmark(3);
  begin('third', 'other');
  assert.deepEqual(times(), []);
  begin('fourth', 'kept');
  assert.deepEqual(times(), [3]);
});
