// runs.tsx: runs as a library: found, named, looked into, compared, brought from elsewhere.
import {useEffect, useState} from 'preact/hooks';
import {listOf} from '../../check';
import {useFetched} from '../../http';
import {may} from '../../role';
import {Empty} from '../../ui/controls';
import {Show} from '../../ui/fetched';
import {Icon} from '../../ui/icon';
import {lazy} from '../../ui/lazy';
import {bring, changes, compared, LOOK_MS, useCurrent} from './library';
import {Detail} from './run_detail';
import {RunList} from './run_list';
import {stretch} from './run_plots';
import {checkRun} from './types';
import type {Run} from './types';

const Compare = lazy<{runs: Run[]; gone: string[]}>(() => import('./compare').then(({Compare: loaded}) => loaded));

const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;

/** Files may be dropped anywhere on the page. */
function useDrop(): {over: boolean; handlers: Record<string, (event: DragEvent) => void>} {
  const [over, setOver] = useState(false);
  const handlers = {
    onDragOver: (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: (event: DragEvent) => {
      if (!(event.relatedTarget instanceof Node && (event.currentTarget as Node).contains(event.relatedTarget))) setOver(false);
    },
    onDrop: (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setOver(false);
      if (may('drive')) void bring([...event.dataTransfer!.files]);
    },
  };
  return {over, handlers};
}

function Chosen({list, current}: {list: Run[]; current: string}) {
  const chosen = compared.value.flatMap((id) => list.find((run) => run.id === id) ?? []);
  useEffect(() => void (stretch.value = null), [current]);
  if (compared.value.length > 1) return <Compare runs={chosen} gone={compared.value.filter((id) => chosen.every((run) => run.id !== id))} />;
  return current ? <Detail key={current} id={current} all={list} /> : null;
}

export function Runs() {
  const runs = useFetched('api/runs', listOf(checkRun), LOOK_MS);
  useEffect(() => (changes.value ? runs.again() : undefined), [changes.value]);
  const current = useCurrent(runs.value ?? []);
  const {over, handlers} = useDrop();
  return (
    <div class="runs-page" {...handlers}>
      <Show from={runs} what="runs" icon="runs" missing={<>Keep them with <code>tether run SCENE --record FILE</code>, or <code>record: on</code> in the scene.</>}>
        {(list) => (list.length || current ? (
          <div class="runs">
            <RunList runs={list} current={current} />
            <Chosen list={list} current={current} />
          </div>
        ) : (
          <Empty icon="runs" title="No runs yet">Every recorded run of this program will be listed here. A .wpilog that is dropped here is shown, too.</Empty>
        ))}
      </Show>
      {over && <div class="drop-here" aria-hidden="true"><Icon name="download" size={32} /><span>{may('drive') ? 'Drop the log to look at it' : 'This needs a token of the role drive'}</span></div>}
    </div>
  );
}
