// view3d.ts: the picture of a world on a canvas, without any page around it. Loaded when first needed: it is most of the bundle.
import * as THREE from 'three';
import {shownFrame, shownFrameTime, shownPosesAt} from '../live/kept_frames';
import {valueAt} from '../live/moment';
import type {Model, Phantom} from '../live/types';
import {watchSize} from '../ui/size';
import {Cameras} from './cameras';
import type {CameraMode} from './cameras';
import {Labels} from './labels';
import {Looks} from './looks';
import {Contacts, Frames, Rays, Trails} from './overlays';
import {Pace, takeDrawing} from './quality';
import {buildBodies, disposeTree, meshLoader} from './shapes';
import {Spans} from './spans';
import {buildStage, DARK, extent, LIGHT} from './stage';
import {stationOf} from './stations';
import {Wheels} from './wheels';

export {prepareDrawing} from './quality';

export interface ViewOptions {
  camera: CameraMode;
  /** Where somebody moved the camera to, as `onLook` told it; null: its mode's own place. */
  look: string | null;
  robot: number; // that is followed, or whose driver's eyes are used
  /** The driver station's place of that robot, as red1; null: the first of its alliance. */
  place: string | null;
  dark: boolean;
  shadows: boolean;
  contacts: boolean;
  frames: boolean;
  trails: boolean;
  rays: boolean;
  lines: boolean;
  names: boolean;
}

export interface ViewStats {
  framesPerSecond: number;
  triangles: number;
  calls: number;
}

/** Where the meshes of a model are, over HTTP; `key` tells models apart. */
export interface Scenery {
  key: string;
  address: string;
}

/** ms without anything new after which drawing stops until something changes. */
const IDLE_MS = 600;
const PHANTOM_OPACITY = 0.35;
/** A phantom has colours only. */
const PLAIN_LOOKS = new Looks({materials: [], textures: []}, () => {});

export class View3D {
  private readonly renderer: THREE.WebGLRenderer;
  private readonly pace: Pace;
  private readonly scene = new THREE.Scene();
  private readonly cameras: Cameras;
  private readonly labels: Labels;
  private readonly bodies: THREE.Group[];
  private readonly poses: Float32Array;
  private readonly contacts = new Contacts();
  private readonly looks: Looks;
  private readonly frames: Frames;
  private readonly trails: Trails;
  private readonly rays: Rays;
  private readonly phantoms = new Map<number, THREE.Group[]>();
  private readonly unwatch: () => void;
  private stage: ReturnType<typeof buildStage> | null = null;
  private options: ViewOptions | null = null;
  private changed = performance.now();
  private lastSequence = -1;
  private lastEpoch = -1;
  private request = 0;
  private drawnAt: number[] = [];
  /** What there is to see; known with the first poses. */
  private area: THREE.Box3 | null = null;
  private shown = false;
  /** Meshes came since `area` was measured. */
  private grown = false;
  private readonly spans: Spans;
  private readonly wheels: Wheels;
  /** Somebody moved the camera, and where to. */
  onLook: (look: string) => void = () => {};
  private told = '';

  constructor(
    private readonly host: HTMLElement,
    private readonly model: Model,
    private readonly scenery: Scenery,
  ) {
    const {context, software, wished} = takeDrawing();
    this.pace = new Pace(wished, software);
    this.renderer = new THREE.WebGLRenderer({canvas: context.canvas, context});
    this.renderer.debug.checkShaderErrors = false; // asking waits for the compiler
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.domElement.setAttribute('aria-hidden', 'true');
    host.prepend(this.renderer.domElement);
    this.cameras = new Cameras(this.renderer.domElement, this.touch, this.tellLook);
    this.looks = new Looks(model, this.touch);
    this.bodies = buildBodies(model.bodies, model.shapes, meshLoader(scenery.key, scenery.address), this.looks, {opacity: 1, shadows: true, coarse: this.pace.coarse}, this.grow);
    this.scene.add(...this.bodies, this.contacts.group);
    this.poses = new Float32Array(7 * model.bodies.length);
    this.frames = new Frames(model, this.bodies);
    this.trails = new Trails(model);
    this.rays = new Rays(model, this.bodies);
    this.scene.add(this.trails.group);
    this.labels = new Labels(host, model, this.bodies);
    this.spans = new Spans(model, this.bodies);
    this.wheels = new Wheels(model, this.bodies);
    this.unwatch = watchSize(host, () => this.resize());
    this.resize();
    this.request = requestAnimationFrame(this.draw);
  }

