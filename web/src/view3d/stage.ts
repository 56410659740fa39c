// stage.ts: what stands around the model: floor with grid, painted lines, lights; in the colours of the theme. The sky is the
// background of the page.
import * as THREE from 'three';
import type {Model, Shape} from '../live/types';
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
  floor: '#aeb6c0', grid: '#87919d', gridMajor: '#6c7887', line: '#ffffff',
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
  if (floor && !isEndless(floor)) {
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

/** A floor that is wider is one without an end. */
function isEndless(shape: Shape | undefined): boolean {
  return !shape || !(shape.size[0] > 0 && shape.size[0] < HORIZON / 3);
}

/** The floor's own shader: grid lines of 1 m and 5 m, as broad as a pixel, and an end that fades into the sky. */
function gridMaterial(palette: Palette, reach: {value: number} | null): THREE.MeshPhongMaterial {
  const material = new THREE.MeshPhongMaterial({vertexColors: true, specular: 0, transparent: reach !== null, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2});
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, {grid: {value: new THREE.Color(palette.grid)}, gridMajor: {value: new THREE.Color(palette.gridMajor)}, reach: reach ?? {value: 0}});
    shader.vertexShader = `varying vec2 vFloor;\n${shader.vertexShader.replace('#include <project_vertex>', '#include <project_vertex>\nvFloor = (modelMatrix * vec4(transformed, 1.0)).xy;')}`;
    shader.fragmentShader = `varying vec2 vFloor;
uniform vec3 grid;
uniform vec3 gridMajor;
uniform float reach;
float lineAt(float step, vec2 grain) {
  vec2 away = abs(fract(vFloor / step - 0.5) - 0.5) * step / max(grain, vec2(1e-6));
  return (1.0 - min(min(away.x, away.y), 1.0)) * (1.0 - smoothstep(0.1, 0.4, max(grain.x, grain.y) / step));
}
${shader.fragmentShader.replace(
      '#include <opaque_fragment>',
      `vec2 grain = fwidth(vFloor);
outgoingLight = mix(outgoingLight, grid, 0.7 * lineAt(1.0, grain));
outgoingLight = mix(outgoingLight, gridMajor, 0.7 * lineAt(5.0, grain));
if (reach > 0.0) diffuseColor.a *= 1.0 - smoothstep(0.3, 1.0, distance(vFloor, cameraPosition.xy) / reach);
#include <opaque_fragment>`,
    )}`;
  };
  material.customProgramCacheKey = () => 'floor';
  return material;
}

/** Half the width of what is drawn of an endless floor, m; it moves along below the camera. */
const ENDLESS = 450;
/** How far an endless floor is seen, m, from a camera that lies on it, and for each m that it is higher. */
const REACH = 60;
const REACH_BY_HEIGHT = 12;

function floorOf(model: Model, palette: Palette, looks: Looks) {
  const group = new THREE.Group();
  const shape = model.shapes.find(isFloor);
  const endless = isEndless(shape);
  const reach = endless ? {value: REACH} : null;
  const half = endless ? [ENDLESS, ENDLESS] : [shape!.size[0], shape!.size[1]];
  const surface = new THREE.Mesh(paint(new THREE.PlaneGeometry(2 * half[0]!, 2 * half[1]!), new THREE.Color(palette.floor)), gridMaterial(palette, reach));
  surface.renderOrder = -1; // before all else that lets light through
  surface.receiveShadow = true;
  if (shape) {
    surface.position.set(shape.position[0], shape.position[1], 0);
    looks.dressFloor(shape, surface);
  }
  group.add(surface);
  group.position.z = floorHeight(model);
  /** Where the camera is, an endless floor is. A picture that lies on it stays where it lies. */
  const follow = (camera: THREE.Vector3) => {
    if (!reach) return;
    reach.value = Math.min(ENDLESS, REACH + REACH_BY_HEIGHT * Math.abs(camera.z - group.position.z));
    if (!surface.material.map) surface.position.set(camera.x, camera.y, 0);
  };
  return {group, follow};
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

/** Everything around the model, with the painted lines in a group of their own, which can be hidden. `follow` is told before each
 *  drawing where the camera is. */
export function buildStage(model: Model, area: THREE.Box3, palette: Palette, looks: Looks) {
  const group = new THREE.Group();
  const paint = paintOf(model, palette);
  const floor = floorOf(model, palette, looks);
  group.add(floor.group, paint, lightsFor(area));
  return {group, paint, follow: floor.follow};
}
