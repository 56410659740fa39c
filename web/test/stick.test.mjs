// The sticks and buttons on the screen.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {loadHooks, until} from './hooks.mjs';

Object.assign(globalThis, {
  location: {hash: '', href: 'http://tether.test/'}, history: {replaceState() {}, pushState() {}}, addEventListener() {}, document: {addEventListener() {}, hidden: false},
  matchMedia: () => ({matches: false}), localStorage: {getItem: () => null, setItem() {}},
});
const {stick, input, run} = await loadHooks({stick: 'driving/stick.tsx', input: 'driving/input.ts'});
const finger = {pointerId: 1, clientX: 50, clientY: 0, currentTarget: {setPointerCapture() {}}};

test('what leaves the page under a finger is not held any more', async () => {
  const shown = [run(stick.Stick, {label: 'left', x: 'left_x', y: 'left_y'}), run(stick.PadKey, {name: 'a', text: 'A'})];
  shown[0].now.ref.current = {getBoundingClientRect: () => ({left: 0, top: 0, width: 100})};
  await new Promise((resolve) => setTimeout(resolve, 200)); // effects come behind a picture
  for (const {now} of shown) now.props.onPointerDown(finger);
  assert.deepEqual(input.onScreen, {left_x: 0, left_y: 1, a: 1});
  for (const {end} of shown) end();
  await until(() => !Object.keys(input.onScreen).length);
  assert.deepEqual(input.onScreen, {});
});
