// Gamepads, keyboards and the screen as joysticks of driver stations.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const {assign, gamepadStick, KEYBOARDS, KeyboardStick, pov, screenStick} = await load('driving/sticks.ts');

const pad = (mapping, axes, pressed, values = {}) => ({
  mapping,
  axes,
  buttons: Array.from({length: 17}, (_, i) => ({pressed: pressed.includes(i), value: values[i] ?? Number(pressed.includes(i))})),
});

test('a gamepad is mapped as an Xbox controller of WPILib', () => {
  const stick = gamepadStick(pad('standard', [0.1, -1, 0.3, 0.4], [0, 8, 11, 12, 15], {6: 0.25, 7: 1}));
  assert.deepEqual(stick.axes, [0.1, -1, 0.25, 1, 0.3, 0.4]);
  assert.deepEqual(stick.buttons, [1, 0, 0, 0, 0, 0, 1, 0, 0, 1]); // A, back, right stick
  assert.deepEqual(stick.povs, [45]);
});

test('a joystick of another kind is as it comes, within bounds', () => {
  const stick = gamepadStick(pad('', [1.5, NaN, -0.5], [16]));
  assert.deepEqual(stick.axes, [1, 0, -0.5]);
  assert.equal(stick.buttons.length, 17);
  assert.equal(stick.buttons[16], 1);
  assert.deepEqual(stick.povs, []);
});

test('a POV counts clockwise from forward', () => {
  const all = [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 1], [0, 0, 0, 0], [1, 0, 1, 0]];
  assert.deepEqual(all.map((keys) => pov(...keys.map(Boolean))), [0, 45, 90, 135, 180, 225, 270, 315, -1, -1]);
});

test('the pad on the screen is such a gamepad', () => {
  const names = ['left_x', 'left_y', 'right_x', 'right_y', 'a', 'b', 'x', 'y', 'up', 'down', 'left', 'right', 'back', 'select', 'start', 'l1', 'r1', 'l2', 'r2'];
  const stick = screenStick({...Object.fromEntries(names.map((name) => [name, 0])), left_y: 1, right_x: 0.5, b: 1, left: 1});
  assert.deepEqual(stick.axes.map((value) => value + 0), [0, -1, 0, 0, 0.5, 0]);
  assert.deepEqual(stick.buttons, [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(stick.povs, [270]);
});

test('a key moves its axis, which comes back; a throttle stays', () => {
  const keyboard = new KeyboardStick(KEYBOARDS[0]);
  const hold = (steps, ...keys) => {
    let stick;
    for (let i = 0; i < steps; i++) stick = keyboard.step(new Set(keys));
    return stick;
  };
  assert.equal(hold(10, 'KeyW').axes[1], -0.5);
  assert.equal(hold(30, 'KeyW').axes[1], -1);
  assert.equal(hold(5, 'KeyS').axes[1], -0.5); // against it twice as fast
  assert.equal(hold(10).axes[1], 0);
  assert.equal(hold(20, 'KeyR', 'KeyX', 'Numpad9').axes[2], 0.2);
  assert.deepEqual(hold(1, 'KeyX', 'Numpad9').buttons, [0, 1, 0, 0]);
  assert.deepEqual(hold(1, 'Numpad9').povs, [45]);
  assert.equal(hold(50).axes[2], 0.2);
});

test('devices take the first free joysticks, and keep what was chosen', () => {
  const plain = (map) => Object.fromEntries([...map].map(([device, {robot, stick}]) => [device, `${robot}/${stick}`]));
  const devices = ['pad 0 A', 'pad 1 B', 'keyboard 1', 'keyboard 2', 'screen'];
  assert.deepEqual(plain(assign(devices, {}, 1)), {'pad 0 A': '0/0', 'pad 1 B': '0/1'});
  assert.deepEqual(plain(assign(devices, {}, 2)), {'pad 0 A': '0/0', 'pad 1 B': '1/0'});
  assert.deepEqual(plain(assign(devices.slice(2), {}, 1)), {'keyboard 1': '0/0'});
  assert.deepEqual(plain(assign(devices.slice(2), {}, 1, 'screen')), {screen: '0/0'});
  assert.deepEqual(plain(assign(devices, {'pad 0 A': 'off', screen: '1/5'}, 2)), {screen: '1/5', 'pad 1 B': '0/0'});
  assert.deepEqual(plain(assign(['screen'], {screen: '7/0'}, 2)), {}); // a robot of another scene
});
