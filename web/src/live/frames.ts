// frames.ts: poses as they come, and as they are drawn: a little late, between the two frames around that moment, so that
// motion is smooth whatever the network does. A reset, a pause or a long silence is followed at once.
import type {Frame} from './codec';

const KEPT = 6;
/** How far drawing lags behind the newest frame, in frames. */
const LAG = 1.5;
const STALE_MS = 400;

const kept: Frame[] = [];
let arrived = 0; // ms, of the newest
let interval = 1000 / 60; // ms between frames, smoothed
let step = 1 / 60; // s simulated between frames, smoothed
let play = NaN; // s simulated that is drawn
let drawn = 0; // ms, of the last drawing

export function takeFrame(frame: Frame): void {
  const newest = kept[kept.length - 1];
  const now = performance.now();
  if (!newest || newest.epoch !== frame.epoch || newest.poses.length !== frame.poses.length || frame.time <= newest.time) {
    kept.length = 0;
    play = NaN;
  } else {
    const gap = Math.min(now - arrived, 1000);
    interval += 0.1 * (gap - interval);
    step += 0.1 * (frame.time - newest.time - step);
  }
  arrived = now;
  kept.push(frame);
  if (kept.length > KEPT) kept.shift();
}

export function newestFrame(): Frame | undefined {
  return kept[kept.length - 1];
}

export function frameRate(): number {
  return performance.now() - arrived > 1000 ? 0 : 1000 / interval;
}

/** s simulated that was drawn last; NaN before the first drawing. */
export function drawnTime(): number {
  return play;
}

/** Moves the drawn moment on to `now` (ms). Returns s simulated. */
function advance(now: number): number {
  const newest = kept[kept.length - 1]!;
  const target = newest.time - LAG * step + (step * (now - arrived)) / interval;
  const elapsed = now - drawn;
  drawn = now;
  if (now - arrived > STALE_MS) return (play = newest.time);
  if (!Number.isFinite(play) || elapsed > STALE_MS || Math.abs(target - play) > 6 * step) return (play = Math.min(target, newest.time));
  // At the pace of the frames, pulled gently towards where it should be.
  play += (step * elapsed) / interval;
  play += 0.1 * (target - play);
  return (play = Math.min(play, newest.time));
}

/** Poses for drawing at `now` (ms) into `poses`; false: there are none. */
export function posesAt(now: number, poses: Float32Array): boolean {
  const newest = kept[kept.length - 1];
  if (!newest || newest.poses.length !== poses.length) return false;
  const time = advance(now);
  let after = kept.findIndex((frame) => frame.time >= time);
  if (after < 0) after = kept.length - 1;
  const b = kept[after]!;
  const a = kept[after - 1];
  if (!a) poses.set(b.poses);
  else blend(a.poses, b.poses, (time - a.time) / (b.time - a.time), poses);
  return true;
}

/** Positions linearly, rotations along the shorter way and normalized. */
export function blend(a: Float32Array, b: Float32Array, fraction: number, out: Float32Array): void {
  for (let i = 0; i < out.length; i += 7) {
    for (let k = i; k < i + 3; k++) out[k] = a[k]! + fraction * (b[k]! - a[k]!);
    let dot = 0;
    for (let k = i + 3; k < i + 7; k++) dot += a[k]! * b[k]!;
    const sign = dot < 0 ? -1 : 1;
    let square = 0;
    for (let k = i + 3; k < i + 7; k++) {
      out[k] = a[k]! + fraction * (sign * b[k]! - a[k]!);
      square += out[k]! ** 2;
    }
    const scale = square > 0 ? 1 / Math.sqrt(square) : 0;
    for (let k = i + 3; k < i + 7; k++) out[k]! *= scale;
  }
}
