// The stream's binary messages, byte by byte as docs/web.md has them.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const {decodeFrame, decodeSamples} = await load('live/codec.ts');

/** A frame of 2 bodies, 1 contact and 1 phantom of 1 body; returns it with its true length. */
function frameBytes() {
  const bytes = new ArrayBuffer(24 + 2 * 28 + 28 + 12 + 28);
  const view = new DataView(bytes);
  view.setUint8(0, 1);
  view.setUint8(1, 1);
  view.setUint16(2, 1, true);
  view.setUint32(4, 77, true);
  view.setFloat64(8, 12.345678901234, true);
  view.setUint32(16, 3, true);
  view.setUint16(20, 2, true);
  view.setUint16(22, 1, true);
  for (let i = 0; i < 14; i++) view.setFloat32(24 + 4 * i, i + 0.5, true);
  const contact = 24 + 56;
  for (let i = 0; i < 6; i++) view.setFloat32(contact + 4 * i, 100 + i, true);
  view.setUint16(contact + 24, 0, true);
  view.setUint16(contact + 26, 1, true);
  const phantom = contact + 28;
  view.setUint16(phantom, 9, true);
  view.setUint16(phantom + 2, 1, true);
  view.setFloat32(phantom + 4, -0.25, true);
  view.setFloat32(phantom + 8, 1.5, true);
  for (let i = 0; i < 7; i++) view.setFloat32(phantom + 12 + 4 * i, 200 + i, true);
  return bytes;
}

test('a frame gives every field back', () => {
  const frame = decodeFrame(frameBytes());
  assert.equal(frame.sequence, 77);
  assert.equal(frame.time, 12.345678901234);
  assert.equal(frame.epoch, 3);
  assert.deepEqual([...frame.poses], [...Array(14).keys()].map((i) => i + 0.5));
  assert.deepEqual([...frame.contacts[0].position], [100, 101, 102]);
  assert.deepEqual([...frame.contacts[0].force], [103, 104, 105]);
  assert.equal(frame.contacts[0].body2, 1);
  assert.deepEqual({...frame.phantoms[0], poses: [...frame.phantoms[0].poses]}, {
    id: 9, gapTime: -0.25, gapDistance: 1.5, poses: [200, 201, 202, 203, 204, 205, 206],
  });
});

test('without the flag there are no contacts, which is not the same as none touching', () => {
  const bytes = frameBytes();
  new DataView(bytes).setUint8(1, 0);
  assert.equal(decodeFrame(bytes).contacts, null);
});

test('a frame cut anywhere is refused', () => {
  const bytes = frameBytes();
  for (let size = 0; size < bytes.byteLength; size++) {
    assert.throws(() => decodeFrame(bytes.slice(0, size)), RangeError, `${size} bytes`);
  }
});

function sampleBytes() {
  const bytes = new ArrayBuffer(16 + 8 * 3 * 2);
  const view = new DataView(bytes);
  view.setUint8(0, 2);
  view.setUint16(2, 2, true);
  view.setUint32(4, 5, true);
  view.setUint32(8, 2, true);
  view.setUint32(12, 4, true);
  [0.01, 1 / 3, -2, 0.02, Math.PI, 1e-300].forEach((value, i) => view.setFloat64(16 + 8 * i, value, true));
  return bytes;
}

test('samples keep all 64 bits', () => {
  const {number, width, count, lost, rows} = decodeSamples(sampleBytes());
  assert.deepEqual({number, width, count, lost}, {number: 5, width: 2, count: 2, lost: 4});
  assert.deepEqual([...rows], [0.01, 1 / 3, -2, 0.02, Math.PI, 1e-300]);
});

test('samples cut anywhere are refused, and so is a count that would overflow', () => {
  const bytes = sampleBytes();
  for (let size = 0; size < bytes.byteLength; size++) {
    assert.throws(() => decodeSamples(bytes.slice(0, size)), RangeError, `${size} bytes`);
  }
  new DataView(bytes).setUint32(8, 0xffffffff, true);
  assert.throws(() => decodeSamples(bytes), RangeError);
});
