// cameras.ts: where the world is looked at from.
import * as THREE from 'three';
import {OrbitControls} from 'three/examples/jsm/controls/OrbitControls.js';

export type CameraMode = 'orbit' | 'follow' | 'top' | 'station';

/** A driver's eyes: above the floor, and behind the end of the field, m. */
const EYE_HEIGHT = 1.7;
const EYE_BEHIND = 1.2;

export class Cameras {
  readonly camera = new THREE.PerspectiveCamera(45, 1, 0.03, 500);
  readonly controls: OrbitControls;
  private mode: CameraMode = 'orbit';
  private readonly followed = new THREE.Vector3();

  constructor(
    element: HTMLElement,
    changed: () => void,
  ) {
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, element);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.minDistance = 0.15;
    this.controls.maxDistance = 150;
    this.controls.maxPolarAngle = 0.495 * Math.PI;
    this.controls.addEventListener('change', changed);
  }

  /** Distance from which a length fills the view, whichever way the window is shaped. */
  private distance(width: number, height: number): number {
    const tangent = Math.tan((this.camera.fov * Math.PI) / 360);
    return Math.max(height / 2 / tangent, width / 2 / tangent / this.camera.aspect);
  }

  /** Goes to a mode's own place. `area`: what there is to see; `target`: the robot that is followed or driven; `side`: −1 its station is at −x. */
  set(mode: CameraMode, area: THREE.Box3, target: THREE.Vector3, side: number): void {
    this.mode = mode;
    const {controls, camera} = this;
    const centre = area.getCenter(new THREE.Vector3()).setZ(area.min.z);
    const size = area.getSize(new THREE.Vector3());
    controls.enableRotate = mode !== 'top';
    controls.enablePan = mode === 'orbit' || mode === 'top';
    controls.minPolarAngle = 0;
    this.followed.copy(target);
    if (mode === 'orbit') {
      const away = 1.16 * this.distance(size.x, 0.6 * size.y + size.z);
      controls.target.copy(centre).add(new THREE.Vector3(0, -0.06 * size.y, 0));
      camera.position.copy(centre).add(new THREE.Vector3(-0.22, -0.82, 0.66).normalize().multiplyScalar(away));
    } else if (mode === 'follow') {
      controls.target.copy(target);
      camera.position.copy(target).add(new THREE.Vector3(-2.9, -1.9, 2.0));
    } else if (mode === 'top') {
      controls.target.copy(centre);
      camera.position.copy(centre).add(new THREE.Vector3(0, -0.001, 1.06 * this.distance(size.x, size.y) + area.max.z));
    } else {
      const end = side < 0 ? area.min.x - EYE_BEHIND : area.max.x + EYE_BEHIND;
      camera.position.set(end, centre.y, area.min.z + EYE_HEIGHT);
      controls.target.set(centre.x + side * 0.1 * size.x, centre.y, area.min.z + 0.3);
    }
    controls.update();
  }

  /** Looks at a point without changing the way of looking. */
  focus(point: THREE.Vector3): void {
    const offset = this.camera.position.clone().sub(this.controls.target);
    offset.setLength(Math.min(offset.length(), 3));
    this.controls.target.copy(point);
    this.camera.position.copy(point).add(offset);
    this.controls.update();
  }

  /** Before each drawing; `target` is where the followed robot is now. */
  update(target: THREE.Vector3 | null): void {
    if (this.mode === 'follow' && target) {
      const moved = target.clone().sub(this.followed);
      this.followed.copy(target);
      this.camera.position.add(moved);
      this.controls.target.add(moved);
    }
    this.controls.update();
  }

  resize(width: number, height: number): void {
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
  }

  dispose(): void {
    this.controls.dispose();
  }
}
