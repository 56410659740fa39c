// signals.tsx: every value of the world by name, and plots of any of them.
import {useRef} from 'preact/hooks';
import {lostSamples} from '../../live/samples';
import {model} from '../../live/store';
import {formatCount, formatDuration} from '../../format';
import {cssColor} from '../../theme';
import {Button, Empty} from '../../ui/controls';
import {NoWorld} from '../../ui/noworld';
import {saveCsv, savePng} from './export';
import {Plot} from './plot';
import {addPlot, colourOf, freeze, frozen, plots, plotted, span, unitOf, visible, zoom} from './plots';
import {TreeView} from './treeview';

const SPANS = [2, 5, 10, 20, 60, 300, 900, 3600];

function exportPng(host: HTMLElement): void {
  const canvases = host.querySelectorAll<HTMLCanvasElement>('.plot-canvas canvas');
  savePng(
    plots.value.map(({names}, i) => ({
      canvas: canvases[i]!,
      legend: names.map((name, k) => ({
        text: unitOf(name) ? `${name} [${unitOf(name)}]` : name,
        colour: cssColor(colourOf(k)),
      })),
    })),
  );
}

function exportCsv(): void {
  const {from, to} = visible();
  saveCsv(plotted.value, plotted.value.map(unitOf), from, to);
}

function zoomBy(factor: number): void {
  const {from, to} = visible();
  if (frozen.value) {
    const middle = (from + to) / 2;
    zoom(middle + (from - middle) * factor, middle + (to - middle) * factor);
  } else {
    span.value = Math.min(3600, Math.max(0.5, span.value * factor));
  }
}

export function Signals() {
  const host = useRef<HTMLDivElement>(null);
  if (!model.value) return <NoWorld icon="signals" title="No signals to show" />;
  const spans = SPANS.includes(span.value) ? SPANS : [...SPANS, span.value].sort((a, b) => a - b);
  return (
    <div class="signals">
      <TreeView />
      <section class="plots" aria-label="Plots">
        <div class="toolbar" role="toolbar" aria-label="Plots">
          <Button
            icon={frozen.value ? 'play' : 'pause'}
            label={frozen.value ? 'Follow' : 'Freeze'}
            text={frozen.value ? 'Follow' : 'Freeze'}
            kind={frozen.value ? 'primary' : 'plain'}
            onClick={freeze}
          />
          <select
            aria-label="Time shown"
            value={String(span.value)}
            onChange={(event) => {
              span.value = Number(event.currentTarget.value);
              frozen.value = null;
            }}
          >
            {spans.map((seconds) => (
              <option key={seconds} value={String(seconds)}>{formatDuration(seconds)}</option>
            ))}
          </select>
          <Button icon="plus" label="Shorter time" onClick={() => zoomBy(0.5)} />
          <Button icon="minus" label="Longer time" onClick={() => zoomBy(2)} />
          <span class="grow" />
          {lostSamples.value > 0 && <span class="tag warn" title="Samples that did not reach this page">{formatCount(lostSamples.value)} lost</span>}
          <Button icon="download" label="What is shown as CSV" text="CSV" disabled={!plotted.value.length} onClick={exportCsv} />
          <Button icon="image" label="What is shown as PNG" text="PNG" disabled={!plotted.value.length} onClick={() => exportPng(host.current!)} />
          <Button icon="plus" label="Add a plot" text="Plot" kind="plain" onClick={() => addPlot()} />
        </div>
        <div class="plot-list" ref={host}>
          {plots.value.map((spec, i) => (
            <Plot key={spec.id} spec={spec} number={i + 1} />
          ))}
          {!plots.value.length && (
            <Empty icon="signals" title="No plots">
              <Button label="Add a plot" text="Add a plot" kind="primary" onClick={() => addPlot()} />
            </Empty>
          )}
        </div>
      </section>
    </div>
  );
}
