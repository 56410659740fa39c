// plot.tsx: one plot: its legend with values, and its traces drawn as they come.
import {useEffect, useRef} from 'preact/hooks';
import {decimate} from '../../live/decimate';
import {ring} from '../../live/samples';
import {cssColor, dark} from '../../theme';
import {Chart} from '../../ui/chart';
import type {Line} from '../../ui/chart';
import {Button} from '../../ui/controls';
import {active, addTrace, colourOf, cursor, frozen, plots, removePlot, removeTrace, unitOf, visible, zoom} from './plots';
import type {PlotSpec} from './plots';
import {LiveValue} from './value';

const SMOOTH_MS = 33;
/** Points a line gets at most, a CSS pixel of width. */
const DENSITY = 1;

/** ms between drawings: a window of an hour moves by a pixel every few seconds. */
function pause(width: number): number {
  const {from, to} = visible();
  return Math.max(SMOOTH_MS, frozen.peek() ? 250 : ((to - from) / Math.max(1, width)) * 500);
}

function linesOf(spec: PlotSpec, width: number): Line[] {
  const {from, to} = visible();
  return spec.names.flatMap((name, i) => {
    const kept = ring(name);
    return kept ? [{...decimate(kept, from, to, DENSITY * width), colour: cssColor(colourOf(i))}] : [];
  });
}

function useChart(spec: PlotSpec, host: {current: HTMLDivElement | null}): void {
  useEffect(() => {
    const element = host.current!;
    const chart = new Chart(
      element,
      element.clientHeight,
      {onCursor: (time) => (cursor.value = time), onZoom: zoom, onReset: () => (frozen.value = null)},
      'signals',
    );
    let request = 0;
    let drawn = 0;
    let shown: unknown = null;
    const draw = (now: number) => {
      request = requestAnimationFrame(draw);
      const width = element.clientWidth;
      if (now - drawn < pause(width) && shown === frozen.peek()) return;
      drawn = now;
      shown = frozen.peek();
      chart.resize(width, element.clientHeight);
      const {from, to} = visible();
      chart.show(linesOf(spec, width), from, Math.max(to, from + 1e-6));
    };
    request = requestAnimationFrame(draw);
    return () => {
      cancelAnimationFrame(request);
      chart.dispose();
    };
  }, [spec.names.join('\n'), dark.value]);
}

function Legend({spec}: {spec: PlotSpec}) {
  return (
    <ul class="legend">
      {spec.names.map((name, i) => (
        <li key={name}>
          <i class={`swatch trace-${(i % 10) + 1}`} />
          <span class="legend-name" title={name}>{name}</span>
          <LiveValue name={name} class="legend-value" />
          <span class="unit">{unitOf(name)}</span>
          <button type="button" class="remove" aria-label={`Remove ${name}`} onClick={() => removeTrace(spec.id, name)}>×</button>
        </li>
      ))}
    </ul>
  );
}

export function Plot({spec, number}: {spec: PlotSpec; number: number}) {
  const host = useRef<HTMLDivElement>(null);
  useChart(spec, host);
  return (
    <section
      class={`plot${active.value === spec.id ? ' active' : ''}`}
      aria-label={`Plot ${number}`}
      onPointerDown={() => (active.value = spec.id)}
      onFocusCapture={() => (active.value = spec.id)}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        const name = event.dataTransfer?.getData('text/plain');
        if (name) addTrace(spec.id, name);
      }}
    >
      <header>
        <Legend spec={spec} />
        {!spec.names.length && <span class="muted legend-empty">Drop signals here, or click them in the tree</span>}
        {plots.value.length > 1 && <Button icon="close" label={`Remove plot ${number}`} onClick={() => removePlot(spec.id)} />}
      </header>
      <div ref={host} class="plot-canvas" role="img" aria-label={spec.names.length ? `Plot of ${spec.names.join(', ')}` : 'Empty plot'} />
    </section>
  );
}
