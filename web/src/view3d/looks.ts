// looks.ts: surfaces: shine, glow and textures as the model's materials have them, in MuJoCo's way of laying a texture on a shape.
import * as THREE from 'three';
import type {Material, Model, Shape} from '../live/types';

/** What MuJoCo takes for a shape without a material. */
const PLAIN: Material = {name: '', texture: -1, repeat: [1, 1], uniform: false, specular: 0.5, shininess: 0.5, emission: 0};
/** Of MuJoCo's specular (0…1), for lights as strong as ours. */
const SPECULAR = 0.1;
const SHININESS = 128;
/** Fewer colours than this are a pattern, like a checkerboard; more are a picture. */
const PICTURE_COLOURS = 5;
/** bytes: width, height, faces, as u32. */
const HEADER = 12;

interface Pixels {
  width: number;
  height: number;
  faces: Uint8Array<ArrayBuffer>[]; // RGBA
}

export function decodeTexture(bytes: ArrayBuffer): Pixels {
  const [width, height, count] = new Uint32Array(bytes.slice(0, HEADER)) as unknown as [number, number, number];
  const size = width * height;
  if (bytes.byteLength < HEADER + 3 * size * count) throw new RangeError('a texture was cut off');
  const faces = Array.from({length: count}, (_, face) => {
    const from = new Uint8Array(bytes, HEADER + 3 * size * face, 3 * size);
    const to = new Uint8Array(4 * size).fill(255);
    for (let i = 0; i < size; i++) to.set(from.subarray(3 * i, 3 * i + 3), 4 * i);
    return to;
  });
  return {width, height, faces};
}

function isPicture({faces}: Pixels): boolean {
  const colours = new Set<number>();
  const words = new Uint32Array(faces[0]!.buffer);
  for (const word of words) if (colours.add(word).size >= PICTURE_COLOURS) return true;
  return false;
}

function flatTexture({width, height, faces}: Pixels): THREE.Texture {
  return smooth(new THREE.DataTexture(faces[0]!, width, height, THREE.RGBAFormat));
}

function cubeTexture({width, height, faces}: Pixels): THREE.Texture {
  const sides = faces.map((face) => {
    const side = new THREE.DataTexture(face, width, height, THREE.RGBAFormat);
    side.needsUpdate = true;
    return side;
  });
  return smooth(new THREE.CubeTexture(sides as never));
}

function smooth<T extends THREE.Texture>(texture: T): T {
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.magFilter = THREE.LinearFilter;
  texture.minFilter = THREE.LinearMipmapLinearFilter;
  texture.generateMipmaps = true;
  texture.anisotropy = 4;
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.needsUpdate = true;
  return texture;
}

/** A cube is looked up by where a point lies in its shape, which three.js has no material for. */
function lookUpCube(material: THREE.Material, cube: THREE.Texture): void {
  material.onBeforeCompile = (shader) => {
    shader.uniforms.cube = {value: cube};
    shader.vertexShader = `attribute vec3 inside;\nvarying vec3 vInside;\n${shader.vertexShader.replace('#include <uv_vertex>', 'vInside = inside;')}`;
    shader.fragmentShader = `uniform samplerCube cube;\nvarying vec3 vInside;\n${shader.fragmentShader.replace('#include <map_fragment>', 'diffuseColor *= texture(cube, vInside);')}`;
  };
  material.customProgramCacheKey = () => 'cube';
}

export class Looks {
  private readonly loading = new Map<number, Promise<Pixels>>();
  private readonly made: THREE.Texture[] = [];

  /** `changed` is called whenever a texture has come. */
  constructor(
    private readonly model: Pick<Model, 'materials' | 'textures'>,
    private readonly changed: () => void,
    /** Below which textures lie. */
    private readonly base = 'api',
  ) {}

  materialOf(shape: Shape): Material {
    return this.model.materials[shape.material ?? -1] ?? PLAIN;
  }

  isCube({texture}: Material): boolean {
    return this.model.textures[texture]?.cube ?? false;
  }

  /** Shapes of one body whose keys are equal can be one mesh. Colours stand at the vertices, but what glows has one. */
  keyOf(shape: Shape): string {
    const {texture, specular, shininess, emission} = this.materialOf(shape);
    return [texture, specular, shininess, emission, ...(emission > 0 ? shape.rgba : [])].join(' ');
  }

