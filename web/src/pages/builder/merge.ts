// merge.ts: what differs between two texts, and what two hands have made of one.

/** What makes `after` of `before`: `insert` in place of what stands from `from` to `to`. */
export function difference(before: string, after: string): {from: number; to: number; insert: string} {
  const least = Math.min(before.length, after.length);
  let from = 0;
  while (from < least && before[from] === after[from]) from++;
  let tail = 0;
  while (tail < least - from && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return {from, to: before.length - tail, insert: after.slice(from, after.length - tail)};
}

/** The text with the changes of both; null: they touch the same lines. */
export function merged(before: string, mine: string, theirs: string): string | null {
  if (mine === theirs) return mine;
  const [first, second] = [difference(before, mine), difference(before, theirs)].sort((a, b) => a.from - b.from || a.to - b.to) as [ReturnType<typeof difference>, ReturnType<typeof difference>];
  const between = before.slice(first.to, second.from);
  if (first.to > second.from || !between.includes('\n')) return null;
  return before.slice(0, first.from) + first.insert + between + second.insert + before.slice(second.to);
}
