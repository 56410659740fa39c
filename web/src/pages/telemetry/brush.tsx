// brush.tsx: everything there is of a device in a strip; the stretch that is looked at is a window in it that is moved, made wider, or
// drawn anew.
import {useRef, useState} from 'preact/hooks';
import {ClockChart} from '../../ui/clock_chart';
import type {ClockChartProps} from '../../ui/clock_chart';
import type {Moments} from './span';
import {clockText, zoneName} from './zone';

interface BrushProps extends Pick<ClockChartProps, 'times' | 'columns' | 'colours'> {
  /** What the strip shows, ms. */
  whole: Moments;
  window: Moments;
  onWindow: (window: Moments) => void;
}

/** px around the plot in the strip, as the chart has it. */
const EDGE = 12;
/** px that are a movement, not a click. */
const MOVED = 3;
/** Of the strip, for a press of a key. */
const KEY_STEP = 0.01;

type Grip = 'from' | 'to' | 'both' | 'new';

export function Brush({times, columns, colours, whole, window: seen, onWindow}: BrushProps) {
  const strip = useRef<HTMLDivElement>(null);
  const held = useRef<{grip: Grip; at: number; x: number; window: Moments} | null>(null);
  const [draft, setDraft] = useState<Moments | null>(null);
  const shown = draft ?? seen;
  const length = Math.max(1, whole.to - whole.from);
  const percent = (ms: number) => `${Math.max(0, Math.min(100, (100 * (ms - whole.from)) / length))}%`;
  const momentAt = (event: PointerEvent) => {
    const {left, width} = strip.current!.getBoundingClientRect();
    return whole.from + (length * (event.clientX - left)) / width;
  };
  const moved = (event: PointerEvent): Moments | null => {
    const {grip, at, x, window} = held.current!;
    if (Math.abs(event.clientX - x) < MOVED) return null;
    const now = momentAt(event);
    if (grip === 'both') return {from: window.from + now - at, to: window.to + now - at};
    if (grip === 'from') return {from: Math.min(now, window.to - 1), to: window.to};
    if (grip === 'to') return {from: window.from, to: Math.max(now, window.from + 1)};
    return {from: Math.min(at, now), to: Math.max(at, now)};
  };
  const press = (grip: Grip) => (event: PointerEvent) => {
    event.preventDefault();
    event.stopPropagation();
    strip.current!.setPointerCapture(event.pointerId);
    held.current = {grip, at: momentAt(event), x: event.clientX, window: seen};
  };
  const move = (event: PointerEvent) => held.current && setDraft(moved(event) ?? draft);
  const release = (event: PointerEvent) => {
    const window = held.current && (moved(event) ?? draft);
    held.current = null;
    setDraft(null);
    if (window) onWindow(window);
  };
  const keys = (grip: 'from' | 'to') => (event: KeyboardEvent) => {
    const step = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10}[event.key];
    if (!step) return;
    event.preventDefault();
    const ms = step * KEY_STEP * length;
    onWindow(grip === 'from' ? {from: Math.min(seen.from + ms, seen.to - 1), to: seen.to} : {from: seen.from, to: Math.max(seen.to + ms, seen.from + 1)});
  };
  const slider = (grip: 'from' | 'to') => (
    <div
      class={`brush-edge ${grip}`}
      role="slider"
      tabIndex={0}
      aria-label={grip === 'from' ? 'Beginning of what is looked at' : 'End of what is looked at'}
      aria-valuemin={Math.round(whole.from / 1000)}
      aria-valuemax={Math.round(whole.to / 1000)}
      aria-valuenow={Math.round(Math.max(whole.from, Math.min(whole.to, shown[grip])) / 1000)}
      aria-valuetext={clockText(shown[grip], zoneName.value).slice(0, 19).replace('T', ' ')}
      style={{left: percent(shown[grip])}}
      onPointerDown={press(grip)}
      onKeyDown={keys(grip)}
    />
  );
  return (
    <div class="brush">
      <ClockChart label="Everything there is" times={times} columns={columns} colours={colours} from={whole.from / 1000} to={whole.to / 1000} zone={zoneName.value} axes={false} />
      <div ref={strip} class="brush-strip" style={{left: `${EDGE}px`, right: `${EDGE}px`}} onPointerDown={press('new')} onPointerMove={move} onPointerUp={release} onPointerCancel={release}>
        <div class="brush-window" style={{left: percent(shown.from), right: `calc(100% - ${percent(shown.to)})`}} onPointerDown={press('both')} />
        {slider('from')}
        {slider('to')}
      </div>
    </div>
  );
}
