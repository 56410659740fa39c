// clock.ts: what time it is where samples get theirs: at the program, whose clock need not be this browser's.
import {useEffect, useState} from 'preact/hooks';

/** ms that the program's clock is ahead. It says whole seconds, so less than two are no difference. */
let ahead = 0;
const NO_DIFFERENCE = 2000;

async function learn(): Promise<void> {
  const answer = await fetch('api/access').catch(() => null);
  await answer?.text(); // unread it counts as broken off
  const said = Date.parse(answer?.headers.get('date') ?? '');
  const difference = said - Date.now();
  if (Math.abs(difference) > NO_DIFFERENCE) ahead = difference;
}

void learn();

export function now(): number {
  return Date.now() + ahead;
}

/** Now, again every so many ms; 0: it stands still. */
export function useNow(periodMs: number): number {
  const [time, setTime] = useState(now);
  useEffect(() => {
    setTime(now());
    const timer = periodMs ? setInterval(() => document.hidden || setTime(now()), periodMs) : undefined;
    return () => clearInterval(timer);
  }, [periodMs]);
  return time;
}
