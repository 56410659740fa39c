// Wheels of placed robots roll in the picture.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const {wheels: {Wheels}, three: THREE} = await load({wheels: 'view3d/wheels', three: '../node_modules/three/build/three.module.js'});
const RADIUS = 0.0762;
const half = Math.SQRT1_2;
const shape = (kind, body, size, rotation) => ({kind, body, size, rotation, position: [0, 0, 0], hidden: false});
const model = (dynamics) => ({
  dynamics,
  bodies: [{parent: -1}, {parent: 0}, {parent: 1}],
  joints: [{kind: 'hinge', body: 2, robot: 0}],
  // Along y, as a wheel lies in a robot that looks along x.
  shapes: [shape('plane', 0, [0, 0, 1], [1, 0, 0, 0]), shape('cylinder', 2, [RADIUS, 0.02, 0], [half, half, 0, 0])],
});

function world(dynamics) {
  const bodies = [0, 1, 2].map(() => new THREE.Group());
  const wheels = new Wheels(model(dynamics), bodies);
  /** Puts the robot somewhere, its wheel turned by the simulation, and tells how far the picture turned it about y. */
  const put = (x, heading = 0, own = 0) => {
    const turn = new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(0, 0, 1), heading);
    bodies[1].quaternion.copy(turn);
    bodies[2].quaternion.copy(turn).multiply(new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(0, 1, 0), own));
    bodies[2].position.set(x, 0, RADIUS);
    const before = bodies[2].quaternion.clone();
    wheels.roll();
    const {y, w} = before.invert().multiply(bodies[2].quaternion);
    return 2 * Math.atan2(y, w);
  };
  return put;
}

test('it turns by what it rolled, forward and back, and not when it is put elsewhere', () => {
  const put = world(false);
  assert.equal(put(5), 0);
  const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-9, `${actual}, not ${expected}`);
  near(put(5.05), 0.05 / RADIUS);
  near(put(5), 0);
  near(put(4.98), -0.02 / RADIUS);
  near(put(-3), -0.02 / RADIUS);
});

test('a robot that looks the other way rolls the other way; sideways nothing rolls', () => {
  const back = world(false);
  back(0, Math.PI);
  assert.ok(Math.abs(back(0.05, Math.PI) + 0.05 / RADIUS) < 1e-9);
  const sideways = world(false);
  sideways(0, Math.PI / 2);
  assert.ok(Math.abs(sideways(0.05, Math.PI / 2)) < 1e-9);
});

test('what the simulation or a controller turns is left alone', () => {
  const driven = world(true);
  driven(0);
  assert.equal(driven(0.05), 0);
  const placed = world(false);
  placed(0, 0, 0);
  assert.equal(placed(0.05, 0, 0.3), 0);
  assert.equal(placed(0.1, 0, 0.3), 0);
});
