// Textures as the program sends them, and how they lie on shapes.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const {decodeTexture, layCube, layFlat, Looks} = await load('view3d/looks.ts');

function texture(width, height, faces, size = 3 * width * height * faces) {
  const bytes = new Uint8Array(12 + size);
  new Uint32Array(bytes.buffer, 0, 3).set([width, height, faces]);
  bytes.subarray(12).forEach((_, i, pixels) => (pixels[i] = i + 1));
  return bytes.buffer;
}

test('a texture becomes one picture a face, opaque', () => {
  const {width, height, faces} = decodeTexture(texture(2, 1, 6));
  assert.deepEqual([width, height, faces.length], [2, 1, 6]);
  assert.deepEqual([...faces[0]], [1, 2, 3, 255, 4, 5, 6, 255]);
  assert.deepEqual([...faces[5]], [31, 32, 33, 255, 34, 35, 36, 255]);
  assert.throws(() => decodeTexture(texture(2, 1, 6, 35)), RangeError);
  assert.throws(() => decodeTexture(new ArrayBuffer(3)));
});

/** A geometry, as far as laying a texture on it asks for one. */
function geometry(points) {
  const attributes = {position: {array: points, count: points.length / 3, getX: (i) => points[3 * i], getY: (i) => points[3 * i + 1]}};
  return {attributes, getAttribute: (name) => attributes[name], setAttribute: (name, made) => (attributes[name] = made)};
}

test('a flat texture is repeated over the shape, or over each 2 m', () => {
  const box = {kind: 'box', size: [2, 1, 1]};
  const corners = geometry([-2, -1, 0, 2, 1, 0]);
  layFlat(corners, box, {repeat: [3, 2], uniform: false});
  const [u0, v0, u1, v1] = corners.attributes.uv.array;
  assert.deepEqual([u1 - u0, v1 - v0], [3, -2]);
  layFlat(corners, box, {repeat: [3, 2], uniform: true});
  assert.equal(corners.attributes.uv.array[2] - corners.attributes.uv.array[0], 6);
});

test('a cube texture is stretched over the shape unless it is uniform', () => {
  const points = geometry([2, 0.5, -1]);
  layCube(points, {kind: 'box', size: [2, 1, 1]}, {uniform: false});
  assert.deepEqual([...points.attributes.inside.array], [1, 0.5, -1]);
  layCube(points, {kind: 'box', size: [2, 1, 1]}, {uniform: true});
  assert.deepEqual([...points.attributes.inside.array], [2, 0.5, -1]);
});

test('shapes that glow in different colours are not drawn as one', () => {
  const plain = {texture: -1, repeat: [1, 1], uniform: false, specular: 0, shininess: 0, emission: 0};
  const looks = new Looks({materials: [plain, {...plain, emission: 1}], textures: []}, () => {});
  const key = (material, rgba) => looks.keyOf({material, rgba});
  assert.equal(key(0, [1, 0, 0, 1]), key(0, [0, 1, 0, 1]));
  assert.notEqual(key(1, [1, 0, 0, 1]), key(1, [0, 1, 0, 1]));
});
