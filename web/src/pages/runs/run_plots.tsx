// run_plots.tsx: signals over a whole run, with another run's dashed behind them.
import {signal} from '@preact/signals';
import {useMemo, useState} from 'preact/hooks';
import {stored} from '../../settings';
import {useFetched} from '../../http';
import {cssColor, dark} from '../../theme';
import {Button, Empty, Panel} from '../../ui/controls';
import {StaticChart} from '../../ui/static_chart';
import {matches, shownUnit} from '../signals/tree';
import {samplesUrl} from './types';
import type {Run, RunDetail, RunSamples} from './types';

const names = stored<string[]>('run.signals', []);
const MOST = 10;
/** s of the run that the plot shows; null: all of it. */
export const stretch = signal<{from: number; to: number} | null>(null);
/** s at which the plot is pointed at; null: it isn't. */
export const cursor = signal<number | null>(null);

function Picker({run}: {run: RunDetail}) {
  const [search, setSearch] = useState('');
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = run.signals.filter(({name}) => matches(name, words)).slice(0, 100);
  return (
    <details class="choice">
      <summary>Signals: {names.value.length}</summary>
      <div class="choice-list float">
        <input type="search" aria-label="Search signals of this run" placeholder={`Search ${run.signals.length} signals`} value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        {found.map(({name}) => (
          <label key={name} class="switch">
            <input
              type="checkbox"
              checked={names.value.includes(name)}
              disabled={!names.value.includes(name) && names.value.length >= MOST}
              onChange={(event) => (names.value = event.currentTarget.checked ? [...names.value, name] : names.value.filter((kept) => kept !== name))}
            />
            <span>{name}</span>
          </label>
        ))}
      </div>
    </details>
  );
}

export function RunPlots({run, other}: {run: RunDetail; other: Run | null}) {
  const window = stretch.value;
  const setWindow = (to: typeof window) => (stretch.value = to);
  const shown = names.value.filter((name) => run.signals.some((info) => info.name === name));
  const main = useFetched<RunSamples>(samplesUrl(run.id, shown));
  const behind = useFetched<RunSamples>(other ? samplesUrl(other.id, shown) : '');
  const lines = useMemo(() => {
    const of = (samples: RunSamples | null, dash?: number[]) =>
      (samples?.values ?? []).map((values, i) => ({times: samples!.time, values, colour: cssColor(`--trace-${(i % 10) + 1}`), dash}));
    return [...(other ? of(behind.value, [4, 4]) : []), ...of(main.value)];
  }, [main.value, behind.value, other, dark.value]);
  const end = Math.max(run.duration, other?.duration ?? 0);
  return (
    <Panel
      title="Signals"
      class="run-plot"
      actions={
        <>
          <Picker run={run} />
          <Button icon="fit" label="The whole run" onClick={() => setWindow(null)} />
        </>
      }
    >
      {shown.length ? (
        <>
          <ul class="legend">
            {shown.map((name, i) => (
              <li key={name}>
                <i class={`swatch trace-${(i % 10) + 1}`} />
                {name} <span class="unit">{shownUnit(run.signals.find((info) => info.name === name)?.unit ?? '')}</span>
              </li>
            ))}
          </ul>
          <StaticChart
            label={`Plot of ${shown.join(', ')}`}
            lines={lines}
            from={window?.from ?? 0}
            to={window?.to ?? end}
            onZoom={(from, to) => setWindow({from: Math.max(0, from), to: Math.min(end, to)})}
            onReset={() => setWindow(null)}
            onCursor={(time) => (cursor.value = time)}
          />
          {main.error && <p class="inline-error" role="alert">{main.error.message}</p>}
        </>
      ) : (
        <Empty icon="signals" title="Choose signals of this run">They are drawn over the whole of it; drag to look closer.</Empty>
      )}
    </Panel>
  );
}