  /** Signals that the picture needs: lengths of rays. */
  get signals(): string[] {
    return this.rays.signals;
  }

  private touch = (): void => {
    this.changed = performance.now();
  };

  private grow = (): void => {
    this.grown = true;
    this.touch();
  };

  private tellLook = (): void => {
    this.told = this.cameras.look();
    this.onLook(this.told);
  };

  private resize(): void {
    const {clientWidth: width, clientHeight: height} = this.host;
    this.renderer.setDrawingBufferSize(width, height, Math.min(devicePixelRatio, 2) * this.pace.quality.scale);
    this.cameras.resize(width, height);
    this.touch();
  }

  set(options: ViewOptions): void {
    const before = this.options;
    this.options = options;
    if (before?.dark !== options.dark) this.setStage(options.dark);
    if (this.stage) this.stage.paint.visible = options.lines;
    this.setShadows();
    this.contacts.group.visible = options.contacts;
    this.frames.show(options.frames);
    this.trails.group.visible = options.trails;
    if (!options.trails) this.trails.clear();
    this.rays.show(options.rays);
    this.labels.show(options.names);
    const elsewhere = before?.camera !== options.camera || before.robot !== options.robot || before.place !== options.place;
    if (elsewhere || (options.look !== before.look && !options.look)) this.goToCamera();
    if (options.look && options.look !== this.told) this.cameras.setLook(options.look);
    this.touch();
  }

  private setStage(dark: boolean): void {
    if (!this.area) return;
    if (this.stage) {
      this.scene.remove(this.stage.group);
      disposeTree(this.stage.group);
    }
    this.stage = buildStage(this.model, this.area, dark ? DARK : LIGHT, this.looks);
    this.stage.paint.visible = this.options!.lines;
    this.scene.add(this.stage.group);
  }

  private setShadows(): void {
    const on = this.options!.shadows && this.pace.quality.shadows;
    if (this.renderer.shadowMap.enabled === on) return;
    this.renderer.shadowMap.enabled = on;
    this.scene.traverse((node) => {
      const material = (node as Partial<THREE.Mesh>).material as THREE.Material | undefined;
      if (material) material.needsUpdate = true;
    });
  }

  /** To the mode's own place, whatever somebody moved. */
  goToCamera(): void {
    if (!this.area) return;
    const {camera, robot, place} = this.options!;
    const station = stationOf(this.model, robot, place);
    this.cameras.set(camera, {area: this.area, ...this.spans.robot(robot), station});
    this.touch();
  }

  zoom(factor: number): void {
    this.cameras.zoom(factor);
    this.tellLook();
    this.touch();
  }

  focusBody(body: number): void {
    const group = this.bodies[body];
    if (!group) return;
    this.cameras.focus(group.position, this.spans.radius(body));
    this.tellLook();
    this.touch();
  }

  /** The body under a point of the window, or −1. */
  pick(clientX: number, clientY: number): number {
    const box = this.renderer.domElement.getBoundingClientRect();
    const point = new THREE.Vector2(
      ((clientX - box.left) / box.width) * 2 - 1,
      1 - ((clientY - box.top) / box.height) * 2,
    );
    const caster = new THREE.Raycaster();
    caster.setFromCamera(point, this.cameras.camera);
    const hit = caster.intersectObjects(this.bodies, true).find(({object}) => (object as THREE.Mesh).isMesh);
    return hit ? (hit.object.userData.body as number) : -1;
  }

