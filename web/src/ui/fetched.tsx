// fetched.tsx: what stands in place of data that is loading, failed, or that this program doesn't keep.
import type {ComponentChildren} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import type {Fetched} from '../http';
import {Button, Empty} from './controls';
import type {IconName} from './icon';

/** ms after which somebody wonders whether anything comes. */
const LATE_MS = 400;

/** Says that something else is on its way than what is shown, once that takes a while. */
export function Loading({when}: {when: boolean}) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (!when) return;
    const timer = setTimeout(() => setLate(true), LATE_MS);
    return () => clearTimeout(timer);
  }, [when]);
  return when && late ? <div class="loading" role="status"><i />Loading…</div> : null;
}

interface FetchedProps<T> {
  from: Fetched<T>;
  what: string;
  icon: IconName;
  /** How to get it, where the program keeps none (404). */
  missing: ComponentChildren;
  children: (value: T) => ComponentChildren;
}

export function Show<T>({from, what, icon, missing, children}: FetchedProps<T>) {
  if (from.value !== null) {
    return (
      <>
        {from.error && ![401, 404].includes(from.error.status) && <p class="inline-error" role="alert">{from.error.message}: what you see is the last that came.</p>}
        {children(from.value)}
      </>
    );
  }
  if (from.loading) return <div class="loading" role="status"><i />Loading…</div>;
  if (from.error?.status === 404) return <Empty icon={icon} title={`This program keeps no ${what}`}>{missing}</Empty>;
  return (
    <Empty icon="warning" title={`No ${what}: ${from.error?.message ?? 'nothing came'}`}>
      <p>Trying again by itself every few seconds.</p>
      <Button label="Try again" text="Try again" kind="plain" onClick={from.again} />
    </Empty>
  );
}
