// stage.ts: what stands around the model: floor with grid, painted lines, lights; in the colours of the theme. The sky is the
// background of the page.
import * as THREE from 'three';
import type {Model} from '../../live/types';
import type {Looks} from './looks';
import {isFloor, paint} from './shapes';

export interface Palette {
  floor: string;
  grid: string;
  gridMajor: string;
  line: string;
}

export const DARK: Palette = {
  floor: '#46525f', grid: '#566372', gridMajor: '#738296', line: '#f2f5f9',
};
export const LIGHT: Palette = {
  floor: '#aeb6c0', grid: '#9aa4b0', gridMajor: '#7f8b9a', line: '#ffffff',
};

/** Wider than this a thing is a horizon, not a place to look at, m. */
const HORIZON = 60;

/** What all bodies span where they are now, m: where the floor ends and where cameras stand. */
export function extent(model: Model, bodies: THREE.Group[]): THREE.Box3 {
  const box = new THREE.Box3();
  for (const group of bodies) {
    const one = new THREE.Box3().setFromObject(group);
    if (!one.isEmpty() && one.getSize(new THREE.Vector3()).length() < HORIZON) box.union(one);
  }
  const floor = model.shapes.find(isFloor);
  if (floor && floor.size[0] > 0 && floor.size[0] < HORIZON / 3) {
    const half = new THREE.Vector3(floor.size[0], floor.size[1], 0);
    const centre = new THREE.Vector3(...floor.position);
    box.expandByPoint(centre.clone().add(half)).expandByPoint(centre.sub(half));
  }
  if (box.isEmpty()) box.set(new THREE.Vector3(-3, -3, 0), new THREE.Vector3(3, 3, 1));
  // Eyes and cameras stand on the floor, whatever reaches below it.
  box.min.z = floorHeight(model);
  box.max.z = Math.max(box.max.z, box.min.z);
  return box;
}

function floorHeight(model: Model): number {
  return model.shapes.find(isFloor)?.position[2] ?? 0;
}

function gridLines(half: THREE.Vector2, centre: THREE.Vector3, step: number, colour: string, skip: number): THREE.LineSegments {
  const points: number[] = [];
  const from = (value: number) => Math.ceil(value / step);
  for (let i = from(centre.x - half.x); i * step <= centre.x + half.x; i++) {
    if (skip && i % skip === 0) continue;
    points.push(i * step, centre.y - half.y, 0, i * step, centre.y + half.y, 0);
  }
  for (let i = from(centre.y - half.y); i * step <= centre.y + half.y; i++) {
    if (skip && i % skip === 0) continue;
    points.push(centre.x - half.x, i * step, 0, centre.x + half.x, i * step, 0);
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(points, 3));
  return new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({color: colour, transparent: true, opacity: 0.7}));
}

function floorOf(model: Model, area: THREE.Box3, palette: Palette, looks: Looks): THREE.Group {
  const group = new THREE.Group();
  const shape = model.shapes.find(isFloor);
  const centre = area.getCenter(new THREE.Vector3()).setZ(0);
  const size = area.getSize(new THREE.Vector3());
  const half = new THREE.Vector2(Math.ceil(size.x / 2 + 3), Math.ceil(size.y / 2 + 3));
  if (shape && shape.size[0] > 0 && shape.size[0] < HORIZON / 3) {
    centre.set(shape.position[0], shape.position[1], 0);
    half.set(shape.size[0], shape.size[1]);
  }
  const surface = new THREE.Mesh(
    paint(new THREE.PlaneGeometry(2 * half.x, 2 * half.y), new THREE.Color(palette.floor)),
    new THREE.MeshPhongMaterial({vertexColors: true, specular: 0, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2}),
  );
  surface.position.copy(centre);
  surface.receiveShadow = true;
  if (shape) looks.dressFloor(shape, surface);
  const fine = gridLines(half, centre, 1, palette.grid, 5);
  const coarse = gridLines(half, centre, 5, palette.gridMajor, 0);
  fine.position.z = coarse.position.z = 0.002;
  group.add(surface, fine, coarse);
  group.position.z = floorHeight(model);
  return group;
}

const BLACK_TAPE = '#15171a';

function paintOf(model: Model, palette: Palette): THREE.Group {
  const group = new THREE.Group();
  for (const {x1, y1, x2, y2, width, darkness, black} of model.lines) {
    const length = Math.hypot(x2 - x1, y2 - y1) + width;
    const mesh = new THREE.Mesh(
      new THREE.PlaneGeometry(length, width),
      new THREE.MeshBasicMaterial({color: black ? BLACK_TAPE : palette.line, transparent: true, opacity: 0.35 + 0.6 * Math.min(1, Math.abs(darkness)), polygonOffset: true, polygonOffsetFactor: -2}),
    );
    mesh.position.set((x1 + x2) / 2, (y1 + y2) / 2, 0.004);
    mesh.rotation.z = Math.atan2(y2 - y1, x2 - x1);
    group.add(mesh);
  }
  return group;
}

function lightsFor(area: THREE.Box3): THREE.Group {
  const group = new THREE.Group();
  const centre = area.getCenter(new THREE.Vector3()).setZ(0);
  const radius = Math.max(3, area.getSize(new THREE.Vector3()).length() / 2);
  const sun = new THREE.DirectionalLight('#fff6e8', 2.1);
  sun.position.set(centre.x - 0.45 * radius, centre.y - 0.7 * radius, 1.4 * radius);
  sun.target.position.copy(centre);
  sun.castShadow = true;
  sun.shadow.mapSize.set(2048, 2048);
  sun.shadow.bias = -0.0004;
  sun.shadow.normalBias = 0.02;
  Object.assign(sun.shadow.camera, {left: -radius, right: radius, top: radius, bottom: -radius, near: 0.1, far: 4 * radius});
  group.add(new THREE.HemisphereLight('#eaf2ff', '#59616d', 1.5), sun, sun.target);
  return group;
}

/** Everything around the model, with the painted lines in a group of their own, which can be hidden. */
export function buildStage(model: Model, area: THREE.Box3, palette: Palette, looks: Looks) {
  const group = new THREE.Group();
  const paint = paintOf(model, palette);
  group.add(floorOf(model, area, palette, looks), paint, lightsFor(area));
  return {group, paint};
}
