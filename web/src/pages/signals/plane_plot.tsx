// plane_plot.tsx: a plot whose axis below is not time. It is made of the stretch of time that all plots show.
import {useEffect, useRef, useState} from 'preact/hooks';
import {titleOf} from '../../live/expression';
import {moment, pastArrived} from '../../live/moment';
import {chosenUnits} from '../../live/units';
import {dark} from '../../theme';
import {Plane} from '../../ui/plane';
import {drawPlane} from './plane_drawing';
import {changePlot, frozen, visible} from './plots';
import type {PlotSpec} from './spec';
import type * as spectrumModule from './spectrum';

/** Computed no oftener, and for at most this share of the time. */
const PERIOD_MS = 100;
const SHARE = 0.2;

const KINDS = {xy: 'X-Y', histogram: 'Histogram', spectrum: 'Spectrum'} as const;

export function PlanePlot({spec}: {spec: PlotSpec & {kind: keyof typeof KINDS}}) {
  const host = useRef<HTMLDivElement>(null);
  const shownSpec = useRef(spec);
  shownSpec.current = spec;
  const spectrum = useRef<typeof spectrumModule | null>(null);
  const [notes, setNotes] = useState<string[]>([]);
  useEffect(() => {
    if (spec.kind === 'spectrum') void import('./spectrum').then((loaded) => (spectrum.current = loaded));
  }, [spec.kind]);
  useEffect(() => {
    const element = host.current!;
    const plane = new Plane(
      element,
      {
        onSelect: (x) => shownSpec.current.kind === 'spectrum' && changePlot(shownSpec.current.id, () => ({upTo: Math.max(x[1], 1e-3)})),
        onClear: () => changePlot(shownSpec.current.id, () => ({upTo: undefined})),
      },
      false,
    );
    let request = 0;
    let next = 0;
    let before: unknown[] = [];
    const frame = (now: number) => {
      request = requestAnimationFrame(frame);
      const {clientWidth: width, clientHeight: height} = element;
      const {from, to} = visible(); // which goes with what is known of the run, too
      const shown = [from, to, frozen.peek(), moment.peek(), pastArrived.peek(), shownSpec.current, chosenUnits.peek(), width, height, spectrum.current];
      const rests = (frozen.peek() || moment.peek() !== null) && shown.every((each, i) => each === before[i]);
      if (rests || now < next) return;
      before = shown;
      plane.resize(width, height);
      const began = performance.now();
      const box = plane.plot.over;
      const view = drawPlane(shownSpec.current, from, to, {width: box.clientWidth, height: box.clientHeight}, spectrum.current);
      if (view) {
        plane.show(view.x, view.y, view.paint);
        element.dataset.x = `${view.x.from.toPrecision(4)} ${view.x.to.toPrecision(4)} ${view.x.title}`;
        element.dataset.y = `${view.y.from.toPrecision(4)} ${view.y.to.toPrecision(4)} ${view.y.title}`;
        setNotes((old) => (old.join('\n') === view.notes.join('\n') ? old : view.notes));
      }
      next = now + Math.max(PERIOD_MS, (performance.now() - began) / SHARE);
    };
    request = requestAnimationFrame(frame);
    return () => {
      cancelAnimationFrame(request);
      plane.dispose();
    };
  }, [dark.value]);
  return (
    <>
      {notes.length > 0 && <ul class="plane-notes">{notes.map((note) => <li key={note}>{note}</li>)}</ul>}
      <div ref={host} class="plot-canvas" role="img" aria-label={`${KINDS[spec.kind]} of ${spec.traces.map(({name}) => titleOf(name)).join(', ')}`} />
    </>
  );
}
