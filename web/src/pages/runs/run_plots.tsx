// run_plots.tsx: signals over a whole run.
import {signal} from '@preact/signals';
import {useMemo, useRef} from 'preact/hooks';
import {shownUnit} from '../../format';
import {useFetched} from '../../http';
import {AGAIN_MS} from '../../live/shown_run';
import {cssColor, dark} from '../../theme';
import {Button, Empty, Panel} from '../../ui/controls';
import {StaticChart} from '../../ui/static_chart';
import {names, Picker, Suggestions} from './picker';
import {checkRunSamples, samplesUrl} from './types';
import type {RunDetail, RunSamples} from './types';

/** s of the run that the plot shows; null: all of it. */
export const stretch = signal<{from: number; to: number} | null>(null);
/** s at which the plot is pointed at; null: it isn't. */
export const cursor = signal<number | null>(null);

export function RunPlots({run}: {run: RunDetail}) {
  const window = stretch.value;
  const setWindow = (to: typeof window) => (stretch.value = to);
  const shown = names.value.filter((name) => run.signals.some((info) => info.name === name));
  const main = useFetched(samplesUrl(run.id, shown), checkRunSamples, run.recording ? AGAIN_MS : 0);
  // Until the answer for what is chosen now is there, the lines of the one before are drawn, as far as they are chosen still.
  const answered = useRef<{names: string[]; samples: RunSamples | null}>({names: [], samples: null});
  if (!main.behind) answered.current = {names: shown, samples: main.value};
  const {names: drawn, samples} = answered.current;
  const lines = useMemo(
    () =>
      (samples?.values ?? []).flatMap((values, i) => {
        const place = shown.indexOf(drawn[i]!);
        return place < 0 ? [] : [{times: samples!.time, values, colour: cssColor(`--trace-${(place % 10) + 1}`)}];
      }),
    [samples, shown.join('\n'), dark.value],
  );
  const end = run.duration;
  return (
    <Panel
      title="Signals"
      class="run-plot"
      actions={
        <>
          <Picker signals={run.signals} />
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
        <Empty icon="signals" title="Choose signals of this run">
          They are drawn over the whole of it; drag to look closer.
          <Suggestions signals={run.signals} />
        </Empty>
      )}
    </Panel>
  );
}
