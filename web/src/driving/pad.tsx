// pad.tsx: a gamepad on the screen, over whatever is driven.
import {driving} from './session';
import {PadKey, Stick} from './stick';

export function Pad() {
  return (
    <div class={`pad${driving.value ? ' live' : ''}`} aria-label="Joystick" role="group">
      <Stick label="W A S D" x="left_x" y="left_y" />
      <div class="pad-middle">
        <div class="pad-cross">
          <PadKey name="up" text="▲" /><PadKey name="left" text="◀" /><PadKey name="right" text="▶" /><PadKey name="down" text="▼" />
        </div>
        <div class="pad-small">
          <PadKey name="back" text="Back" /><PadKey name="select" text="Guide" /><PadKey name="start" text="Start" />
        </div>
        <div class="pad-cross">
          <PadKey name="y" text="Y" /><PadKey name="x" text="X" /><PadKey name="b" text="B" /><PadKey name="a" text="A" />
        </div>
      </div>
      <Stick label="Arrows" x="right_x" y="right_y" />
    </div>
  );
}
