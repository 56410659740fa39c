// world.tsx: the page that shows the robots move.
import {computed} from '@preact/signals';
import {useEffect, useMemo, useState} from 'preact/hooks';
import {formatCount, formatSignal} from '../../format';
import {frameRate} from '../../live/frames';
import {shownFrame} from '../../live/kept_frames';
import {moment, shownDetails, shownModel} from '../../live/moment';
import {events, phantoms, status} from '../../live/store';
import {send, whileConnected} from '../../live/connection';
import {control} from '../../live/control';
import {addressOf, param, setParams} from '../../route';
import {addressed} from '../../addressed';
import {dark} from '../../theme';
import {Button, Empty, Segmented, Switch} from '../../ui/controls';
import {Icon} from '../../ui/icon';
import {NoWorld} from '../../ui/noworld';
import {usePopover} from '../../ui/popovers';
import {WorldCanvas} from '../../view3d/canvas';
import type {CameraMode} from '../../view3d/cameras';
import {wish} from '../../view3d/quality';
import type {View3D, ViewStats} from '../../view3d/view3d';

const CAMERAS: {value: CameraMode; text: string; title: string}[] = [
  {value: 'orbit', text: 'Orbit', title: 'Drag to turn, right-drag to move, wheel to zoom'},
  {value: 'follow', text: 'Follow', title: 'Stays with a robot'},
  {value: 'behind', text: 'Behind', title: 'Stays behind a robot, and turns with it'},
  {value: 'top', text: 'Top', title: 'From above, +x to the right'},
  {value: 'station', text: 'Driver', title: 'From where the robot’s driver stands'},
];

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

type Overlay = keyof typeof OVERLAYS;
const NAMES = Object.keys(OVERLAYS) as Overlay[];
const camera = addressed<CameraMode>('world', 'camera', 'camera', 'orbit', (text) => CAMERAS.some(({value}) => value === text));
/** Names of overlays that are shown, with commas; "none". */
const overlays = addressed<string>('world', 'show', 'show', 'rays,lines,names,shadows', () => true);
const shownOverlays = computed(() => {
  const names = overlays.value.split(',');
  return Object.fromEntries(NAMES.map((name) => [name, names.includes(name)])) as Record<Overlay, boolean>;
});
const look = param('look', 'world');
const robotName = param('robot');
const bodyName = param('body', 'world');

function showOverlay(name: Overlay, on: boolean): void {
  const names = NAMES.filter((each) => (each === name ? on : shownOverlays.peek()[each]));
  overlays.choose(names.join(',') || 'none');
}

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
  const frame = shownFrame();
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
  const info = shownModel.value?.bodies[body];
  const poses = shownFrame()?.poses;
  if (!info || !poses) return null;
  const at = (k: number) => poses[7 * body + k] ?? NaN;
  const heading = Math.atan2(2 * (at(3) * at(6) + at(4) * at(5)), 1 - 2 * (at(5) ** 2 + at(6) ** 2));
  const owner = shownModel.value!.robots[info.robot];
  return (
    <section class="float selection" aria-label={`Body ${info.name}`}>
      <header>
        <h2>{info.name}</h2>
        <Button icon="fit" label="Look at it" onClick={() => view?.focusBody(body)} />
        <Button icon="close" label="Close" onClick={onClose} />
      </header>
      <dl class="pairs">
        {['x', 'y', 'z'].map((axis, k) => (
          <div key={axis}><dt>{axis}</dt><dd>{formatSignal(at(k))} <i>m</i></dd></div>
        ))}
        <div><dt>heading</dt><dd>{formatSignal((heading * 180) / Math.PI)} <i>°</i></dd></div>
        {owner && <div><dt>robot</dt><dd>{owner.name}</dd></div>}
        {info.piece > 0 && <div><dt>piece of kind</dt><dd>{info.piece}</dd></div>}
      </dl>
      {owner && shownModel.value!.robots.length > 1 && (
        <Button icon="reset" label={`Reset ${owner.name}`} text={`Reset ${owner.name}`} kind="plain" onClick={() => control('reset', undefined, info.robot)} />
      )}
    </section>
  );
}

