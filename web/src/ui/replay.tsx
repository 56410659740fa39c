// replay.tsx: the time line of a kept run that is shown: where it stands, what happened when, and a hand to move it.
import {signal} from '@preact/signals';
import {formatClock} from '../format';
import {useFetched} from '../http';
import {control} from '../live/control';
import {hello, live, status} from '../live/store';
import {Icon} from './icon';

interface Kept {
  events: {time: number; source: string; text: string}[];
}

/** Where the hand is while it moves; null: the run's own time is shown. */
const held = signal<number | null>(null);

function seek(time: number): void {
  held.value = time;
  control('seek', time);
}

export function Replay() {
  const replay = hello.value?.replay ?? null;
  const kept = useFetched<Kept>(replay ? `api/runs/${encodeURIComponent(replay.run)}` : '');
  if (!replay) return null;
  const {run, duration} = replay;
  const now = Math.min(duration, held.value ?? status.value?.time ?? 0);
  return (
    <section class="replay" aria-label="Replay">
      <Icon name="runs" size={16} />
      <span class="replay-name" title={run}>{run}</span>
      <span class="replay-time">{formatClock(now)}</span>
      <div class="replay-line">
        {kept.value?.events.map(({time, source, text}, i) => (
          <button
            key={i}
            type="button"
            tabIndex={-1}
            aria-hidden="true"
            title={`${time.toFixed(2)} s ${source}: ${text}`}
            style={{left: `${(100 * time) / Math.max(duration, 1e-9)}%`}}
            onClick={() => seek(time)}
          />
        ))}
        <input
          type="range"
          aria-label="Time of the run"
          aria-valuetext={formatClock(now)}
          min={0}
          max={duration}
          step={0.01}
          value={now}
          disabled={!live.value}
          onInput={(event) => seek(event.currentTarget.valueAsNumber)}
          onChange={() => (held.value = null)}
        />
      </div>
      <span class="replay-time muted">{formatClock(duration)}</span>
    </section>
  );
}
