// timeline_track.tsx: the track of the time line: bands, flags and the hand; looked at closer by wheel, pinch and keys.
import {useEffect, useMemo, useRef} from 'preact/hooks';
import {formatClock} from '../format';
import {goLive, isLive, moment, seek} from '../live/moment';
import {connection} from '../live/store';
import {useSize} from './size';
import {onTimeLineKey} from './timeline_keys';
import {cluster} from './timeline_marks';
import type {Band} from './timeline_marks';
import {bands, flags} from './timeline_run';
import {shareOf} from './timeline_stretch';
import type {Stretch} from './timeline_stretch';
import {isClose, pan, showWhole, shownOf, zoomAt} from './timeline_zoom';

/** CSS pixels that a flag takes. */
const FLAG_PIXELS = 9;
const MODES = {disabled: 'disabled', autonomous: 'autonomous', teleop: 'teleop', test: 'test', estop: 'e-stop'} as const;
/** How much closer a pixel of a wheel takes: a notch, 100 px, a quarter. */
const WHEEL = Math.log(1.33) / 100;
/** The browser may tell so late of fingers that were lifted. */
const REST_MS = 500;
/** Pixels of a line, in which some wheels count. */
const LINE = 30;

const share = (time: number, stretch: Stretch) => `${(100 * shareOf(time, stretch)).toFixed(3)}%`;

