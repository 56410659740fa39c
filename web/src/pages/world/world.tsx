// world.tsx: the page that shows the robots move.
import {signal} from '@preact/signals';
import {useEffect, useMemo, useState} from 'preact/hooks';
import {formatCount, formatValue} from '../../format';
import {frameRate, newestFrame} from '../../live/frames';
import {events, model, phantoms, status} from '../../live/store';
import {send, whileConnected} from '../../live/connection';
import {control} from '../../live/control';
import {stored} from '../../settings';
import {dark} from '../../theme';
import {Button, Segmented, Switch} from '../../ui/controls';
import {Icon} from '../../ui/icon';
import {NoWorld} from '../../ui/noworld';
import {WorldCanvas} from './canvas';
import type {CameraMode} from './cameras';
import {wish} from './quality';
import type {View3D, ViewStats} from './view3d';

const CAMERAS = [
  {value: 'orbit', text: 'Orbit', title: 'Drag to turn, right-drag to move, wheel to zoom'},
  {value: 'follow', text: 'Follow', title: 'Stays with a robot'},
  {value: 'top', text: 'Top', title: 'From above, +x to the right'},
  {value: 'station', text: 'Driver', title: "From the driver's station of the robot's alliance"},
] as const;

const OVERLAYS = {
  contacts: 'Contacts and forces',
  frames: 'Body frames',
  trails: 'Trails',
  rays: 'Range-finder rays',
  lines: 'Painted lines',
  names: 'Names',
  shadows: 'Shadows where it stays smooth',
} as const;

const QUALITIES = [
  {value: 'auto', text: 'Auto', title: 'As fine as stays smooth on this machine'},
  {value: 'best', text: 'Best', title: 'As fine as can be, for pictures'},
  {value: 'fast', text: 'Fast', title: 'Coarse, for slow machines'},
] as const;

const overlays = stored('overlays', {contacts: false, frames: false, trails: false, rays: true, lines: true, names: true, shadows: true});
const camera = stored<CameraMode>('camera', 'orbit');
const robot = signal(0);

function useSecond(): void {
  const [, set] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => set((count) => count + 1), 500);
    return () => clearInterval(timer);
  }, []);
}

function Stats({view}: {view: View3D | null}) {
  useSecond();
  const drawn: ViewStats = view?.stats() ?? {framesPerSecond: 0, triangles: 0, calls: 0};
  const frame = newestFrame();
  return (
    <dl class="stats" aria-label="Statistics of the picture">
      <div><dt>drawn</dt><dd>{drawn.framesPerSecond} /s</dd></div>
      <div><dt>received</dt><dd>{Math.round(frameRate())} /s</dd></div>
      <div><dt>skipped</dt><dd>{formatCount(status.value?.framesDropped ?? 0)}</dd></div>
      <div><dt>triangles</dt><dd>{formatCount(drawn.triangles)}</dd></div>
      {frame?.contacts && <div><dt>contacts</dt><dd>{frame.contacts.length}</dd></div>}
      <div><dt>pages</dt><dd>{status.value?.pages ?? 0}</dd></div>
    </dl>
  );
}

function Selection({body, view, onClose}: {body: number; view: View3D | null; onClose: () => void}) {
  useSecond();
  const info = model.value?.bodies[body];
  const poses = newestFrame()?.poses;
  if (!info || !poses) return null;
  const at = (k: number) => poses[7 * body + k] ?? NaN;
  const heading = Math.atan2(2 * (at(3) * at(6) + at(4) * at(5)), 1 - 2 * (at(5) ** 2 + at(6) ** 2));
  const owner = model.value!.robots[info.robot];
  return (
    <section class="float selection" aria-label={`Body ${info.name}`}>
      <header>
        <h2>{info.name}</h2>
        <Button icon="fit" label="Look at it" onClick={() => view?.focusBody(body)} />
        <Button icon="close" label="Close" onClick={onClose} />
      </header>
      <dl class="pairs">
        {['x', 'y', 'z'].map((axis, k) => (
          <div key={axis}><dt>{axis}</dt><dd>{formatValue(at(k))} <i>m</i></dd></div>
        ))}
        <div><dt>heading</dt><dd>{formatValue((heading * 180) / Math.PI)} <i>°</i></dd></div>
        {owner && <div><dt>robot</dt><dd>{owner.name}</dd></div>}
        {info.piece > 0 && <div><dt>piece of kind</dt><dd>{info.piece}</dd></div>}
      </dl>
      {owner && model.value!.robots.length > 1 && (
        <Button icon="reset" label={`Reset ${owner.name}`} text={`Reset ${owner.name}`} kind="plain" onClick={() => control('reset', undefined, info.robot)} />
      )}
    </section>
  );
}

