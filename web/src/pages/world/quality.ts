// quality.ts: how finely the world is drawn: as finely as stays smooth on this machine.
import {load} from '../../settings';

export interface Quality {
  shadows: boolean;
  /** Of the screen's own pixels. */
  scale: number;
}

const LEVELS: Quality[] = [
  {shadows: true, scale: 1},
  {shadows: false, scale: 0.75},
  {shadows: false, scale: 0.5},
];
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

  /** `fixed`: always the best, for pictures; `software`: a processor draws, so don't even try. */
  constructor(
    private readonly fixed: boolean,
    software: boolean,
  ) {
    this.level = software && !fixed ? 1 : 0;
  }

  get quality(): Quality {
    return LEVELS[this.level]!;
  }

  /** Something was drawn at `now` (ms). True: the quality went down. */
  drawn(now: number): boolean {
    const elapsed = now - this.last;
    this.last = now;
    if (this.fixed || elapsed > PAUSE_MS) return false;
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
  /** Somebody wants pictures, however long they take. */
  best: boolean;
}

/** What to draw with. Making a context takes a processor a quarter of a second, so the one that tells whether there is
 *  a graphics card is kept where there is none; smooth edges are for graphics cards, and for pictures. */
function makeDrawing(): Drawing {
  const best = load<string>('quality', 'auto') === 'best';
  const first = openContext(best);
  const software = drawsWithoutGpu(first);
  if (software || best) return {context: first, software, best};
  first.getExtension('WEBGL_lose_context')?.loseContext();
  return {context: openContext(true), software, best};
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
