// Tiles of telemetry's devices: which are in sight, so that their values are asked for.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {loadHooks, until} from './hooks.mjs';

let observer;
class FakeObserver {
  watched = new Set();
  constructor(call) {
    this.call = call;
    observer = this;
  }
  observe(element) {
    this.watched.add(element);
  }
  unobserve(element) {
    this.watched.delete(element);
  }
  disconnect() {}
}
Object.assign(globalThis, {
  location: {hash: '#telemetry', href: 'http://tether.test/'}, history: {replaceState() {}, pushState() {}}, addEventListener() {}, document: {addEventListener() {}, hidden: false},
  localStorage: {getItem: () => null, setItem() {}}, IntersectionObserver: FakeObserver,
});
const {tiles, run} = await loadHooks({tiles: 'pages/telemetry/tiles.tsx'});

test('tiles that a search took away are in sight no more', async () => {
  const shown = run(tiles.useSight);
  const [, watch] = shown.now;
  const seen = () => shown.now[0];
  const tile = (device) => ({dataset: {device}});
  const all = Array.from({length: 60}, (_, i) => tile(`a${i}`));
  const stop = all.map(watch);
  observer.call(all.map((target) => ({target, isIntersecting: true})));
  await until(() => seen().length === 60);
  for (const call of stop.slice(1)) call();
  await until(() => seen().length === 1);
  assert.deepEqual(seen(), ['a0'], 'also where nothing else comes into sight');
  watch(tile('z'));
  observer.call([{target: tile('z'), isIntersecting: true}]);
  await until(() => seen().length === 2);
  assert.deepEqual(seen(), ['a0', 'z']);
  shown.end();
});
