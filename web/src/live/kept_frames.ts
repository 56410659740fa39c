// kept_frames.ts: poses as they are drawn, at the moment that is shown: LIVE those of the stream, else those of the log. While a run is
// played its frames come in blocks ahead of the moment; where it rests, the one frame of this moment.
import {signal} from '@preact/signals';
import {requestBytes} from '../http';
import {decodeFrame} from './codec';
import type {Frame} from './codec';
import {Following} from './following';
import {blend, drawnTime, newestFrame, posesAt} from './frames';
import {FASTEST, isPlaying, isServed, moment, now, speed} from './moment';
import {answerOf, isOfWorld, runAddress, shownDetails, shownRun} from './shown_run';

/** Frames a second of wall time while a run is played. */
const RATE = 60;
const BLOCK = 120;
const MOST_BLOCKS = 16;
/** What is not all there is asked for again after this, ms. */
const AGAIN_MS = 500;
/** A moment that jumps by more than this is no motion, s of wall time. */
const JUMP = 0.5;

interface Block {
  frames: Frame[];
  every: number; // s of the run between frames
}

const blocks = new Map<string, Block | null>(); // null: on its way
/** The one of a moment that rests. */
const single = new Following(async (run, time) => (await ask(run, `at=${time}`))[0] ?? null);
let of = ''; // the run that all this is of
const arrivals = signal(0);

let current: Frame | null = null;
let currentAt = NaN;
let currentEpoch = 0; // of the log
let currentArrivals = -1;

/** u32 bytes, then a frame as the stream has it. */
export function decodeFrames(bytes: ArrayBuffer): Frame[] {
  const view = new DataView(bytes);
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const size = view.getUint32(at, true);
    frames.push(decodeFrame(bytes.slice(at + 4, at + 4 + size)));
    at += 4 + size;
  }
  return frames;
}

async function ask(run: string, query: string): Promise<Frame[]> {
  return decodeFrames(await answerOf(run, requestBytes(`${runAddress(run)}/frames?${query}`)));
}

/* ---- blocks ---- */

/** Twice as fast, half as many frames. */
function levelOf(factor: number): number {
  return Math.max(0, Math.round(Math.log2(Math.abs(factor))));
}

const everyOf = (level: number) => 2 ** level / RATE;

function blockAt(time: number, level: number): Block | null | undefined {
  return blocks.get(`${level} ${Math.floor(time / (everyOf(level) * BLOCK))}`);
}

function wantBlock(time: number, level: number): void {
  const every = everyOf(level);
  const number = Math.floor(time / (every * BLOCK));
  const key = `${level} ${number}`;
  if (blocks.has(key) || time < 0 || time > now()) return;
  blocks.set(key, null);
  const from = number * every * BLOCK;
  const run = of;
  const grows = isOfWorld.peek() || (shownDetails.peek()?.recording ?? true);
  const askAgain = () => setTimeout(() => run === of && blocks.delete(key), AGAIN_MS);
  ask(run, `from=${from}&to=${from + every * BLOCK}&rate=${1 / every}`).then(
    (frames) => {
      if (run !== of) return;
      blocks.set(key, {frames, every});
      // More of it may be written by now, also where nothing was.
      if (grows && frames.length <= BLOCK) askAgain();
      for (const old of blocks.keys()) {
        if (blocks.size <= MOST_BLOCKS) break;
        blocks.delete(old);
      }
      arrivals.value++;
    },
    askAgain,
  );
}

/** Between the two frames around a moment; null: they are not here. */
function between({frames}: Block, time: number): Frame | null {
  const after = frames.findIndex((frame) => frame.time >= time - 1e-9);
  const b = frames[after];
  const a = frames[after - 1];
  if (!b) return null;
  if (!a) return Math.abs(b.time - time) < 1e-6 ? b : null;
  if (a.epoch !== b.epoch) return {...(Math.abs(b.time - time) < 1e-6 ? b : a), time}; // nothing lies between before a reset and after it
  const poses = new Float32Array(b.poses.length);
  blend(a.poses, b.poses, (time - a.time) / (b.time - a.time), poses);
  return {...b, time, poses};
}

/* ---- what is drawn ---- */

function forget(run: string): void {
  of = run;
  blocks.clear();
  current = null;
}

/** Out of a block of this level, or of any other: those of a speed that was just chosen are on their way. */
function inBlocks(time: number, level: number): Frame | null {
  for (const each of [level, ...Array(levelOf(FASTEST) + 1).keys()]) {
    const block = blockAt(time, each);
    const found = block ? between(block, time) : null;
    if (found) return found;
  }
  return null;
}

function find(time: number): Frame | null {
  const level = levelOf(speed.peek());
  if (isPlaying.peek()) {
    wantBlock(time, level);
    wantBlock(time + Math.sign(speed.peek()) * everyOf(level) * BLOCK, level);
  }
  const found = inBlocks(time, level);
  if (found && isPlaying.peek()) return found;
  single.want(of, time);
  const answer = single.answer.peek();
  const known = answer?.run === of && answer.value ? {...answer.value, time: answer.time} : null;
  if (known?.time === time || !known) return known ?? found;
  if (found) return found;
  // While a run is played, what is drawn may be nearer than what was asked for at another time.
  const isNearer = !current || Math.abs(known.time - time) < Math.abs(current.time - time);
  return isPlaying.peek() && !isNearer ? null : known;
}

/** The frame of the moment that is shown. Another has another `sequence`; another `epoch` when it doesn't go on from the one before. */
export function shownFrame(): Frame | undefined {
  const time = moment.peek();
  if (time === null || isServed.peek()) return newestFrame();
  if (of !== shownRun.peek()) forget(shownRun.peek());
  const arrived = arrivals.peek() + (single.answer.peek()?.time ?? 0);
  if (time === currentAt && arrived === currentArrivals && current) return current;
  currentArrivals = arrived;
  const found = find(time);
  if (!found) return current ?? undefined;
  const jumped = !(Math.abs(time - currentAt) < JUMP * Math.max(1, Math.abs(speed.peek()))) || time < currentAt || found.epoch !== currentEpoch;
  currentEpoch = found.epoch;
  current = {...found, sequence: (current?.sequence ?? 0) + 1, epoch: (current?.epoch ?? 0) + (jumped ? 1 : 0)};
  currentAt = time;
  return current;
}

/** Poses to draw at `at` (ms) into `poses`; false: there are none. */
export function shownPosesAt(at: number, poses: Float32Array): boolean {
  if (moment.peek() === null || isServed.peek()) return posesAt(at, poses);
  const frame = shownFrame();
  if (!frame || frame.poses.length !== poses.length) return false;
  poses.set(frame.poses);
  return true;
}

/** Run time that is drawn, s. */
export function shownFrameTime(): number {
  return moment.peek() === null || isServed.peek() ? drawnTime() : (current?.time ?? NaN);
}
