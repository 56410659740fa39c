// shapes.ts: what a model looks like: one three.js mesh a body and kind of surface, its shapes merged, coloured by vertex.
import * as THREE from 'three';
import {mergeGeometries} from 'three/examples/jsm/utils/BufferGeometryUtils.js';
import type {Body, Shape} from '../live/types';
import {layCube, layFlat} from './looks';
import type {Looks} from './looks';

/** A plane without an end is drawn this far, m. */
const ENDLESS = 200;

export type MeshLoader = (mesh: number) => Promise<THREE.BufferGeometry>;

/** Of the model that was shown last, there or on their way: its phantoms and its next picture have the same. */
let meshes = new Map<number, Promise<THREE.BufferGeometry>>();
let meshesOf = '';

/** Meshes over HTTP, below `base`; `key` tells models apart. Those of the model before are forgotten. */
export function meshLoader(key: string, base = 'api'): MeshLoader {
  if (meshesOf !== `${base} ${key}`) {
    meshesOf = `${base} ${key}`;
    meshes = new Map();
  }
  const mine = meshes;
  return (mesh) => {
    const before = mine.get(mesh);
    if (before) return before;
    const loading = loadMesh(mesh, base);
    mine.set(mesh, loading);
    loading.catch(() => mine.delete(mesh)); // whoever wants it next asks again
    return loading;
  };
}

async function loadMesh(mesh: number, base: string): Promise<THREE.BufferGeometry> {
  const answer = await fetch(`${base}/meshes/${mesh}`);
  if (!answer.ok) throw new Error(`mesh ${mesh}: ${answer.status}`);
  return decodeMesh(await answer.arrayBuffer());
}

export function decodeMesh(bytes: ArrayBuffer): THREE.BufferGeometry {
  const [vertices, triangles] = new Uint32Array(bytes, 0, 2) as unknown as [number, number];
  const coordinatesAt = 8 + 12 * (vertices + triangles);
  if (bytes.byteLength < coordinatesAt) throw new RangeError('a mesh was cut off');
  const indexed = new THREE.BufferGeometry();
  indexed.setAttribute('position', new THREE.BufferAttribute(new Float32Array(bytes, 8, 3 * vertices), 3));
  indexed.setIndex(new THREE.BufferAttribute(new Uint32Array(bytes, 8 + 12 * vertices, 3 * triangles), 1));
  if (bytes.byteLength >= coordinatesAt + 8 * vertices) {
    indexed.setAttribute('uv', new THREE.BufferAttribute(new Float32Array(bytes, coordinatesAt, 2 * vertices), 2));
  }
  // Flat normals: models of machines have edges.
  const flat = indexed.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}

/** Into how many parts what is round is cut. */
interface Cuts {
  ball: [around: number, down: number];
  capsule: [cap: number, around: number];
  cylinder: number;
}
const FINE: Cuts = {ball: [20, 14], capsule: [4, 12], cylinder: 24};
/** A third of the triangles: each costs a processor that draws a microsecond, however few pixels it has. */
const COARSE: Cuts = {ball: [12, 8], capsule: [2, 8], cylinder: 16};

/** MuJoCo's geometry: half sizes; capsules and cylinders along z. */
function primitive(shape: Shape, cuts: Cuts): THREE.BufferGeometry | null {
  const [a, b, c] = shape.size;
  switch (shape.kind) {
    case 'sphere':
      return new THREE.SphereGeometry(a, ...cuts.ball);
    case 'ellipsoid':
      return new THREE.SphereGeometry(1, ...cuts.ball).scale(a, b, c);
    case 'capsule':
      return new THREE.CapsuleGeometry(a, 2 * b, ...cuts.capsule).rotateX(Math.PI / 2);
    case 'cylinder':
      return new THREE.CylinderGeometry(a, a, 2 * b, cuts.cylinder).rotateX(Math.PI / 2);
    case 'box':
      return new THREE.BoxGeometry(2 * a, 2 * b, 2 * c);
    case 'plane':
      return new THREE.PlaneGeometry(a > 0 ? 2 * a : ENDLESS, b > 0 ? 2 * b : ENDLESS);
    default:
      return null;
  }
}

function place(geometry: THREE.BufferGeometry, shape: Shape): THREE.BufferGeometry {
  const [w, x, y, z] = shape.rotation;
  const rotation = new THREE.Quaternion(x, y, z, w);
  const matrix = new THREE.Matrix4().compose(new THREE.Vector3(...shape.position), rotation, new THREE.Vector3(1, 1, 1));
  return geometry.applyMatrix4(matrix);
}

