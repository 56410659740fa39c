// cameras.ts: where the world is looked at from.
import * as THREE from 'three';
import {OrbitControls} from 'three/examples/jsm/controls/OrbitControls.js';

export const CAMERA_MODES = ['orbit', 'follow', 'behind', 'top', 'station'] as const;
export type CameraMode = (typeof CAMERA_MODES)[number];

/** Where somebody stands who drives, and where he looks: arena frame, m and rad. */
export interface Place {
  x: number;
  y: number;
  heading: number;
}

/** What there is to look at. */
export interface Sight {
  area: THREE.Box3;
  /** The followed robot's place, what it spans (m, half of the diagonal) and its heading (rad). */
  robot: THREE.Vector3;
  radius: number;
  heading: number;
  /** Of the robot's driver; null: the arena's file names none. */
  station: Place | null;
}

/** A driver's eyes above the floor, m. */
const EYE_HEIGHT = 1.7;
/** Distance of a followed robot, in radii of it; never nearer than this, m. */
const FOLLOW_RADII = 5.2;
const FOLLOW_NEAREST = 0.5;
/** A camera that turns with a robot takes this long to come round, s: less makes people sick. */
const TURN_TIME = 0.3;
/** Of the view, left free around what is fitted into it. */
const MARGIN = 1.06;
const UP = new THREE.Vector3(0, 0, 1);

export class Cameras {
  readonly camera = new THREE.PerspectiveCamera(45, 1, 0.03, 900);
  readonly controls: OrbitControls;
  /** Somebody moved it away from its mode's own place. */
  moved = false;
  private mode: CameraMode = 'orbit';
  /** Where the robot was, and the heading the camera stood by, when it was drawn last. */
  private readonly followed = new THREE.Vector3();
  private heading = 0;
  private drawnAt = 0;
  /** How it looked when a hand took it. */
  private grabbed = '';
  /** After a hand let go: how it looked when it was drawn last; null: nobody waits for it to rest. */
  private resting: string | null = null;

  /** `onChange`: it moved; `onLook`: somebody moved it, let go, and it rests. */
  constructor(
    element: HTMLElement,
    onChange: () => void,
    private readonly onLook: () => void = () => {},
  ) {
    this.camera.up.copy(UP);
    this.controls = new OrbitControls(this.camera, element);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.minDistance = 0.1;
    this.controls.maxDistance = 150;
    this.controls.maxPolarAngle = 0.495 * Math.PI;
    this.controls.addEventListener('change', onChange);
    this.controls.addEventListener('start', () => (this.grabbed = this.look()));
    this.controls.addEventListener('end', () => {
      this.resting = '';
      onChange();
    });
  }

  /** Looks at the middle of a box along `direction`, from where all of it is seen, whichever way the window is shaped. */
  private fit(box: THREE.Box3, direction: THREE.Vector3): void {
    const {camera, controls} = this;
    const centre = box.getCenter(new THREE.Vector3());
    const ahead = direction.clone().normalize();
    const right = ahead.clone().cross(UP).normalize();
    const up = right.clone().cross(ahead);
    const high = Math.tan((camera.fov * Math.PI) / 360);
    const wide = high * camera.aspect;
    let away = 0.5;
    for (let i = 0; i < 8; i++) {
      const corner = new THREE.Vector3(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z).sub(centre);
      const depth = corner.dot(ahead);
      away = Math.max(away, MARGIN * Math.abs(corner.dot(right)) / wide - depth, MARGIN * Math.abs(corner.dot(up)) / high - depth);
    }
    controls.target.copy(centre);
    camera.position.copy(centre).addScaledVector(ahead, -away);
  }

