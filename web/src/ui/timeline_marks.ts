// timeline_marks.ts: what a time line shows of a run: flags of what happened, and bands of the modes that its robots were in.
import type {Happened} from '../live/shown_run';
import {formatClock} from '../format';

export type FlagKind = 'reset' | 'drop' | 'trial' | 'match' | 'bookmark' | 'other';

export interface Flag {
  time: number; // s of the run
  kind: FlagKind;
  text: string;
}

/** Flags that lie so near to each other that they are one to the eye. */
export interface Cluster extends Flag {
  count: number;
}

export type Mode = 'disabled' | 'autonomous' | 'teleop' | 'test' | 'estop';

/** A robot is in a mode from a time on. */
export interface ModeChange {
  robot: string;
  time: number;
  mode: Mode;
}

export interface Band {
  robot: string;
  mode: Mode;
  from: number;
  to: number; // s of the run; Infinity: it holds to the end
}

/** What tells that something was lost, or nobody spoke. */
const DROPS = /watchdog|dropp|lost|no answer|silent|refused|diverged|failed|late/i;

export function kindOf({source, text}: {source: string; text: string}): FlagKind {
  if (source === 'trial') return 'trial';
  if (source === 'driver-station') return 'match';
  if (/^reset\b/.test(text)) return 'reset';
  return DROPS.test(text) ? 'drop' : 'other';
}

export function flagsOf(events: readonly Happened[]): Flag[] {
  return events.map((event) => ({time: event.time, kind: kindOf(event), text: `${event.source}: ${event.text}`}));
}

const RANK: FlagKind[] = ['bookmark', 'trial', 'drop', 'reset', 'match', 'other'];
/** Texts that a cluster tells. */
const MOST_TEXTS = 6;

/** Flags nearer than `gap` s become one; it has the kind that matters most, and stands where its first does. */
export function cluster(flags: readonly Flag[], gap: number): Cluster[] {
  const clusters: Cluster[] = [];
  for (const flag of [...flags].sort((a, b) => a.time - b.time)) {
    const last = clusters[clusters.length - 1];
    if (!last || flag.time - last.time >= gap) {
      clusters.push({...flag, count: 1, text: `${formatClock(flag.time)} ${flag.text}`});
      continue;
    }
    last.count++;
    if (last.count <= MOST_TEXTS) last.text += `\n${formatClock(flag.time)} ${flag.text}`;
    if (RANK.indexOf(flag.kind) < RANK.indexOf(last.kind)) last.kind = flag.kind;
  }
  for (const one of clusters) if (one.count > MOST_TEXTS) one.text += `\nand ${one.count - MOST_TEXTS} more`;
  return clusters;
}

/** Bands of the robots whose mode ever changed; of robots that were always in the same the first alone. */
export function bandsOf(changes: readonly ModeChange[]): Band[][] {
  const rows = new Map<string, Band[]>();
  for (const {robot, time, mode} of changes) {
    const row = rows.get(robot) ?? [];
    const last = row[row.length - 1];
    if (last && last.mode === mode) continue;
    if (last) last.to = time;
    row.push({robot, mode, from: time, to: Infinity});
    rows.set(robot, row);
  }
  const shapes = new Set<string>();
  return [...rows.values()]
    .map((row) => row.filter(({from, to}) => to > from))
    .filter((row) => {
      const shape = JSON.stringify(row.map(({mode, from}) => [mode, from]));
      return row.length > 1 && !shapes.has(shape) && shapes.add(shape);
    });
}

/** The time of the next flag after (or before) a moment; null: there is none. */
export function nextFlag(flags: readonly Flag[], time: number, direction: 1 | -1): number | null {
  const beyond = flags.map((flag) => flag.time).filter((at) => direction * (at - time) > 1e-3);
  return beyond.length ? (direction > 0 ? Math.min(...beyond) : Math.max(...beyond)) : null;
}
