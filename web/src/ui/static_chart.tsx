// static_chart.tsx: a plot of lines that are there as a whole: a run, a span of telemetry.
import {useEffect, useRef} from 'preact/hooks';
import {Chart} from './chart';
import type {Line} from './chart';
import {dark} from '../theme';
import {watchSize} from './size';

interface StaticChartProps {
  label: string;
  lines: Line[];
  from: number;
  to: number;
  onZoom?: (from: number, to: number) => void;
  onReset?: () => void;
  onCursor?: (time: number | null) => void;
  sync?: string;
}

export function StaticChart({label, lines, from, to, onZoom, onReset, onCursor, sync}: StaticChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<Chart | null>(null);
  const handlers = useRef({onZoom, onReset, onCursor});
  handlers.current = {onZoom, onReset, onCursor};
  const show = useRef(() => {});
  show.current = () => chart.current?.show(lines, from, Math.max(to, from + 1e-6));
  useEffect(() => {
    const element = host.current!;
    chart.current = new Chart(
      element,
      element.clientHeight,
      {
        onZoom: (a, b) => handlers.current.onZoom?.(a, b),
        onReset: () => handlers.current.onReset?.(),
        onCursor: (time) => handlers.current.onCursor?.(time),
      },
      sync,
    );
    const unwatch = watchSize(element, (width, height) => {
      chart.current?.resize(width, height);
      show.current();
    });
    return () => {
      unwatch();
      chart.current?.dispose();
      chart.current = null;
    };
  }, []);
  useEffect(() => show.current(), [lines, from, to, dark.value]);
  return <div ref={host} class="plot-canvas" role="img" aria-label={label} />;
}
