// preview3d.ts: a picture of a draft's scene as it begins: nothing moves but the camera. Loaded when it is first shown.
import * as THREE from 'three';
import type {Model} from '../../live/types';
import {watchSize} from '../../ui/size';
import {Cameras} from '../../view3d/cameras';
import {Looks} from '../../view3d/looks';
import {Pace, takeDrawing} from '../../view3d/quality';
import {buildBodies, disposeTree, meshLoader} from '../../view3d/shapes';
import {buildStage, DARK, extent, LIGHT} from '../../view3d/stage';

/** x y z w x y z of a body. */
export type Pose = number[];

/** A click, not a drag. */
const CLICK_PIXELS = 4;

/** With some floor around it; what is small would fill the picture and reach behind the camera. */
function roomy(box: THREE.Box3): THREE.Box3 {
  const size = box.getSize(new THREE.Vector3());
  const more = Math.min(1, 0.3 * Math.max(size.x, size.y, size.z));
  const wide = box.clone();
  wide.min.x -= more;
  wide.max.x += more;
  wide.min.y -= more;
  wide.max.y += more;
  return wide;
}

export interface PreviewEvents {
  /** A place on the floor was clicked, m. */
  onPlace?: (x: number, y: number) => void;
}

export class Preview {
  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly cameras: Cameras;
  private readonly unwatch: () => void;
  private content: THREE.Object3D[] = [];
  private looks: Looks | null = null;
  private area: THREE.Box3 | null = null;
  private model: Model | null = null;
  private bodies: THREE.Group[] = [];
  private stage: ReturnType<typeof buildStage> | null = null;
  private dark = true;
  /** Something is to be drawn. */
  private changed = true;
  private readonly scale: number;
  private request = 0;
  private down = {x: 0, y: 0};

  constructor(
    private readonly host: HTMLElement,
    private readonly events: PreviewEvents,
  ) {
    const {context, software, wished} = takeDrawing();
    this.scale = new Pace(wished, software).quality.scale;
    this.renderer = new THREE.WebGLRenderer({canvas: context.canvas, context});
    this.renderer.debug.checkShaderErrors = false;
    const element = this.renderer.domElement;
    element.setAttribute('aria-hidden', 'true');
    host.prepend(element);
    this.cameras = new Cameras(element, this.touch);
    element.addEventListener('pointerdown', this.press);
    element.addEventListener('pointerup', this.release);
    this.unwatch = watchSize(host, () => this.resize());
    this.resize();
    this.request = requestAnimationFrame(this.draw);
  }

  private touch = (): void => {
    this.changed = true;
  };

  private resize(): void {
    const {clientWidth: width, clientHeight: height} = this.host;
    if (!width || !height) return;
    this.renderer.setDrawingBufferSize(width, height, Math.min(devicePixelRatio, 2) * this.scale);
    this.cameras.resize(width, height);
    this.touch();
  }

  /** Shows a model; its meshes and textures lie below `base`. `key` tells models with other meshes apart. The camera stays where
   *  it is unless what there is to see became another. */
  show(model: Model, poses: Pose[], base: string, key: string): void {
    this.clear();
    this.model = model;
    this.looks = new Looks(model, this.touch, base);
    this.bodies = buildBodies(model.bodies, model.shapes, meshLoader(key, base), this.looks, {opacity: 1, shadows: false, coarse: false}, this.fit);
    this.bodies.forEach((group, i) => {
      const [x = 0, y = 0, z = 0, qw = 1, qx = 0, qy = 0, qz = 0] = poses[i] ?? [];
      group.position.set(x, y, z);
      group.quaternion.set(qx, qy, qz, qw);
    });
    this.content = [...this.bodies];
    this.scene.add(...this.content);
    this.fit();
    this.host.dataset.bodies = String(model.bodies.length);
  }

  /** The floor and, where what there is to see became another, the camera: after meshes have come, too. */
  private fit = (): void => {
    if (!this.model) return;
    const area = extent(this.model, this.bodies);
    const before = this.area?.getSize(new THREE.Vector3());
    const now = area.getSize(new THREE.Vector3());
    const other = !before || before.distanceTo(now) > 0.35 * Math.max(before.length(), now.length());
    this.area = area;
    this.setStage();
    if (other) this.look('all');
    this.touch();
  };

  setDark(dark: boolean): void {
    if (this.dark === dark) return;
    this.dark = dark;
    this.setStage();
  }

  private setStage(): void {
    if (this.stage) {
      this.scene.remove(this.stage.group);
      disposeTree(this.stage.group);
      this.stage = null;
    }
    if (!this.model || !this.area) return;
    this.stage = buildStage(this.model, this.area, this.dark ? DARK : LIGHT, this.looks!);
    this.scene.add(this.stage.group);
    this.touch();
  }

  /** Everything from aside, everything from above, or a robot from near. */
  look(at: 'all' | 'top' | number): void {
    if (!this.area || !this.model) return;
    if (typeof at === 'string') {
      this.cameras.setBox(at === 'top' ? 'top' : 'orbit', roomy(this.area));
    } else {
      const box = this.boxOf(at);
      if (box.isEmpty()) return;
      this.cameras.setBox('orbit', roomy(box));
    }
    this.touch();
  }

  private boxOf(robot: number): THREE.Box3 {
    const box = new THREE.Box3();
    this.model!.bodies.forEach((body, i) => {
      if (body.robot === robot) box.union(new THREE.Box3().setFromObject(this.bodies[i]!));
    });
    return box;
  }

  private press = (event: PointerEvent): void => {
    this.down = {x: event.clientX, y: event.clientY};
  };

  private release = (event: PointerEvent): void => {
    if (!this.events.onPlace || Math.hypot(event.clientX - this.down.x, event.clientY - this.down.y) > CLICK_PIXELS) return;
    const box = this.renderer.domElement.getBoundingClientRect();
    const point = new THREE.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    const caster = new THREE.Raycaster();
    caster.setFromCamera(point, this.cameras.camera);
    const floor = new THREE.Plane(new THREE.Vector3(0, 0, 1), -(this.area?.min.z ?? 0));
    const hit = caster.ray.intersectPlane(floor, new THREE.Vector3());
    if (hit) this.events.onPlace(hit.x, hit.y);
  };

  private draw = (now: number): void => {
    this.request = requestAnimationFrame(this.draw);
    this.cameras.update(now);
    if (!this.changed) return;
    this.changed = false;
    this.stage?.follow(this.cameras.camera.position);
    this.renderer.render(this.scene, this.cameras.camera);
    if (this.model) this.host.dataset.ready = 'true';
  };

  private clear(): void {
    for (const node of this.content) {
      this.scene.remove(node);
      disposeTree(node);
    }
    this.content = [];
    this.looks?.dispose();
  }

  dispose(): void {
    cancelAnimationFrame(this.request);
    this.unwatch();
    this.cameras.dispose();
    this.clear();
    disposeTree(this.scene);
    this.renderer.dispose();
    this.renderer.domElement.remove();
  }
}
