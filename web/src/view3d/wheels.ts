// wheels.ts: wheels of robots that are placed, not driven: nothing turns them in the simulation, so the picture does, as they roll.
import * as THREE from 'three';
import type {Model, Shape} from '../live/types';
import {isFloor} from './shapes';

/** Of its radius, how far above the floor's height a wheel's axle may be off. */
const OFF_FLOOR = 0.4;
/** Farther in one picture nothing rolls: it was put elsewhere, m. */
const JUMP = 1;
/** A joint that moves by more is a controller's business, rad. */
const MOVED = 1e-3;

interface Wheel {
  group: THREE.Group;
  parent: THREE.Group;
  radius: number;
  axis: THREE.Vector3; // in the body's frame
  at: THREE.Vector3;
  angle: number;
  /** How it stands in its parent, without what is turned here. */
  own: THREE.Quaternion;
  still: boolean;
}

function axisOf({rotation: [w, x, y, z]}: Shape): THREE.Vector3 {
  return new THREE.Vector3(0, 0, 1).applyQuaternion(new THREE.Quaternion(x, y, z, w));
}

/** What is round about the middle of its body, largest first. */
function roundShapes(model: Model, body: number): Shape[] {
  const inMiddle = ({position}: Shape) => Math.hypot(...position) < 0.02;
  return model.shapes
    .filter((shape) => shape.body === body && !shape.hidden && shape.kind === 'cylinder' && inMiddle(shape))
    .sort((a, b) => b.size[0] - a.size[0]);
}

/** Turns wheels of a world without dynamics, after its bodies were put where they are. */
export class Wheels {
  private readonly wheels: Wheel[] = [];
  private readonly floor: number;

  constructor(model: Model, bodies: THREE.Group[]) {
    this.floor = model.shapes.find(isFloor)?.position[2] ?? 0;
    if (model.dynamics !== false) return;
    for (const {kind, body, robot} of model.joints) {
      const parent = model.bodies[body]?.parent ?? -1;
      const [shape] = kind === 'hinge' && robot >= 0 && parent >= 0 ? roundShapes(model, body) : [];
      if (!shape) continue;
      this.wheels.push({
        group: bodies[body]!, parent: bodies[parent]!, radius: shape.size[0], axis: axisOf(shape),
        at: new THREE.Vector3(NaN, NaN, NaN), angle: 0, own: new THREE.Quaternion(), still: true,
      });
    }
  }

  roll(): void {
    for (const wheel of this.wheels) this.rollOne(wheel);
  }

  private rollOne(wheel: Wheel): void {
    const {group, parent, radius, axis, at} = wheel;
    const own = parent.quaternion.clone().invert().multiply(group.quaternion);
    const first = Number.isNaN(at.x);
    if (!first && own.angleTo(wheel.own) > MOVED) wheel.still = false;
    wheel.own.copy(own);
    const step = group.position.clone().sub(at);
    at.copy(group.position);
    const across = axis.clone().applyQuaternion(group.quaternion);
    const onFloor = Math.abs(at.z - this.floor - radius) < OFF_FLOOR * radius && Math.abs(across.z) < 0.3;
    if (!first && wheel.still && onFloor && step.length() < JUMP) {
      const ahead = across.cross(new THREE.Vector3(0, 0, 1)).normalize();
      wheel.angle = (wheel.angle + step.dot(ahead) / radius) % (2 * Math.PI);
    }
    if (wheel.still) group.quaternion.multiply(new THREE.Quaternion().setFromAxisAngle(axis, wheel.angle));
  }
}
