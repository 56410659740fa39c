// From joystick to commands, and from signals to a trial's start and stop.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const {guessMapping, Driver, released, FORWARD, TURN} = await load('driving/mapping.ts');
const {whenHolds, whenMoved, describe} = await load('pages/trials/condition.ts');
const {Ring} = await load('live/ring.ts');
const {blend, takeFrame, posesAt} = await load('live/frames.ts');

const AXES = ['left_x', 'left_y', 'right_x', 'right_y', 'a', 'b', 'x', 'y', 'up', 'down', 'left', 'right', 'back', 'select', 'start', 'l1', 'r1', 'l2', 'r2'];
const inputs = (set = {}) => ({...Object.fromEntries(AXES.map((name) => [name, 0])), ...set});
const command = (name, lower = -1e7, upper = 1e7) => ({name, unit: '', robot: 0, lower, upper});
const modelOf = (commands) => ({robots: [{name: 'r', alliance: '', root: 0}], commands});

test('a tank drive is guessed: one stick, both sides, arm on the other stick', () => {
  const model = modelOf([command('r/left_track.duty', -1, 1), command('r/right_track.duty', -1, 1), command('r/arm.velocity'), command('r/grip', 0, 4)]);
  const rows = guessMapping(model, 0);
  const values = new Driver({x: 0, y: 0, heading: 0}).step(rows, inputs({left_y: 0.5, left_x: 0.25, right_y: -1}), 0.02);
  assert.equal(values.get('left_track.duty'), 0.75);
  assert.equal(values.get('right_track.duty'), 0.25);
  assert.equal(values.get('arm.velocity'), -2);
  assert.deepEqual([...released(rows)], [['left_track.duty', 0], ['right_track.duty', 0], ['arm.velocity', 0]]);
});

test('a joint that a motor of the same name turns is not guessed for a stick of its own', () => {
  const sides = ['left_drive', 'right_drive'];
  const model = modelOf([...sides.map((name) => command(`r/${name}.duty`, -1, 1)), ...sides.map((name) => command(`joint:r/${name}.velocity`)), command('joint:r/lift.velocity')]);
  assert.deepEqual(guessMapping(model, 0).map(({source, target}) => [source, target]), [['arcade_left', 'left_drive.duty'], ['arcade_right', 'right_drive.duty'], ['right_y', 'joint:r/lift.velocity']]);
});

test('where frames stop, nothing is drawn that no frame has', (t) => {
  let now = 1000;
  t.mock.method(performance, 'now', () => now);
  const poses = new Float32Array(7);
  let x = 0;
  for (let i = 0; i < 60; i++, now += 1000 / 60) {
    takeFrame({sequence: i, time: i / 60, epoch: 0, contacts: null, phantoms: [], poses: new Float32Array([(x = i / 30), 0, 0, 1, 0, 0, 0])});
    posesAt(now, poses);
  }
  for (let i = 0; i < 40; i++, now += 1000 / 60) {
    posesAt(now, poses);
    assert.ok(poses[0] <= x + 1e-6, `${poses[0]} m`);
  }
});

test('a switch sets once a press, and a second press clears it', () => {
  const rows = [{source: 'a', kind: 'toggle', target: 'grip', scale: 2}];
  const driver = new Driver({x: 0, y: 0, heading: 0});
  const press = (a) => driver.step(rows, inputs({a}), 0.02).get('grip');
  assert.deepEqual([press(0), press(1), press(1), press(0), press(1), press(0)], [undefined, 2, 2, 2, 0, 0]);
});

test('a joint that a stick moves stays alone until then, goes on from where it is, and turns round at its limit', () => {
  const rows = [{source: 'right_y', kind: 'rate', target: 'arm.position', scale: 2}];
  let arm = null;
  const driver = new Driver({x: 0, y: 0, heading: 0}, {now: () => arm, limits: () => [-1, 1]});
  const move = (right_y, seconds = 0.1) => driver.step(rows, inputs({right_y}), seconds).get('arm.position');
  assert.deepEqual([move(0), move(1)], [undefined, undefined], 'where it is is not known yet');
  arm = 0.5;
  assert.equal(move(0), undefined);
  assert.equal(move(1), 0.7);
  arm = 0.6; // it lags behind
  assert.deepEqual([move(0), move(1, 60), move(-1)], [0.7, 1, 0.8]);
});

test('a robot without dynamics is moved along its heading, and comes round in a circle', () => {
  const rows = [{source: 'left_y', kind: 'rate', target: FORWARD, scale: 2}, {source: 'left_x', kind: 'rate', target: TURN, scale: -Math.PI}];
  const straight = new Driver({x: 1, y: 2, heading: Math.PI / 2}).step(rows, inputs({left_y: 1}), 0.5);
  assert.ok(Math.abs(straight.get('x') - 1) < 1e-12 && Math.abs(straight.get('y') - 3) < 1e-12);
  const driver = new Driver({x: 0, y: 0, heading: 0});
  let values;
  for (let i = 0; i < 100; i++) values = driver.step(rows, inputs({left_y: 1, left_x: -1}), 0.02);
  assert.ok(Math.hypot(values.get('x'), values.get('y')) < 1e-9);
});

function rings(signals) {
  const made = new Map(Object.entries(signals).map(([name, values]) => {
    const ring = new Ring(1000);
    values.forEach((value, i) => ring.push(i / 100, value));
    return [name, ring];
  }));
  return (name) => made.get(name);
}

test('a trial stops at the very sample at which enough terms hold', () => {
  const at = rings({a: [0, 0, 1, 1, 1], b: [0, 0, 0, 0, 1]});
  const terms = ['a', 'b'].map((signal) => ({signal, operator: '≥', value: 1}));
  assert.equal(whenHolds({terms, least: 0}, at, 0), 0.04);
  assert.equal(whenHolds({terms, least: 1}, at, 0), 0.02);
  assert.equal(whenHolds({terms, least: 1}, at, 0.03), 0.04);
  assert.ok(Number.isNaN(whenHolds({terms: [], least: 0}, at, 0)));
  assert.equal(describe({terms, least: 1}), '1 of a ≥ 1, b ≥ 1');
});

test('the first motion is the first sample more than a centimetre away', () => {
  const at = rings({x: [5, 5, 5.009, 5.02], y: [0, 0, 0, 0]});
  assert.equal(whenMoved(['x', 'y'], at, 0, 0), 0.03);
  assert.ok(Number.isNaN(whenMoved(['y'], at, 0, 0)));
});

test('between two frames a rotation goes the shorter way and stays a rotation', () => {
  const half = Math.SQRT1_2;
  const a = new Float32Array([0, 0, 0, 1, 0, 0, 0]);
  const b = new Float32Array([2, 4, 6, -half, 0, 0, -half]); // the same as (half, 0, 0, half): a quarter turn
  const out = new Float32Array(7);
  blend(a, b, 0.5, out);
  assert.deepEqual([...out.slice(0, 3)], [1, 2, 3]);
  assert.ok(Math.abs(2 * Math.atan2(out[6], out[3]) - Math.PI / 4) < 1e-6);
  assert.ok(Math.abs(Math.hypot(...out.slice(3)) - 1) < 1e-6);
});
