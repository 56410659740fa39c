// History of signals, and what is drawn of it.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const {Ring} = await load('live/ring.ts');
const {decimate} = await load('live/decimate.ts');

function filled(capacity, count) {
  const ring = new Ring(capacity);
  for (let i = 0; i < count; i++) ring.push(i / 100, Math.sin(i));
  return ring;
}

test('a ring keeps the last samples in order, also beyond its first size', () => {
  for (const count of [0, 1, 1023, 1024, 1025, 4000, 5000, 12345]) {
    const ring = filled(5000, count);
    const kept = Math.min(count, 5000);
    assert.equal(ring.length, kept);
    for (let i = 0; i < kept; i++) {
      assert.equal(ring.time(i), (count - kept + i) / 100);
      assert.equal(ring.value(i), Math.sin(count - kept + i));
    }
  }
});

test('find gives the first sample not before a time, at the value that held', () => {
  const ring = filled(2000, 7777);
  assert.equal(ring.time(ring.find(70)), 70);
  assert.equal(ring.time(ring.find(70.001)), 70.01);
  assert.equal(ring.find(1e9), ring.length);
  assert.equal(ring.find(-1), 0);
  assert.equal(ring.at(70.005), Math.sin(7000));
  assert.equal(ring.at(1e9), Math.sin(7776));
  assert.ok(Number.isNaN(ring.at(0)));
});

test('time that goes back is a reset: what was before is gone', () => {
  const ring = filled(100, 50);
  ring.push(0, 7);
  assert.equal(ring.length, 1);
  assert.equal(ring.value(0), 7);
});

test('decimation loses no spike and keeps the order of time', () => {
  const ring = new Ring(360000);
  for (let i = 0; i < 360000; i++) ring.push(i / 100, i === 123457 ? 1e6 : i === 200001 ? -1e6 : Math.sin(i / 50));
  const {times, values} = decimate(ring, 0, 3600, 500);
  assert.ok(times.length <= 4 * 502, `${times.length} points`);
  assert.ok(values.includes(1e6) && values.includes(-1e6));
  for (let i = 1; i < times.length; i++) assert.ok(times[i] > times[i - 1]);
});

test('few samples are drawn as they are, with one beyond each end', () => {
  const {times} = decimate(filled(1000, 1000), 2.005, 2.995, 500);
  assert.equal(times[0], 2);
  assert.equal(times[times.length - 1], 3);
  assert.equal(times.length, 101);
});
