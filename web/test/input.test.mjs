// Keys that stand for controls, and the key of the emergency stop.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const listeners = {};
Object.assign(globalThis, {
  addEventListener: (type, call) => (listeners[type] = call), removeEventListener() {}, Element: class {}, location: {hash: ''},
  localStorage: {getItem: () => null, setItem() {}}, document: {addEventListener() {}, hidden: false},
});
const {input, stop, store, role} = await load({input: 'driving/input.ts', stop: 'ui/stop_key.ts', store: 'live/store.ts', role: 'role.ts'});
const key = (type, code, more = {}) => listeners[type]({type, code, ctrlKey: false, metaKey: false, altKey: false, target: null, preventDefault() {}, stopPropagation() {}, ...more});

test('a key that is let go with a modifier is not held any more', () => {
  const end = input.takeKeys();
  key('keydown', 'KeyW');
  assert.deepEqual([...input.heldKeys()], ['KeyW']);
  key('keyup', 'KeyW', {ctrlKey: true});
  assert.deepEqual([...input.heldKeys()], []);
  key('keydown', 'KeyA', {ctrlKey: true}); // a command of the browser
  assert.deepEqual([...input.heldKeys()], []);
  end();
});

test('a key that went down elsewhere is not held for the emergency stop', () => {
  store.connection.value = 'live';
  store.status.value = {stopped: false};
  role.role.value = 'administer';
  const press = (timeStamp, repeat) => stop.pressStopKey({timeStamp, repeat, code: stop.STOP_KEY});
  press(1000, true);
  press(1030, true);
  assert.equal(store.notices.value.length, 0, 'nothing was tried');
  assert.equal(stop.armed.value, false);
  press(2000, false);
  assert.equal(stop.armed.value, true);
});