  make(shape: Shape, opacity: number): THREE.Material {
    const {texture, specular, shininess, emission} = this.materialOf(shape);
    const material = new THREE.MeshPhongMaterial({
      vertexColors: true,
      transparent: opacity < 1,
      opacity,
      depthWrite: opacity > 0.5,
      specular: new THREE.Color().setScalar(SPECULAR * specular),
      shininess: Math.max(1, SHININESS * shininess),
    });
    if (emission > 0) material.emissive.setRGB(...(shape.rgba.slice(0, 3) as [number, number, number]), THREE.SRGBColorSpace).multiplyScalar(emission);
    if (texture >= 0) this.dress(material, texture);
    return material;
  }

  private dress(material: THREE.MeshPhongMaterial, texture: number): void {
    this.load(texture).then(
      (pixels) => {
        if (pixels.faces.length === 6) lookUpCube(material, this.keep(cubeTexture(pixels)));
        else material.map = this.keep(flatTexture(pixels));
        material.needsUpdate = true;
        this.changed();
      },
      (error: unknown) => console.warn(error),
    );
  }

  /** Lays a picture on the floor. A pattern says no more than the grid that lies there anyway. */
  dressFloor(shape: Shape, surface: THREE.Mesh<THREE.BufferGeometry, THREE.MeshPhongMaterial>): void {
    const material = this.materialOf(shape);
    if (material.texture < 0 || this.isCube(material)) return;
    this.load(material.texture).then(
      (pixels) => {
        if (!isPicture(pixels)) return;
        surface.geometry.deleteAttribute('color');
        layFlat(surface.geometry, shape, material);
        surface.material.vertexColors = false;
        surface.material.color.setScalar(1);
        surface.material.map = this.keep(flatTexture(pixels));
        surface.material.needsUpdate = true;
        this.changed();
      },
      (error: unknown) => console.warn(error),
    );
  }

  private load(texture: number): Promise<Pixels> {
    let pixels = this.loading.get(texture);
    if (!pixels) this.loading.set(texture, (pixels = fetchTexture(texture, this.base)));
    return pixels;
  }

  private keep(texture: THREE.Texture): THREE.Texture {
    this.made.push(texture);
    return texture;
  }

  dispose(): void {
    this.made.forEach((texture) => texture.dispose());
  }
}

async function fetchTexture(texture: number, base: string): Promise<Pixels> {
  const answer = await fetch(`${base}/textures/${texture}`);
  if (!answer.ok) throw new Error(`texture ${texture}: ${answer.status}`);
  return decodeTexture(await answer.arrayBuffer());
}

/** Half of what a repetition is counted over: the shape, or with `uniform` 1 m. */
function halfSizes(shape: Shape, {uniform}: Material): [number, number, number] {
  if (uniform) return [1, 1, 1];
  const [a, b, c] = shape.size;
  if (shape.kind === 'sphere') return [a, a, a];
  if (shape.kind === 'capsule' || shape.kind === 'cylinder') return [a, a, b];
  return [a || 1, b || 1, c || 1];
}

/** Coordinates of a flat texture that is projected along z. */
export function layFlat(geometry: THREE.BufferGeometry, shape: Shape, material: Material): void {
  const [a, b] = halfSizes(shape, material);
  const at = geometry.getAttribute('position');
  const uv = new Float32Array(2 * at.count);
  for (let i = 0; i < at.count; i++) {
    uv[2 * i] = (0.5 * material.repeat[0] * at.getX(i)) / a - 0.5;
    uv[2 * i + 1] = (-0.5 * material.repeat[1] * at.getY(i)) / b - 0.5;
  }
  geometry.setAttribute('uv', new THREE.BufferAttribute(uv, 2));
}

/** Where each point lies in the shape, from −1 to 1. */
export function layCube(geometry: THREE.BufferGeometry, shape: Shape, material: Material): void {
  const [a, b, c] = halfSizes(shape, material);
  const inside = new Float32Array(geometry.getAttribute('position').array);
  for (let i = 0; i < inside.length; i += 3) {
    inside[i]! /= a;
    inside[i + 1]! /= b;
    inside[i + 2]! /= c;
  }
  geometry.setAttribute('inside', new THREE.BufferAttribute(inside, 3));
}
