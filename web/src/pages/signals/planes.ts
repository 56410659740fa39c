// planes.ts: what is made of traces where the axis below is not time: one against another, how often each value was, which frequencies
// there are.
import type {Trace} from '../../live/decimate';

/** x and y at the times of y; x holds between its samples. */
export function pairs(x: Trace, y: Trace): {x: number[]; y: number[]} {
  const made: {x: number[]; y: number[]} = {x: [], y: []};
  let next = 0;
  for (let i = 0; i < y.times.length; i++) {
    while (next < x.times.length && x.times[next]! <= y.times[i]!) next++;
    if (!next) continue;
    made.x.push(x.values[next - 1]!);
    made.y.push(y.values[i]!);
  }
  return made;
}

/** The share of the time between `from` and `to` in which a trace was in each of `count` equal parts of [low, high]. */
export function histogram({times, values}: Trace, from: number, to: number, [low, high]: [number, number], count: number): number[] {
  const shares = new Array<number>(count).fill(0);
  let whole = 0;
  for (let i = 0; i < times.length; i++) {
    const lasted = Math.min(to, times[i + 1] ?? -Infinity) - Math.max(from, times[i]!);
    const value = values[i]!;
    if (!(lasted > 0) || !(value >= low && value <= high)) continue;
    shares[Math.min(count - 1, Math.floor(((value - low) / (high - low)) * count))]! += lasted;
    whole += lasted;
  }
  return whole ? shares.map((share) => share / whole) : shares;
}

/** Both axes of a plane of `width` × `height` with the same scale, so that a way over the floor looks as it was. */
export function equalScales(x: [number, number], y: [number, number], width: number, height: number): {x: [number, number]; y: [number, number]} {
  const scale = Math.max((x[1] - x[0]) / Math.max(1, width), (y[1] - y[0]) / Math.max(1, height));
  const around = ([low, high]: [number, number], size: number): [number, number] => {
    const half = (scale * size) / 2;
    return [(low + high) / 2 - half, (low + high) / 2 + half];
  };
  return {x: around(x, Math.max(1, width)), y: around(y, Math.max(1, height))};
}
