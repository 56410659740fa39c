// noworld.tsx: what stands on a page that needs the world, while there is none.
import type {ComponentChildren} from 'preact';
import {goneRun} from '../live/moment';
import {connection, hello} from '../live/store';
import {Empty} from './controls';
import type {IconName} from './icon';

/** Says why there is none, and what to do about it; `title` what is missed here. */
export function NoWorld({icon, title}: {icon: IconName; title: string}) {
  const state = connection.value;
  if (goneRun.value) return <Empty icon={icon} title={title}>The run that was to be shown is not kept here.</Empty>;
  if (state === 'connecting' || state === 'live' || state === 'worldless') return <div class="loading" role="status"><i />Loading the world…</div>;
  const why: ComponentChildren =
    state === 'foreign' ? (
      'The program is of another version: reload this page.'
    ) : (
      <>The program is away; this page comes back with it. Start it: <code>script/run</code></>
    );
  return <Empty icon={icon} title={title}>{why}</Empty>;
}

/** Where a kept run is shown, and this page would need a world that computes itself. */
export function KeptRun({icon, title}: {icon: IconName; title: string}) {
  return <Empty icon={icon} title={title}>This program shows a run that was kept: {hello.value?.replay?.run}</Empty>;
}
