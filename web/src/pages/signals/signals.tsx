// signals.tsx: every value of the world by name, and plots of any of them.
import {useRef, useState} from 'preact/hooks';
import {titleOf} from '../../live/expression';
import {lostSamples} from '../../live/samples';
import {shownModel} from '../../live/moment';
import {formatCount, formatDuration, formatValue} from '../../format';
import {cssColor} from '../../theme';
import type {Pair} from '../../ui/chart_cursors';
import {Button, Empty} from '../../ui/controls';
import {NoWorld} from '../../ui/noworld';
import {saveCsv, savePng} from './export';
import {edited, editFormula, FormulaDialog} from './formula';
import {LayoutsDialog} from './layouts';
import {PAINT_NOW, Plot} from './plot';
import {addPlot, colourOf, cursors, freeze, frozen, plots, plotted, sizeOf, span, statisticsShown, toggleCursors, unitOf, visible, zoom} from './plots';
import {TreeView} from './treeview';

const SPANS = [2, 5, 10, 20, 60, 300, 900, 3600];

function exportPng(host: HTMLElement): void {
  for (const plot of host.querySelectorAll('.plot-canvas')) plot.dispatchEvent(new Event(PAINT_NOW)); // those beyond the screen, too
  const canvases = host.querySelectorAll<HTMLCanvasElement>('.plot-canvas canvas');
  savePng(
    plots.value.map(({traces}, i) => ({
      canvas: canvases[i]!,
      legend: traces.map(({name, colour}) => ({
        text: unitOf(name) ? `${titleOf(name)} [${unitOf(name)}]` : titleOf(name),
        colour: cssColor(colourOf(colour)),
      })),
    })),
  );
}

function exportCsv(): void {
  const {from, to} = visible();
  saveCsv(plotted.value, plotted.value.map(unitOf), plotted.value.map(sizeOf), from, to);
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

function Between({pair: [a, b]}: {pair: Pair}) {
  const time = (seconds: number) => `${seconds.toFixed(3).replace('-', '\u2212')} s`;
  return (
    <output class="between" aria-label="Between the cursors">
      A {time(a)} · B {time(b)} · <b>{time(b - a)}</b>{a !== b && <> · {formatValue(1 / Math.abs(b - a))} Hz</>}
    </output>
  );
}

export function Signals() {
  const host = useRef<HTMLDivElement>(null);
  const [layouts, setLayouts] = useState(false);
  if (!shownModel.value) return <NoWorld icon="signals" title="No signals to show" />;
  const spans = SPANS.includes(span.value) ? SPANS : [...SPANS, span.value].sort((a, b) => a - b);
  return (
    <div class="signals">
      <TreeView />
      <section class="plots" aria-label="Plots">
        <div class="toolbar" role="toolbar" aria-label="Plots">
          <Button
            icon={frozen.value ? 'play' : 'pause'}
            label={frozen.value ? 'Follow the newest' : 'Freeze what is shown'}
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
          <Button icon="formula" label="Plot a formula" text="Formula" onClick={() => editFormula()} />
          <Button icon="cursors" label="Two cursors" text="Cursors" pressed={!!cursors.value} disabled={!plotted.value.length} onClick={toggleCursors} />
          <Button icon="statistics" label="Statistics of what is seen: least, greatest, mean, rms" text="Statistics" pressed={statisticsShown.value} onClick={() => (statisticsShown.value = !statisticsShown.value)} />
          {cursors.value && <Between pair={cursors.value} />}
          <span class="grow" />
          {lostSamples.value > 0 && <span class="tag warn" title="Samples that did not reach this page">{formatCount(lostSamples.value)} lost</span>}
          <div class="export">
            <Button icon="download" label="What is shown as CSV" text="CSV" disabled={!plotted.value.length} onClick={exportCsv} />
            <Button icon="image" label="What is shown as PNG" text="PNG" disabled={!plotted.value.length} onClick={() => exportPng(host.current!)} />
          </div>
          <Button icon="layers" label="Layouts of plots" text="Layouts" onClick={() => setLayouts(true)} />
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
      {edited.value && <FormulaDialog />}
      {layouts && <LayoutsDialog close={() => setLayouts(false)} />}
    </div>
  );
}
