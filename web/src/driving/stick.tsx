// stick.tsx: a stick and buttons for fingers and mouse, which also show what any other input does.
import {useEffect, useRef} from 'preact/hooks';
import {inputs} from './session';
import {onScreen} from './input';
import type {Axis, PadButton} from './input';

interface StickProps {
  label: string;
  x: Axis;
  y: Axis;
}

export function Stick({label, x, y}: StickProps) {
  const base = useRef<HTMLDivElement>(null);
  const follow = (event: PointerEvent) => {
    const box = base.current!.getBoundingClientRect();
    const radius = box.width / 2;
    const dx = (event.clientX - box.left - radius) / radius;
    const dy = (box.top + radius - event.clientY) / radius;
    const size = Math.max(1, Math.hypot(dx, dy));
    onScreen[x] = dx / size;
    onScreen[y] = dy / size;
  };
  const release = () => {
    delete onScreen[x];
    delete onScreen[y];
  };
  useEffect(() => release, []); // what leaves the page under a finger is told of no end
  const {[x]: right, [y]: up} = inputs.value;
  return (
    <div
      ref={base}
      class="stick"
      role="img"
      aria-label={`${label}: ${right.toFixed(2)} right, ${up.toFixed(2)} up`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        follow(event);
      }}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && follow(event)}
      onPointerUp={release}
      onPointerCancel={release}
      onLostPointerCapture={release}
    >
      <span class="stick-knob" style={{transform: `translate(${(right * 100).toFixed(1)}%, ${(-up * 100).toFixed(1)}%)`}} />
      <span class="stick-label">{label}</span>
    </div>
  );
}

export function PadKey({name, text}: {name: PadButton; text: string}) {
  const release = () => {
    delete onScreen[name];
  };
  useEffect(() => release, []);
  return (
    <button
      type="button"
      class={`pad-key pad-${name}${inputs.value[name] > 0.5 ? ' down' : ''}`}
      aria-label={`Button ${text}`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        onScreen[name] = 1;
      }}
      onPointerUp={release}
      onPointerCancel={release}
      onKeyDown={(event) => (event.key === 'Enter' || event.key === ' ') && (event.preventDefault(), (onScreen[name] = 1))}
      onKeyUp={release}
      onBlur={release}
    >
      {text}
    </button>
  );
}
