// statistics.ts: what a comparison of trials shows, and how far values reach.

export interface Summary {
  count: number;
  least: number;
  lower: number; // first quartile
  median: number;
  upper: number; // third quartile
  greatest: number;
  mean: number;
  deviation: number; // of the sample; NaN for one value
}

/** The quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan). */
export function quantile(sorted: number[], fraction: number): number {
  if (!sorted.length) return NaN;
  const at = (sorted.length - 1) * fraction;
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (sorted[above]! - sorted[below]!) * (at - below);
}

export function summarize(values: number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  const squares = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return {
    count: sorted.length,
    least: sorted[0] ?? NaN,
    lower: quantile(sorted, 0.25),
    median: quantile(sorted, 0.5),
    upper: quantile(sorted, 0.75),
    greatest: sorted[sorted.length - 1] ?? NaN,
    mean,
    deviation: sorted.length > 1 ? Math.sqrt(squares / (sorted.length - 1)) : NaN,
  };
}

/** Least and greatest of all that are finite: one infinite value must not take an axis from all others. null: there is none. */
export function extent(lists: readonly (readonly (number | null | undefined)[])[]): [number, number] | null {
  let least = Infinity;
  let greatest = -Infinity;
  for (const list of lists) {
    for (const value of list) {
      if (value === null || value === undefined || !Number.isFinite(value)) continue;
      if (value < least) least = value;
      if (value > greatest) greatest = value;
    }
  }
  return least <= greatest ? [least, greatest] : null;
}