function Events() {
  const time = moment.value;
  const told = time === null ? events.value : (shownDetails.value?.events ?? []).filter((event) => event.time <= time);
  const recent = told.slice(-4).reverse();
  if (!recent.length) return null;
  return (
    <ol class="float events" aria-label="Events">
      {recent.map((event, i) => (
        <li key={i}>
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
  const gaps = new Map(shownFrame()?.phantoms.map((phantom) => [phantom.id, phantom]));
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

/** #world?race=ID: a kept run that races here from the first. */
function race(): void {
  const id = param('race', 'world').peek();
  if (!id) return;
  send({type: 'phantom', add: id});
  setParams({race: null}, 'world');
}

export function World() {
  useEffect(() => whileConnected(race), []);
  const [view, setView] = useState<View3D | null>(null);
  const [layers, setLayers] = useState(false);
  const layersBox = usePopover<HTMLDivElement>(layers, () => setLayers(false));
  const robots = shownModel.value?.robots ?? [];
  const robot = Math.max(0, robots.findIndex(({name}) => name === robotName.value));
  const place = status.value?.stations[robot]?.place ?? null;
  const options = useMemo(
    () => ({...shownOverlays.value, camera: camera.value, look: look.value, robot, place, dark: dark.value}),
    [shownOverlays.value, camera.value, look.value, robot, place, dark.value],
  );
  const select = (body: number) => setParams({body: body > 0 ? (shownModel.peek()?.bodies[body]?.name ?? null) : null}, 'world');
  const selected = bodyName.value === null ? -1 : (shownModel.value?.bodies.findIndex(({name}) => name === bodyName.value) ?? -1);
  usePopover(selected >= 0, () => select(-1), false);
  useEffect(() => {
    if (view) view.onLook = (to) => setParams({look: to}, 'world');
  }, [view]);
  if (!shownModel.value) return <NoWorld icon="world" title="No world to show" />;
  if (!shownModel.value.bodies.length) {
    return (
      <Empty icon="world" title="Another program recorded this run">
        Its log has no model, so it is not shown in 3D. <a href={addressOf('signals')}>Its signals</a> can be plotted.
      </Empty>
    );
  }
  return (
    <div class="world">
      <WorldCanvas options={options} onView={setView} onPick={select} />
      <div class="float world-tools" ref={layersBox}>
        <Segmented label="Camera" options={CAMERAS} value={camera.value} onChange={(mode) => camera.choose(mode, {look: null})} />
        {robots.length > 1 && (
          <select aria-label="Robot for the camera" value={String(robot)} onChange={(event) => setParams({robot: robots[Number(event.currentTarget.value)]!.name, look: null})}>
            {robots.map(({name}, i) => (
              <option key={name} value={String(i)}>{name}</option>
            ))}
          </select>
        )}
        <Button icon="fit" label="Camera back to its place" onClick={() => (look.peek() ? setParams({look: null}, 'world') : view?.goToCamera())} />
        <div class="zoom">
          <Button icon="plus" label="Nearer" onClick={() => view?.zoom(0.8)} />
          <Button icon="minus" label="Farther" onClick={() => view?.zoom(1.25)} />
        </div>
        <Button icon="layers" label="Overlays" pressed={layers} onClick={() => setLayers(!layers)} />
        {layers && (
          <section class="float overlays" aria-label="Overlays">
            {NAMES.map((name) => (
              <Switch
                key={name}
                label={OVERLAYS[name]}
                checked={shownOverlays.value[name]}
                onChange={(on) => showOverlay(name, on)}
              />
            ))}
            <div class="overlay-quality">
              <span class="field-label">Picture</span>
              <Segmented label="Picture" options={QUALITIES} value={wish.value} onChange={(value) => (wish.value = value)} />
            </div>
          </section>
        )}
      </div>
      {selected >= 0 && <Selection body={selected} view={view} onClose={() => select(-1)} />}
      <Events />
      <Phantoms />
      <Stats view={view} />
    </div>
  );
}