function Bands({rows, shown}: {rows: Band[][]; shown: Stretch}) {
  return (
    <div class="timebar-bands" aria-hidden="true">
      {rows.map((row, i) => (
        <div key={i}>
          {row.filter(({from, to}) => to >= shown.from && from <= shown.to).map(({mode, from, to, robot}) => (
            <i
              key={from}
              class={`mode-${mode}`}
              title={`${robot ? `${robot}: ` : ''}${MODES[mode]} from ${formatClock(from)}`}
              style={{left: share(from, shown), width: `calc(${share(to, shown)} - ${share(from, shown)})`}}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

function Flags({shown: {from, to}, width}: {shown: Stretch; width: number}) {
  const seen = useMemo(
    () => cluster(flags.value.filter(({time}) => time >= from && time <= to), (FLAG_PIXELS * (to - from)) / (width || 1)),
    [flags.value, from, to, width],
  );
  return (
    <div class="timebar-flags">
      {seen.map(({time, kind, text, count}) => (
        <button
          key={`${time} ${kind}`}
          type="button"
          class={`flag ${kind}`}
          tabIndex={-1}
          aria-hidden="true"
          title={text}
          data-count={count > 1 ? count : undefined}
          style={{left: share(time, {from, to})}}
          onClick={() => seek(time)}
        />
      ))}
    </div>
  );
}

/** Where in the run the stretch is, and between which times. */
function Overview({shown, end}: {shown: Stretch; end: number}) {
  const whole = {from: 0, to: end};
  return (
    <div class="timebar-overview" aria-hidden="true">
      <i style={{left: share(shown.from, whole), width: `calc(${share(shown.to, whole)} - ${share(shown.from, whole)})`}} />
      <span>{formatClock(shown.from)}</span>
      <span>{formatClock(shown.to)}</span>
    </div>
  );
}

/** Wheel and fingers on the track: closer, farther, along. While two fingers pinch the hand rests. */
class Gestures {
  private readonly fingers = new Map<number, number>(); // their x, px
  private before: number | null = null; // s; null: LIVE
  private rest: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly track: HTMLElement,
    private readonly end: () => number,
  ) {}

  /** Two fingers are there, or were just now: the one that is lifted last goes nowhere. */
  pinched = false;

  private place(x: number): {time: number; perPixel: number} {
    const {left, width} = this.track.getBoundingClientRect();
    const {from, to} = shownOf(this.end());
    return {time: from + ((x - left) / width) * (to - from), perPixel: (to - from) / width};
  }

  wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const {time, perPixel} = this.place(event.clientX);
    const size = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE;
    const along = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
    if (Math.abs(along) > (event.shiftKey ? 0 : Math.abs(event.deltaY))) pan(along * size * perPixel);
    else zoomAt(time, Math.exp(event.deltaY * size * WHEEL * (event.ctrlKey ? 10 : 1))); // a trackpad's pinch comes with Ctrl, in small steps
  };

  // What stands beside the track must not come or go meanwhile, or what is between the fingers would move.
  down = ({pointerId, pointerType, clientX}: PointerEvent): void => {
    if (pointerType !== 'touch') return;
    if (!this.fingers.size) {
      this.before = moment.peek();
      this.pinched = false;
    }
    this.fingers.set(pointerId, clientX);
    if (this.fingers.size !== 2) return;
    clearTimeout(this.rest);
    this.pinched = true;
    this.before === null ? goLive() : seek(this.before); // the first finger was no wish to go there
  };

  move = ({pointerId, clientX}: PointerEvent): void => {
    const old = this.fingers.get(pointerId);
    const other = [...this.fingers].find(([id]) => id !== pointerId)?.[1];
    if (old === undefined) return;
    this.fingers.set(pointerId, clientX);
    if (other === undefined) return;
    const {left, width} = this.track.getBoundingClientRect();
    zoomAt(this.place((old + other) / 2).time, Math.max(1, Math.abs(old - other)) / Math.max(1, Math.abs(clientX - other)), ((clientX + other) / 2 - left) / width);
  };

  up = ({pointerId}: PointerEvent): void => {
    if (this.fingers.delete(pointerId) && !this.fingers.size) this.rest = setTimeout(() => (this.pinched = false), REST_MS);
  };
}

function Hand({shown, end, gestures}: {shown: Stretch; end: number; gestures: {current: Gestures | null}}) {
  const time = moment.value ?? end;
  const inSight = time >= shown.from && time <= shown.to;
  const take = ({currentTarget: hand}: {currentTarget: HTMLInputElement}) => {
    if (gestures.current?.pinched) hand.valueAsNumber = time; // the browser moved it with a finger
    else seek(hand.valueAsNumber);
  };
  return (
    <>
      {inSight && <i class={`timebar-hand${isLive.value ? ' live' : ''}`} style={{left: share(time, shown)}} aria-hidden="true" />}
      <input
        type="range"
        aria-label="Time of the run"
        aria-valuetext={isLive.value ? `live, ${formatClock(time)}` : formatClock(time)}
        min={shown.from}
        max={shown.to}
        step={0.001}
        value={time}
        disabled={connection.value !== 'live'}
        onInput={take}
        onKeyDown={onTimeLineKey}
      />
    </>
  );
}

/** `end`: of the run, s. */
export function Track({end}: {end: number}) {
  const host = useRef<HTMLDivElement>(null);
  const gestures = useRef<Gestures | null>(null);
  const latest = useRef(end);
  latest.current = end;
  const [width] = useSize(host);
  const shown = shownOf(end);
  useEffect(() => {
    const track = host.current!;
    const {wheel, down, move, up} = (gestures.current = new Gestures(track, () => latest.current));
    track.addEventListener('wheel', wheel, {passive: false}); // or the page would scroll
    track.addEventListener('pointerdown', down);
    const over = new AbortController();
    for (const [name, handle] of [['pointermove', move], ['pointerup', up], ['pointercancel', up]] as const) addEventListener(name, handle, {signal: over.signal});
    return () => over.abort();
  }, []);
  return (
    <div ref={host} class="timebar-track" onDblClick={showWhole} title="Scroll: closer; Shift and scroll: along; double click: the whole run">
      <Bands rows={bands.value} shown={shown} />
      {isClose() && <Overview shown={shown} end={end} />}
      <Flags shown={shown} width={width} />
      <Hand shown={shown} end={end} gestures={gestures} />
    </div>
  );
}
