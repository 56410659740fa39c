// labels.ts: names that stand over robots and pieces: HTML over the canvas, so that they stay sharp and are text.
import * as THREE from 'three';
import type {Model} from '../live/types';
import type {Spans} from './spans';

/** m over what is named. */
const ABOVE = 0.06;
const HEIGHT = 16; // px of a label

export class Labels {
  private readonly layer = document.createElement('div');
  /** Robots first. */
  private readonly labels: {element: HTMLElement; index: number; body: THREE.Group; above: number; width: number}[] = [];
  private visible = false;

  constructor(host: HTMLElement, model: Model, bodies: THREE.Group[]) {
    this.layer.className = 'labels';
    host.append(this.layer);
    for (const {name, root, alliance} of model.robots) this.add(name, alliance || 'robot', root, bodies[root]!);
    model.bodies.forEach((body, i) => {
      if (body.piece) this.add(body.name, 'piece', i, bodies[i]!);
    });
  }

  private add(text: string, kind: string, index: number, body: THREE.Group): void {
    const element = document.createElement('span');
    element.className = 'label';
    element.dataset.kind = kind;
    element.textContent = text;
    this.layer.append(element);
    this.labels.push({element, index, body, above: ABOVE, width: 0});
  }

  /** Over what they name, as high as that is. */
  stand(spans: Spans): void {
    for (const label of this.labels) label.above = spans.top(label.index) + ABOVE;
  }

  show(visible: boolean): void {
    this.visible = visible;
    this.layer.hidden = !visible;
  }

  update(camera: THREE.Camera, width: number, height: number): void {
    if (!this.visible) return;
    const point = new THREE.Vector3();
    const placed: {x: number; y: number; width: number}[] = [];
    for (const label of this.labels) {
      const {element, body, above} = label;
      point.copy(body.position);
      point.z += above;
      point.project(camera);
      const inside = point.z < 1 && Math.abs(point.x) < 1.1 && Math.abs(point.y) < 1.1;
      element.hidden = !inside;
      if (!inside) continue;
      const x = ((point.x + 1) / 2) * width;
      const y = ((1 - point.y) / 2) * height;
      label.width ||= element.offsetWidth;
      // A piece's name that would lie on another says nothing: it waits until the camera is nearer.
      const crowded = element.dataset.kind === 'piece' && placed.some((other) => Math.abs(other.x - x) < (other.width + label.width) / 2 && Math.abs(other.y - y) < HEIGHT);
      element.classList.toggle('crowded', crowded);
      if (!crowded) placed.push({x, y, width: label.width});
      // Whole pixels: what trembles by less is not drawn anew.
      element.style.transform = `translate(-50%, -100%) translate(${Math.round(x)}px, ${Math.round(y)}px)`;
    }
  }

  dispose(): void {
    this.layer.remove();
  }
}
