// runs.tsx: runs that were kept: what happened when, any signal over all of it, one over another, and a race against one.
import {signal} from '@preact/signals';
import {useMemo, useState} from 'preact/hooks';
import {formatBytes, formatDate, formatDuration} from '../../format';
import {useFetched} from '../../http';
import {send} from '../../live/connection';
import {go} from '../../route';
import {Button, Empty, Panel} from '../../ui/controls';
import {Show} from '../../ui/fetched';
import {Icon} from '../../ui/icon';
import {cursor, RunPlots, stretch} from './run_plots';
import {pictureUrl, type Run, type RunDetail} from './types';

const chosen = signal('');
const compared = signal('');

function race(run: Run): void {
  send({type: 'phantom', add: run.id});
  go('world');
}

/** Shares of the run that a look at one moment shows. */
const LOOK = 0.05;

function lookAt(time: number, duration: number): void {
  const half = Math.max((LOOK / 2) * duration, 0.05);
  stretch.value = {from: Math.max(0, time - half), to: Math.min(duration, time + half)};
}

/** Where the plot looks, and what happened; a finger or the mouse on it moves the look along. */
function TimeLine({run}: {run: RunDetail}) {
  const [pointed, setPointed] = useState(-1);
  const length = Math.max(run.duration, 1e-9);
  const share = (time: number) => `${100 * Math.min(1, Math.max(0, time / length))}%`;
  const scrub = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    lookAt((Math.min(1, Math.max(0, (event.clientX - box.left) / box.width))) * length, length);
  };
  return (
    <Panel title="What happened" class="timeline-panel">
      <div
        class="timeline"
        aria-hidden="true"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          scrub(event);
        }}
        onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && scrub(event)}
      >
        {stretch.value && <span class="timeline-look" style={{left: share(stretch.value.from), right: `calc(100% - ${share(stretch.value.to)})`}} />}
        {cursor.value !== null && <span class="timeline-cursor" style={{left: share(cursor.value)}} />}
        {run.events.map((event, i) => (
          <i
            key={i}
            class={pointed === i ? 'pointed' : ''}
            style={{left: share(event.time)}}
            onMouseEnter={() => setPointed(i)}
            onMouseLeave={() => setPointed(-1)}
          />
        ))}
      </div>
      <ol class="timeline-events" tabIndex={0} aria-label="Events">
        {run.events.map((event, i) => (
          <li key={i} class={pointed === i ? 'marked' : ''} onMouseEnter={() => setPointed(i)} onMouseLeave={() => setPointed(-1)}>
            <button type="button" class="link number" title="Look at this moment" onClick={() => lookAt(event.time, length)}>{event.time.toFixed(3)}</button>{' '}
            <b>{event.source}</b> {event.text}
          </li>
        ))}
        {!run.events.length && <li class="muted">Nothing out of the ordinary.</li>}
      </ol>
    </Panel>
  );
}

function Detail({id, runs}: {id: string; runs: Run[]}) {
  const run = useFetched<RunDetail>(`api/runs/${encodeURIComponent(id)}`);
  const other = runs.find((each) => each.id === compared.value);
  return (
    <div class="run-detail">
      <Show from={run} what="such run" icon="runs" missing="It may have been removed.">
        {(value) => (
          <>
            <div class="run-head">
              <div>
                <h2>{value.scene}</h2>
                <span class="muted">{formatDate(value.started)} · {formatDuration(value.duration)} · {value.outcome} · <span title={value.file}>{value.file.replace(/.*\//, '')}</span></span>
              </div>
              <span class="grow" />
              <label>
                over it{' '}
                <select value={compared.value} onChange={(event) => (compared.value = event.currentTarget.value)}>
                  <option value="">nothing</option>
                  {runs.filter((each) => each.id !== id).map((each) => (
                    <option key={each.id} value={each.id}>{each.id}</option>
                  ))}
                </select>
              </label>
              <Button icon="flag" label="Race this one" text="Race this one" kind="primary" disabled={value.recording} onClick={() => race(value)} />
            </div>
            <RunPlots run={value} other={other ?? null} />
            <TimeLine run={value} />
          </>
        )}
      </Show>
    </div>
  );
}

export function Runs() {
  const runs = useFetched<Run[]>('api/runs', 5000);
  const sorted = useMemo(() => [...(runs.value ?? [])].sort((a, b) => b.started.localeCompare(a.started)), [runs.value]);
  return (
    <Show from={runs} what="runs" icon="runs" missing={<>Keep them with <code>tether run SCENE --record FILE</code>, or <code>record: on</code> in the scene.</>}>
      {(list) => {
        if (!list.length) return <Empty icon="runs" title="No runs yet">Every recorded run of this program will be listed here.</Empty>;
        const current = sorted.find(({id}) => id === chosen.value) ?? sorted[0]!;
        return (
          <div class="runs">
            <nav class="run-list" aria-label="Runs">
              {sorted.map((run) => (
                <button key={run.id} type="button" class="run-card" aria-current={run === current || undefined} onClick={() => { chosen.value = run.id; stretch.value = null; }}>
                  <img class="run-picture" src={pictureUrl(run)} alt="" loading="lazy" width={320} height={120} />
                  <span class="run-name">{run.scene}{run.recording && <span class="tag bad">recording</span>}</span>
                  <span class="muted">{formatDate(run.started)}</span>
                  <span class="run-figures"><Icon name="trials" size={14} />{formatDuration(run.duration)} · {formatBytes(run.size)}</span>
                </button>
              ))}
            </nav>
            <Detail key={current.id} id={current.id} runs={sorted} />
          </div>
        );
      }}
    </Show>
  );
}
