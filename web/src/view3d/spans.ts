// spans.ts: how large things are as they are drawn, and where robots are.
import * as THREE from 'three';
import type {Model} from '../live/types';

/** m, of what has no shape that is drawn. */
const SMALLEST = 0.05;

interface Span {
  radius: number; // half of the diagonal, m
  top: number; // above the body's origin, m
}

export class Spans {
  private readonly ofBodies: Span[] = [];
  private readonly ofRobots: Span[] = [];

  constructor(
    private readonly model: Model,
    private readonly bodies: THREE.Group[],
  ) {}

  /** Measures everything where it is now. */
  measure(): void {
    const boxes = this.bodies.map((group) => new THREE.Box3().setFromObject(group));
    const of = (box: THREE.Box3, body: number): Span =>
      box.isEmpty()
        ? {radius: SMALLEST, top: SMALLEST}
        : {radius: Math.max(SMALLEST, box.getSize(new THREE.Vector3()).length() / 2), top: box.max.z - this.bodies[body]!.position.z};
    boxes.forEach((box, i) => (this.ofBodies[i] = of(box, i)));
    this.model.robots.forEach(({root}, robot) => {
      const box = new THREE.Box3();
      this.model.bodies.forEach((body, i) => body.robot === robot && !boxes[i]!.isEmpty() && box.union(boxes[i]!));
      this.ofRobots[robot] = of(box, root);
    });
  }

  radius(body: number): number {
    return this.ofBodies[body]?.radius ?? SMALLEST;
  }

  /** m from a body's origin up to where nothing of it, or of the robot whose root it is, stands. */
  top(body: number): number {
    const robot = this.model.robots.findIndex(({root}) => root === body);
    return (this.ofRobots[robot] ?? this.ofBodies[body])?.top ?? SMALLEST;
  }

  /** Where a robot is, its size and its heading; the origin, where there is none. */
  robot(index: number): {robot: THREE.Vector3; radius: number; heading: number} {
    const group = this.bodies[this.model.robots[index]?.root ?? -1];
    if (!group) return {robot: new THREE.Vector3(), radius: 0.5, heading: 0};
    const {x, y, z, w} = group.quaternion;
    return {
      robot: group.position,
      radius: this.ofRobots[index]?.radius ?? 0.5,
      heading: Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
    };
  }
}
