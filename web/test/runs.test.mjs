// Runs over one another: which moment of each is 0, and how far one is from another.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const {aligned, commonEvents, difference, extremes, valueAt, zeroOf} = await load('pages/runs/align.ts');
const event = (time, source, text) => ({time, step: 0, source, text});
const run = (moved, ...events) => ({moved, events});

test('a run has its start, perhaps a first motion, and the first of its events of a name', () => {
  const shown = run(0.5, event(1, 'station', 'enabled'), event(3, 'world', 'reset'), event(4, 'station', 'enabled'));
  assert.deepEqual(['start', 'motion', 'station: enabled', 'world: gone'].map((by) => zeroOf(shown, by)), [0, 0.5, 1, null]);
  assert.equal(zeroOf(run(null), 'motion'), null, 'nothing moved');
  assert.deepEqual([zeroOf(null, 'start'), zeroOf(null, 'motion')], [0, null], 'what is not known yet');
});

test('events that all have, in the order of the first', () => {
  const first = run(0, event(1, 'a', 'x'), event(2, '', 'y'), event(3, 'a', 'x'), event(4, 'b', 'z'));
  assert.deepEqual(commonEvents([first, run(0, event(0, 'b', 'z'), event(1, 'a', 'x'))]), ['a: x', 'b: z']);
  assert.deepEqual(commonEvents([]), []);
});

test('a value lies on the line between two samples, and nowhere outside', () => {
  const trace = {times: [0, 1, 1, 3], values: [0, 2, 4, 0]};
  assert.deepEqual([0, 0.5, 1, 2, 3].map((time) => valueAt(trace, time)), [0, 1, 4, 2, 0]);
  for (const time of [-0.1, 3.1, NaN]) assert.ok(Number.isNaN(valueAt(trace, time)));
  assert.ok(Number.isNaN(valueAt({times: [], values: []}, 0)));
});

test('the difference is there where both are', () => {
  const samples = {time: [0, 1, 2, 3], values: [[5, 5, 5, 5], [0, 1, 2, 3]]};
  const later = aligned(samples, 1, 1); // from −1 to 2 s
  assert.deepEqual(later, {times: [-1, 0, 1, 2], values: [0, 1, 2, 3]});
  const from = {times: [0, 4], values: [0, 4]};
  assert.deepEqual(difference(later, from), {times: [0, 1, 2], values: [1, 1, 1]});
  assert.deepEqual(extremes(later, 0, 1), [1, 2]);
  assert.deepEqual(extremes({times: [0, 1, 2], values: [1, Infinity, 2]}, 0, 2), [1, 2]);
  assert.ok(extremes(later, 5, 6).every(Number.isNaN));
});
