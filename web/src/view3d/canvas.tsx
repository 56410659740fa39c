// canvas.tsx: the picture of the world as a component, for every page that shows it.
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';
import {send, whileConnected} from '../live/connection';
import {want} from '../live/samples';
import {isServed, isOfWorld, shownModel, shownScenery} from '../live/moment';
import {phantoms} from '../live/store';
import type {Phantom} from '../live/types';
import {page} from '../route';
import {Button, Empty} from '../ui/controls';
import {wish} from './quality';
import type {View3D, ViewOptions} from './view3d';

interface CanvasProps {
  options: ViewOptions;
  /** Gets the view while there is one. */
  onView?: (view: View3D | null) => void;
  onPick?: (body: number) => void;
}

let loading: Promise<typeof import('./view3d')> | null = null;
const loadView = () =>
  (loading ??= import('./view3d').catch((error: unknown) => {
    loading = null;
    throw new NotLoaded(String(error));
  }));

/** The program did not hand out what draws; another time it may. */
class NotLoaded extends Error {}

// The page that shows the world first of all gets ready to draw while the program is still asked what there is to draw.
if (page.peek() === 'world') loadView().then(({prepareDrawing}) => prepareDrawing(), () => undefined);

/** They race beside the world, not beside a kept run. */
const NO_PHANTOMS: Phantom[] = [];

/** A click, not a drag. */
const CLICK_PIXELS = 4;

export function WorldCanvas({options, onView, onPick}: CanvasProps) {
  const host = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View3D | null>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  const {key} = shownScenery.value;
  const there = shownModel.value !== null;
  const racing = isOfWorld.value || isServed.value ? phantoms.value : NO_PHANTOMS;
  const quality = wish.value;

  useEffect(() => {
    const description = shownModel.peek();
    if (!description) return;
    let made: View3D | null = null;
    let gone = false;
    setFailure(null);
    loadView()
      .then(({View3D: Class}) => {
        if (gone || !host.current) return;
        made = new Class(host.current, description, shownScenery.peek());
        setView(made);
      })
      .catch((error: unknown) => gone || setFailure(error instanceof Error ? error : new Error(String(error))));
    return () => {
      gone = true;
      setView(null);
      made?.dispose();
    };
  }, [key, there, quality]);

  // At once, not after the next picture: a button pressed until then would move a camera that is not there any more.
  useLayoutEffect(() => view?.set(options), [view, options]);
  useEffect(() => onView?.(view), [view]);
  useEffect(() => view?.setPhantoms(racing), [view, racing]);
  useEffect(() => {
    if (!options.contacts) return;
    const stop = whileConnected(() => send({type: 'contacts', on: true}));
    return () => {
      stop();
      send({type: 'contacts', on: false});
    };
  }, [options.contacts]);
  useEffect(() => (view && options.rays && view.signals.length ? want(view.signals, false) : undefined), [view, options.rays]);

  const down = useRef({x: 0, y: 0});
  return (
    <div
      ref={host}
      class="canvas"
      role="img"
      aria-label="The simulated world"
      onPointerDown={(event) => (down.current = {x: event.clientX, y: event.clientY})}
      onPointerUp={(event) => {
        const moved = Math.hypot(event.clientX - down.current.x, event.clientY - down.current.y);
        if (view && onPick && event.button === 0 && moved < CLICK_PIXELS) onPick(view.pick(event.clientX, event.clientY));
      }}
    >
      {failure instanceof NotLoaded ? (
        <Empty icon="offline" title="The picture could not be loaded">
          <p>The program has ended, or is another version by now. It is tried again when the program is back.</p>
          <Button label="Reload" text="Reload" kind="primary" onClick={() => location.reload()} />
        </Empty>
      ) : failure && (
        <Empty icon="warning" title="This browser cannot draw in three dimensions">
          WebGL is missing or switched off. Every other page works. ({failure.message})
        </Empty>
      )}
    </div>
  );
}
