// What is kept of signals while somebody wants it.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

Object.assign(globalThis, {location: {hash: ''}, addEventListener() {}, localStorage: {getItem: () => null, setItem() {}}});
const timers = [];
globalThis.setTimeout = (call) => timers.push(call);
const {samples, store} = await load({samples: 'live/samples.ts', store: 'live/store.ts'});
const settle = () => timers.splice(0).forEach((call) => call());

let asked = {number: 0, signals: []};
store.model.value = {signals: [{name: 'r.x', unit: '1'}, {name: 'r.y', unit: '1'}], commands: []};
samples.resubscribe((message) => (asked = message));
const come = (...times) => samples.takeSamples({number: asked.number, width: asked.signals.length, count: times.length, lost: 0, rows: Float64Array.from(times.flatMap((time) => [time, ...asked.signals.map(() => time)]))});

test('what was kept before a gap is not what is kept after it', () => {
  const first = samples.want(['r.x'], true);
  settle();
  come(1, 2);
  // Another want in its place, as a plot that gets a second signal: nothing is lost.
  first();
  const second = samples.want(['r.x', 'r.y'], true);
  settle();
  come(3);
  assert.equal(samples.ring('r.x').time(0), 1);
  second();
  settle();
  assert.equal(samples.ring('r.x').length, 3, 'until somebody wants it again');
  const third = samples.want(['r.x'], true);
  settle();
  come(10);
  assert.deepEqual([samples.ring('r.x').length, samples.ring('r.x').time(0)], [1, 10]);
  third();
});

test('what is plotted of a world that is paused begins with the last sample', () => {
  const shown = samples.want(['r.x'], false);
  settle();
  come(20);
  const plotted = samples.want(['r.x', '= r.x + r.y', '= 2 * r.x'], true);
  settle();
  const points = (name) => Array.from({length: samples.ring(name).length}, (_, i) => [samples.ring(name).time(i), samples.ring(name).value(i)]);
  assert.deepEqual(points('r.x'), [[20, 20]]);
  assert.deepEqual(points('= 2 * r.x'), [[20, 40]]);
  assert.deepEqual(points('= r.x + r.y'), [], 'nobody has told r.y');
  come(21);
  assert.deepEqual(points('= 2 * r.x'), [[20, 40], [21, 42]]);
  assert.deepEqual(points('= r.x + r.y'), [[21, 42]]);
  shown();
  plotted();
});
