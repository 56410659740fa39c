// overlays.ts: what is drawn over the model to explain it: contacts with forces, frames, trails, rays.
import * as THREE from 'three';
import type {Contact} from '../live/codec';
import type {Model} from '../live/types';

const MAX_CONTACTS = 256;
/** Length of a force arrow, m/N, and at most, m. */
const FORCE_SCALE = 0.0025;
const FORCE_LONGEST = 1.2;
const TRAIL_POINTS = 900;
/** A trail gets a point when the robot moved this far, m. */
const TRAIL_STEP = 0.02;
const FRAME_AXIS = 0.18;

/** Discs where bodies touch, and arrows of the force on the second body. */
export class Contacts {
  readonly group = new THREE.Group();
  private readonly discs: THREE.InstancedMesh;
  private readonly shafts: THREE.InstancedMesh;
  private readonly heads: THREE.InstancedMesh;

  constructor() {
    const material = (color: string) => new THREE.MeshBasicMaterial({color, depthTest: false, transparent: true, opacity: 0.9});
    this.discs = new THREE.InstancedMesh(new THREE.SphereGeometry(0.018, 10, 8), material('#ffb454'), MAX_CONTACTS);
    this.shafts = new THREE.InstancedMesh(new THREE.CylinderGeometry(0.007, 0.007, 1, 8).translate(0, 0.5, 0), material('#ff7a45'), MAX_CONTACTS);
    this.heads = new THREE.InstancedMesh(new THREE.ConeGeometry(0.022, 0.06, 12).translate(0, 0.03, 0), material('#ff7a45'), MAX_CONTACTS);
    for (const mesh of [this.discs, this.shafts, this.heads]) {
      mesh.frustumCulled = false;
      mesh.renderOrder = 5;
      this.group.add(mesh);
    }
  }

  update(contacts: Contact[]): void {
    const count = Math.min(contacts.length, MAX_CONTACTS);
    const matrix = new THREE.Matrix4();
    const up = new THREE.Vector3(0, 1, 0);
    const one = new THREE.Vector3(1, 1, 1);
    for (let i = 0; i < count; i++) {
      const position = new THREE.Vector3().fromArray(contacts[i]!.position);
      const force = new THREE.Vector3().fromArray(contacts[i]!.force);
      const length = Math.min(FORCE_LONGEST, FORCE_SCALE * force.length());
      const rotation = new THREE.Quaternion().setFromUnitVectors(up, force.lengthSq() > 0 ? force.normalize() : up);
      this.discs.setMatrixAt(i, matrix.compose(position, rotation, one));
      this.shafts.setMatrixAt(i, matrix.compose(position, rotation, new THREE.Vector3(1, length, 1)));
      const tip = position.clone().addScaledVector(force, length);
      this.heads.setMatrixAt(i, matrix.compose(tip, rotation, length > 0.02 ? one : new THREE.Vector3(0, 0, 0)));
    }
    for (const mesh of [this.discs, this.shafts, this.heads]) {
      mesh.count = count;
      mesh.instanceMatrix.needsUpdate = true;
    }
  }
}

/** Axes of every body of a robot and every piece: x red, y green, z blue. */
export class Frames {
  readonly group = new THREE.Group();

  constructor(model: Model, bodies: THREE.Group[]) {
    model.bodies.forEach((body, i) => {
      if (body.robot < 0 && !body.piece) return;
      const axes = new THREE.AxesHelper(FRAME_AXIS);
      (axes.material as THREE.LineBasicMaterial).depthTest = false;
      axes.renderOrder = 4;
      axes.visible = false;
      bodies[i]!.add(axes);
      this.axes.push(axes);
    });
  }

  private readonly axes: THREE.AxesHelper[] = [];

  show(visible: boolean): void {
    for (const axes of this.axes) axes.visible = visible;
  }
}

/** Where the robots have been. */
export class Trails {
  readonly group = new THREE.Group();
  private readonly lines: {root: number; line: THREE.Line; count: number; last: THREE.Vector3}[];

  constructor(model: Model) {
    this.lines = model.robots.map(({root, alliance}) => {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * TRAIL_POINTS), 3));
      geometry.setDrawRange(0, 0);
      const colour = alliance === 'red' ? '#ff6b6b' : alliance === 'blue' ? '#5aa9ff' : '#f2c14e';
      const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({color: colour}));
      line.frustumCulled = false;
      this.group.add(line);
      return {root, line, count: 0, last: new THREE.Vector3(Infinity, 0, 0)};
    });
  }

  clear(): void {
    for (const trail of this.lines) {
      trail.count = 0;
      trail.last.set(Infinity, 0, 0);
      trail.line.geometry.setDrawRange(0, 0);
    }
  }

  update(bodies: THREE.Group[]): void {
    for (const trail of this.lines) {
      const body = bodies[trail.root];
      if (!body || body.position.distanceTo(trail.last) < TRAIL_STEP) continue;
      const attribute = trail.line.geometry.getAttribute('position') as THREE.BufferAttribute;
      if (trail.count === TRAIL_POINTS) {
        attribute.array.copyWithin(0, 3);
        trail.count--;
      }
      attribute.setXYZ(trail.count++, body.position.x, body.position.y, body.position.z + 0.01);
      attribute.needsUpdate = true;
      trail.last.copy(body.position);
      trail.line.geometry.setDrawRange(0, trail.count);
    }
  }
}

/** Rays of range finders, as long as they read. */
export class Rays {
  readonly group = new THREE.Group();
  private readonly rays: {line: THREE.Line; direction: THREE.Vector3; signal: string}[] = [];

  constructor(model: Model, bodies: THREE.Group[]) {
    for (const ray of model.rays) {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array([...ray.position, ...ray.position]), 3));
      const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({color: '#7ee787', transparent: true, opacity: 0.9}));
      line.frustumCulled = false;
      line.visible = false;
      bodies[ray.body]?.add(line);
      const signal = model.signals[ray.signal]?.name ?? '';
      this.rays.push({line, direction: new THREE.Vector3(...ray.direction).normalize(), signal});
    }
  }

  get signals(): string[] {
    return this.rays.map(({signal}) => signal);
  }

  show(visible: boolean): void {
    for (const {line} of this.rays) line.visible = visible;
  }

  update(value: (signal: string) => number): void {
    for (const {line, direction, signal} of this.rays) {
      const length = value(signal);
      const attribute = line.geometry.getAttribute('position') as THREE.BufferAttribute;
      const at = length > 0 ? length : 0; // −1: nothing in reach
      attribute.setXYZ(
        1,
        attribute.getX(0) + at * direction.x,
        attribute.getY(0) + at * direction.y,
        attribute.getZ(0) + at * direction.z,
      );
      attribute.needsUpdate = true;
    }
  }
}