/** One colour for all of it. Colours stand at the vertices everywhere, so that one shader draws everything. */
export function paint(geometry: THREE.BufferGeometry, colour: THREE.Color): THREE.BufferGeometry {
  const count = geometry.getAttribute('position').count;
  const colours = new Float32Array(3 * count);
  for (let i = 0; i < count; i++) colour.toArray(colours, 3 * i);
  geometry.setAttribute('color', new THREE.BufferAttribute(colours, 3));
  return geometry;
}

function colourOf({rgba}: Shape): THREE.Color {
  return new THREE.Color().setRGB(rgba[0], rgba[1], rgba[2], THREE.SRGBColorSpace);
}

/** Everything in one form, so that it can be merged: texture coordinates only where a texture is. three.js's own shapes keep their
 *  index, by which a point is computed once, not for each triangle around it; a mesh has none, and comes alone. */
function prepare(geometry: THREE.BufferGeometry, shape: Shape, looks: Looks): THREE.BufferGeometry {
  const material = looks.materialOf(shape);
  if (looks.isCube(material)) layCube(geometry, shape, material);
  else if (material.texture >= 0 && !(shape.kind === 'mesh' && geometry.hasAttribute('uv'))) layFlat(geometry, shape, material);
  if (material.texture < 0 || looks.isCube(material)) geometry.deleteAttribute('uv');
  return paint(place(geometry, shape), colourOf(shape));
}

export interface Look {
  /** All of it translucent: a phantom. */
  opacity: number;
  shadows: boolean;
  /** For a processor that draws. */
  coarse: boolean;
}

/** Puts the shapes under their bodies' groups. Meshes come when they are loaded; then `changed` is called. */
export function buildBodies(bodies: Body[], shapes: Shape[], loader: MeshLoader, looks: Looks, look: Look, changed: () => void): THREE.Group[] {
  const groups = bodies.map((body, i) => {
    const group = new THREE.Group();
    group.matrixAutoUpdate = true;
    group.userData.body = i;
    group.name = body.name;
    return group;
  });
  // By body, and within it by the look of the surface: each becomes one mesh.
  const buckets = new Map<string, {shape: Shape; opacity: number; surface: string; parts: THREE.BufferGeometry[]}>();
  // Bodies share what they look like: a drawing that goes on with the same surface need not set it up again.
  const surfaces = new Map<string, THREE.Material>();
  const add = (shape: Shape, geometry: THREE.BufferGeometry) => {
    const opacity = shape.rgba[3] * look.opacity;
    const surface = `${opacity.toFixed(2)}/${looks.keyOf(shape)}`;
    const key = `${shape.body}/${surface}`;
    const bucket = buckets.get(key) ?? {shape, opacity, surface, parts: []};
    bucket.parts.push(prepare(geometry, shape, looks));
    buckets.set(key, bucket);
  };
  const flush = () => {
    for (const {shape, opacity, surface, parts} of buckets.values()) {
      const {body} = shape;
      const material = surfaces.get(surface) ?? looks.make(shape, opacity);
      surfaces.set(surface, material);
      const mesh = new THREE.Mesh(mergeGeometries(parts), material);
      parts.forEach((part) => part.dispose());
      mesh.castShadow = look.shadows && opacity > 0.5;
      mesh.receiveShadow = look.shadows;
      mesh.userData.body = body;
      groups[body]?.add(mesh);
    }
    buckets.clear();
  };
  for (const shape of shapes) {
    if (shape.rgba[3] <= 0 || shape.hidden || isFloor(shape)) continue;
    const geometry = primitive(shape, look.coarse ? COARSE : FINE);
    if (geometry) {
      add(shape, geometry);
    } else {
      loader(shape.mesh).then(
        (loaded) => {
          add(shape, loaded.clone());
          flush();
          changed();
        },
        (error: unknown) => console.warn(error),
      );
    }
  }
  flush();
  return groups;
}

/** A plane of the world that lies flat is drawn as floor, with its grid. */
export function isFloor(shape: Shape): boolean {
  return shape.kind === 'plane' && shape.body === 0 && Math.abs(shape.rotation[1]) < 1e-6 && Math.abs(shape.rotation[2]) < 1e-6;
}

export function disposeTree(root: THREE.Object3D): void {
  root.traverse((node) => {
    const mesh = node as Partial<THREE.Mesh>;
    mesh.geometry?.dispose();
    for (const used of [mesh.material].flat()) used?.dispose();
  });
}
