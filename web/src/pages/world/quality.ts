// quality.ts: how finely the world is drawn: as finely as stays smooth on this machine.

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
export function drawsWithoutGpu(): boolean {
  const probe = document.createElement('canvas').getContext('webgl2');
  const about = probe?.getExtension('WEBGL_debug_renderer_info');
  const name = about ? String(probe!.getParameter(about.UNMASKED_RENDERER_WEBGL)) : '';
  probe?.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}