  setPhantoms(list: Phantom[]): void {
    for (const [id, groups] of this.phantoms) {
      if (list.some((phantom) => phantom.id === id)) continue;
      groups.forEach((group) => {
        this.scene.remove(group);
        disposeTree(group);
      });
      this.phantoms.delete(id);
    }
    for (const phantom of list) {
      if (this.phantoms.has(phantom.id)) continue;
      const look = {opacity: PHANTOM_OPACITY, shadows: false, coarse: this.pace.coarse};
      const groups = buildBodies(phantom.bodies, phantom.shapes, meshLoader(this.scenery.key, this.scenery.address), PLAIN_LOOKS, look, this.touch);
      this.phantoms.set(phantom.id, groups);
      this.scene.add(...groups);
    }
    this.touch();
  }

  stats(): ViewStats {
    const since = performance.now() - 1000;
    const {triangles, calls} = this.renderer.info.render;
    return {framesPerSecond: this.drawnAt.filter((time) => time > since).length, triangles, calls};
  }

  private draw = (now: number): void => {
    this.request = requestAnimationFrame(this.draw);
    const frame = shownFrame();
    if (frame && frame.sequence !== this.lastSequence) {
      this.lastSequence = frame.sequence;
      if (frame.epoch !== this.lastEpoch) this.trails.clear();
      this.lastEpoch = frame.epoch;
      this.changed = now;
    }
    if (!this.options || now - this.changed > IDLE_MS) return;
    if (shownPosesAt(now, this.poses)) this.pose();
    if (this.options.contacts) this.contacts.update(frame?.contacts ?? []);
    if (this.options.trails) this.trails.update(this.bodies);
    if (this.options.rays) this.rays.update(valueAt);
    for (const phantom of frame?.phantoms ?? []) {
      this.phantoms.get(phantom.id)?.forEach((group, i) => placeGroup(group, phantom.poses, 7 * i));
    }
    const {robot, heading} = this.spans.robot(this.options.robot);
    this.cameras.update(now, robot, heading);
    this.stage?.follow(this.cameras.camera.position);
    this.renderer.render(this.scene, this.cameras.camera);
    this.labels.update(this.cameras.camera, this.host.clientWidth, this.host.clientHeight);
    if (this.area && !this.shown) this.announce();
    this.drawnAt = [...this.drawnAt.slice(-119), now];
    this.host.dispatchEvent(new CustomEvent('drawn', {detail: shownFrameTime()})); // for who measures
    if (this.pace.drawn(now)) {
      this.setShadows();
      this.resize();
    }
  };

  /** Says that the robots are there, once the picture that has them has been shown. */
  private announce(): void {
    this.shown = true;
    requestAnimationFrame(() => {
      this.host.dataset.ready = 'true';
      performance.mark('robots shown');
    });
  }

  private pose(): void {
    this.bodies.forEach((group, i) => placeGroup(group, this.poses, 7 * i));
    this.wheels.roll();
    if (this.area && !this.grown) return;
    // Only now is it known where everything is: lights go around it, and the camera before it. Meshes come later.
    const first = !this.area;
    this.grown = false;
    this.area = extent(this.model, this.bodies);
    this.spans.measure();
    this.labels.stand(this.spans);
    this.setStage(this.options!.dark);
    if (!first && this.cameras.moved) return;
    this.goToCamera();
    if (first && this.options!.look) this.cameras.setLook(this.options!.look);
  }

  dispose(): void {
    cancelAnimationFrame(this.request);
    this.unwatch();
    this.cameras.dispose();
    this.labels.dispose();
    disposeTree(this.scene);
    this.looks.dispose();
    this.renderer.dispose();
    this.renderer.domElement.remove();
  }
}

function placeGroup(group: THREE.Group, poses: Float32Array, at: number): void {
  group.position.fromArray(poses, at);
  group.quaternion.set(poses[at + 4]!, poses[at + 5]!, poses[at + 6]!, poses[at + 3]!);
}
