// The moment that all pages show: of which world it is.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

Object.assign(globalThis, {
  location: {hash: '#world?t=523.000&from=510&to=530&bar=0..600', href: 'http://tether.test/'}, history: {replaceState() {}, pushState() {}}, addEventListener() {},
  requestAnimationFrame: () => 0, cancelAnimationFrame() {}, localStorage: {getItem: () => null, setItem() {}}, fetch: async () => new Response('{}', {status: 404}),
});
const {moment, route, store} = await load({moment: 'live/moment.ts', route: 'route.ts', store: 'live/store.ts'});

const hello = (token, recording = '', replay = null) => (store.hello.value = {token, recording, replay});
const shown = () => [moment.moment.value, ...['t', 'from', 'to', 'bar'].map((key) => route.param(key).value)];
const HELD = [523, '523.000', '510', '530', '0..600'];
const hold = () => route.setParams({t: '523.000', from: '510', to: '530', bar: '0..600'});

test('the moment of one world is none of another', () => {
  hello('first');
  assert.deepEqual(shown(), HELD, 'as somebody sent the address');
  hello('first');
  assert.deepEqual(shown(), HELD, 'connected again');
  hello('second');
  assert.deepEqual(shown(), [null, null, null, null, null]);
  hold();
  hello('second', 'kept');
  assert.deepEqual(shown(), [null, null, null, null, null]);
});

test('the moment of a kept run stays, whatever the program computes', () => {
  hello('third', 'other');
  hold();
  route.setParams({run: 'named'});
  hello('fourth', 'another');
  assert.deepEqual(shown(), HELD);
});