  /** Goes to a mode's own place. */
  set(mode: CameraMode, {area, robot, radius, heading, station}: Sight): void {
    this.mode = mode;
    this.moved = false;
    const {controls, camera} = this;
    const distance = Math.max(FOLLOW_NEAREST, FOLLOW_RADII * radius);
    controls.enableRotate = mode !== 'top';
    controls.enablePan = mode === 'orbit' || mode === 'top';
    controls.minPolarAngle = 0;
    this.followed.copy(robot);
    this.heading = mode === 'behind' ? heading : 0;
    if (mode === 'orbit') {
      // The longer side lies across the picture.
      const size = area.getSize(new THREE.Vector3());
      this.fit(area, size.x >= size.y ? new THREE.Vector3(0.22, 0.82, -0.66) : new THREE.Vector3(0.82, -0.22, -0.66));
    } else if (mode === 'top') {
      this.fit(area, new THREE.Vector3(0, 0.001, -1));
    } else if (mode === 'station' && !station) {
      const size = area.getSize(new THREE.Vector3());
      this.fit(area, size.x >= size.y ? new THREE.Vector3(1, 0, -0.3) : new THREE.Vector3(0, 1, -0.3));
    } else if (mode === 'station' && station) {
      const ahead = new THREE.Vector3(Math.cos(station.heading), Math.sin(station.heading), 0);
      const centre = area.getCenter(new THREE.Vector3());
      camera.position.set(station.x, station.y, area.min.z + EYE_HEIGHT);
      // Straight on, as far as the middle of the field: there is the floor that is looked at.
      const far = Math.max(1, centre.sub(camera.position).dot(ahead));
      controls.target.copy(camera.position).addScaledVector(ahead, far).setZ(area.min.z + 0.3);
    } else {
      const from = mode === 'behind' ? new THREE.Vector3(-1, 0, 0.5).applyAxisAngle(UP, heading) : new THREE.Vector3(-2.9, -1.9, 2);
      controls.target.copy(robot);
      camera.position.copy(robot).addScaledVector(from.normalize(), distance);
    }
    controls.update();
  }

  /** All of a box, from aside or from above, where no robot is followed. */
  setBox(mode: 'orbit' | 'top', area: THREE.Box3): void {
    this.set(mode, {area, robot: new THREE.Vector3(), radius: 1, heading: 0, station: null});
  }

  /** To and from the frame that the camera goes along with: the robot's place, and heading, or the arena. */
  private anchor(): THREE.Matrix4 {
    const matrix = new THREE.Matrix4().makeRotationZ(this.heading);
    return this.mode === 'follow' || this.mode === 'behind' ? matrix.setPosition(this.followed) : new THREE.Matrix4();
  }

  /** Where it stands and what it looks at, for an address: six numbers, m. */
  look(): string {
    const back = this.anchor().invert();
    return [this.camera.position, this.controls.target].flatMap((point) => point.clone().applyMatrix4(back).toArray()).map((value) => Number(value.toFixed(3))).join(',');
  }

  /** Takes what `look` gave; a text that is none changes nothing. */
  setLook(text: string): void {
    const numbers = text.split(',').map(Number);
    if (numbers.length !== 6 || !numbers.every(Number.isFinite)) return;
    const anchor = this.anchor();
    this.camera.position.fromArray(numbers, 0).applyMatrix4(anchor);
    this.controls.target.fromArray(numbers, 3).applyMatrix4(anchor);
    this.moved = true;
    this.controls.update();
  }

  /** Looks at a point, `radius` m of what stands there, without changing the way of looking. */
  focus(point: THREE.Vector3, radius: number): void {
    const offset = this.camera.position.clone().sub(this.controls.target);
    offset.setLength(Math.min(offset.length(), Math.max(FOLLOW_NEAREST, FOLLOW_RADII * radius)));
    this.controls.target.copy(point);
    this.camera.position.copy(point).add(offset);
    this.moved = true;
    this.controls.update();
  }

  zoom(factor: number): void {
    this.camera.position.sub(this.controls.target).multiplyScalar(factor).add(this.controls.target);
    this.moved = true;
  }

  /** Before each drawing, at `now` ms: where the followed robot is, and its heading. */
  update(now: number, robot = this.followed, heading = this.heading): void {
    const {camera, controls} = this;
    if (this.mode === 'follow' || this.mode === 'behind') {
      const step = robot.clone().sub(this.followed);
      this.followed.copy(robot);
      camera.position.add(step);
      controls.target.add(step);
    }
    if (this.mode === 'behind') {
      const behind = Math.atan2(Math.sin(heading - this.heading), Math.cos(heading - this.heading));
      const turn = behind * (1 - Math.exp(-Math.min(1000, now - this.drawnAt) / 1000 / TURN_TIME));
      this.heading += turn;
      for (const point of [camera.position, controls.target]) point.sub(robot).applyAxisAngle(UP, turn).add(robot);
    }
    this.drawnAt = now;
    controls.update();
    if (this.resting === null) return;
    const look = this.look();
    if (look === this.resting) {
      this.resting = null;
      if (look === this.grabbed) return; // a click
      this.moved = true;
      this.onLook();
    } else {
      this.resting = look;
    }
  }

  resize(width: number, height: number): void {
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
  }

  dispose(): void {
    this.controls.dispose();
  }
}
