// quality.ts: how finely the world is drawn: as finely as stays smooth on this machine.
import {stored} from '../settings';

export interface Quality {
  shadows: boolean;
  /** Of the screen's own pixels. */
  scale: number;
}

/** What somebody asked for: as it goes, the finest for pictures, or the fastest. */
export type Wish = 'auto' | 'best' | 'fast';
export const wish = stored<Wish>('quality', 'auto');

const LEVELS: Quality[] = [
  {shadows: true, scale: 1},
  {shadows: false, scale: 0.75},
  {shadows: false, scale: 0.5},
  {shadows: false, scale: 0.35},
];
/** Of those who asked for it. Coarser is for who can't have even that. */
const FAST = 2;
/** ms between drawings beyond which motion is no longer smooth. */
const SLOW_MS = 45;
/** Drawings over which this is judged. */
const JUDGED = 12;
/** Longer pauses are pauses, not slow drawings. ms */
const PAUSE_MS = 1000;

export class Pace {
  private level: number;
  private last = 0;
  private sum = 0;
  private count = 0;

  /** Round shapes have fewer sides. */
  readonly coarse: boolean;

  /** `software`: a processor draws, so the finest is not even tried. */
  constructor(
    private readonly wished: Wish,
    software: boolean,
  ) {
    this.coarse = software && wished !== 'best';
    this.level = wished === 'fast' ? FAST : software && wished === 'auto' ? 1 : 0;
  }

  get quality(): Quality {
    return LEVELS[this.level]!;
  }

  /** Something was drawn at `now` (ms). True: the quality went down. */
  drawn(now: number): boolean {
    const elapsed = now - this.last;
    this.last = now;
    if (this.wished !== 'auto' || elapsed > PAUSE_MS) return false;
    this.sum += elapsed;
    if (++this.count < JUDGED) return false;
    const slow = this.sum / this.count > SLOW_MS && this.level < LEVELS.length - 1;
    this.sum = 0;
    this.count = 0;
    if (slow) this.level++;
    return slow;
  }
}

/** Whether a processor draws in place of a graphics card. */
function drawsWithoutGpu(context: WebGL2RenderingContext): boolean {
  const about = context.getExtension('WEBGL_debug_renderer_info');
  const name = about ? String(context.getParameter(about.UNMASKED_RENDERER_WEBGL)) : '';
  return /swiftshader|llvmpipe|software/i.test(name);
}

function openContext(antialias: boolean): WebGL2RenderingContext {
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('webgl2', {alpha: true, antialias, powerPreference: 'high-performance'});
  if (!context) throw new Error('there is no WebGL 2');
  return context;
}

export interface Drawing {
  context: WebGL2RenderingContext;
  software: boolean;
  wished: Wish;
}

/** What to draw with. Making a context takes a processor a quarter of a second, so the one that tells whether there is
 *  a graphics card is kept where there is none; smooth edges are for graphics cards, and for pictures. */
function makeDrawing(): Drawing {
  const wished = wish.peek();
  const first = openContext(wished === 'best');
  const software = drawsWithoutGpu(first);
  document.documentElement.dataset.software = String(software); // the style sheet leaves out what is dear then
  if (software || wished !== 'auto') return {context: first, software, wished};
  first.getExtension('WEBGL_lose_context')?.loseContext();
  return {context: openContext(true), software, wished};
}

let prepared: Drawing | null = null;

/** Makes one ahead, while the page waits for the program anyway. Where that fails, takeDrawing() says why. */
export function prepareDrawing(): void {
  try {
    prepared ??= makeDrawing();
  } catch {
    prepared = null;
  }
}

/** One of one's own. */
export function takeDrawing(): Drawing {
  const taken = prepared ?? makeDrawing();
  prepared = null;
  return taken;
}