function Events() {
  const recent = events.value.slice(-4).reverse();
  if (!recent.length) return null;
  return (
    <ol class="float events" aria-label="Events">
      {recent.map((event) => (
        <li key={event.id}>
          <span>{Number.isFinite(event.time) ? event.time.toFixed(2) : '–'}</span>
          <b>{event.source}</b> {event.text}
        </li>
      ))}
    </ol>
  );
}

function Phantoms() {
  useSecond();
  if (!phantoms.value.length) return null;
  const gaps = new Map(newestFrame()?.phantoms.map((phantom) => [phantom.id, phantom]));
  return (
    <ul class="float phantoms" aria-label="Phantoms">
      {phantoms.value.map(({id, name}) => {
        const gap = gaps.get(id);
        return (
          <li key={id}>
            <Icon name="runs" size={16} /> {name}
            {gap && <b class={gap.gapTime > 0 ? 'behind' : 'ahead'}>{gap.gapTime.toFixed(2)} s · {gap.gapDistance.toFixed(2)} m</b>}
            <Button icon="close" label={`Remove ${name}`} onClick={() => send({type: 'phantom', remove: id})} />
          </li>
        );
      })}
    </ul>
  );
}

/** #world/race/ID: a kept run that races here from the first. */
function race(): void {
  const id = /^#world\/race\/([^/]+)$/.exec(location.hash)?.[1];
  if (!id) return;
  send({type: 'phantom', add: decodeURIComponent(id)});
  history.replaceState(history.state, '', '#world');
}

export function World() {
  useEffect(() => whileConnected(race), []);
  const [view, setView] = useState<View3D | null>(null);
  const [selected, setSelected] = useState(-1);
  const [layers, setLayers] = useState(false);
  const robots = model.value?.robots ?? [];
  const options = useMemo(
    () => ({...overlays.value, camera: camera.value, robot: robot.value, dark: dark.value}),
    [overlays.value, camera.value, robot.value, dark.value],
  );
  if (!model.value) return <NoWorld icon="world" title="No world to show" />;
  return (
    <div class="world">
      <WorldCanvas options={options} onView={setView} onPick={(body) => setSelected(body > 0 ? body : -1)} />
      <div class="float world-tools">
        <Segmented label="Camera" options={CAMERAS} value={camera.value} onChange={(mode) => (camera.value = mode)} />
        {robots.length > 1 && (
          <select aria-label="Robot for the camera" value={String(robot.value)} onChange={(event) => (robot.value = Number(event.currentTarget.value))}>
            {robots.map(({name}, i) => (
              <option key={name} value={String(i)}>{name}</option>
            ))}
          </select>
        )}
        <Button icon="fit" label="Camera back to its place" onClick={() => view?.goToCamera()} />
        <Button icon="plus" label="Nearer" onClick={() => view?.zoom(0.8)} />
        <Button icon="minus" label="Farther" onClick={() => view?.zoom(1.25)} />
        <Button icon="layers" label="Overlays" pressed={layers} onClick={() => setLayers(!layers)} />
      </div>
      {layers && (
        <section class="float overlays" aria-label="Overlays">
          {(Object.keys(OVERLAYS) as (keyof typeof OVERLAYS)[]).map((name) => (
            <Switch
              key={name}
              label={OVERLAYS[name]}
              checked={overlays.value[name]}
              onChange={(on) => (overlays.value = {...overlays.value, [name]: on})}
            />
          ))}
          <div class="overlay-quality">
            <span class="field-label">Picture</span>
            <Segmented label="Picture" options={QUALITIES} value={wish.value} onChange={(value) => (wish.value = value)} />
          </div>
        </section>
      )}
      {selected >= 0 && <Selection body={selected} view={view} onClose={() => setSelected(-1)} />}
      <Events />
      <Phantoms />
      <Stats view={view} />
    </div>
  );
}
