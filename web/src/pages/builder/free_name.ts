// free_name.ts: a name for a copy.

/** Letters that a scene's name may have. */
const LONGEST = 63;

/** "name-2", "name-3"…: the first that nothing is called by. */
export function freeName(name: string, taken: readonly string[]): string {
  for (let number = 2; ; number++) {
    const end = `-${number}`;
    const tried = name.slice(0, LONGEST - end.length) + end;
    if (!taken.includes(tried)) return tried;
  }
}
