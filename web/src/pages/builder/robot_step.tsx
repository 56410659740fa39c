// robot_step.tsx: a robot: its model and meshes, its name, whether its base moves, and what its joints may use.
import {useState} from 'preact/hooks';
import {formatValue} from '../../format';
import {notify} from '../../live/store';
import {Button, Field, Segmented} from '../../ui/controls';
import {Icon} from '../../ui/icon';
import {useKeptText} from '../../ui/kept_text';
import {isText} from './draft';
import {arrange, isUrdf, references} from './dropped';
import type {Dropped} from './dropped';
import {DropZone} from './dropzone';
import {draft, openAt, robotIndex, robots, setIn, setInScene, shown, state} from './session';
import type {RobotInScene} from './session';
import {Typed} from '../../ui/typed';
import {read} from './yaml_edit';
import type {Plain} from './yaml_edit';
import {useEffect} from 'preact/hooks';

const MANY_JOINTS = 40;

function Chooser() {
  if (robots.value.length < 2) return null;
  return (
    <Field label="Robot">
      <select value={String(robotIndex.value)} onChange={(event) => (robotIndex.value = Number(event.currentTarget.value))}>
        {robots.value.map(({name}, i) => <option key={i} value={String(i)}>{name}</option>)}
      </select>
    </Field>
  );
}

/** The robot that is worked on, with the choice of another. */
export function useRobot(): {robot: RobotInScene | undefined; index: number; chooser: preact.ComponentChildren} {
  const index = Math.min(robotIndex.value, robots.value.length - 1);
  return {robot: robots.value[index], index, chooser: <Chooser />};
}

/** What a model names and the draft lacks. */
function missingOf(model: string, text: string): string[] {
  const has = state.value?.files.map(({path}) => path) ?? [];
  return arrange([], {path: model, text, has}).missing;
}

function ModelFiles({robot}: {robot: RobotInScene}) {
  const [busy, setBusy] = useState(false);
  const open = draft.value!;
  const {model} = robot;
  useEffect(() => {
    if (model && isText(model)) open.load(model).catch(() => undefined);
  }, [model]);
  const text = open.texts.value.get(model) ?? '';
  const missing = text ? missingOf(model, text) : [];
  const add = async (files: Dropped[]) => {
    setBusy(true);
    try {
      const {files: placed, refused, unused, model: found} = arrange(files, model ? {path: model, text, has: state.value!.files.map(({path}) => path)} : undefined);
      if (refused) throw new Error(refused);
      await open.add(placed);
      if (found && found !== model && robot.file) setIn(robot.file, ['model'], found);
      if (unused.length) notify(`Not needed by the model: ${unused.slice(0, 4).join(', ')}${unused.length > 4 ? ' …' : ''}`);
    } catch (error) {
      notify((error as Error).message, 'error');
    }
    setBusy(false);
  };
  if (!model) {
    return <p class="hint">{robot.file ? `${robot.file} names no model of this draft.` : `${robot.robot} comes with Tether: its model is not part of this draft.`}</p>;
  }
  const meshes = text ? references(text).length : 0;
  const wrong = open.problems.value.some(({file, severity}) => file === model && severity === 'error');
  return (
    <>
      <p class={`model-name${wrong ? ' wrong' : ''}`}>
        <Icon name={wrong ? 'warning' : 'check'} size={16} /> <button type="button" class="link" onClick={() => openAt(model, 1)}>{model}</button>
        {text && <span class="muted">{isUrdf(text) ? 'URDF' : 'MJCF'}{meshes ? `, names ${meshes === 1 ? 'a file' : `${meshes} files`} more` : ''}</span>}
      </p>
      {missing.length > 0 && (
        <div class="missing" role="status">
          <b>{missing.length === 1 ? 'A file is missing' : `${missing.length} files are missing`}</b>
          <ul>{missing.slice(0, 8).map((name) => <li key={name}><code>{name}</code></li>)}</ul>
          {missing.length > 8 && <span class="hint">… and {missing.length - 8} more</span>}
        </div>
      )}
      <DropZone label="More files of the model" small busy={busy} onFiles={add}>
        {missing.length ? 'Drop them here; each goes where the model looks for it.' : 'Drop a newer model, or its meshes, to replace them.'}
      </DropZone>
    </>
  );
}

function Base({robot, index}: {robot: RobotInScene; index: number}) {
  const text = draft.value!.texts.value.get(robot.model) ?? '';
  if (!robot.model || !isUrdf(text)) return null;
  const inFile = robot.file ? read(draft.value!.texts.value.get(robot.file) ?? '')?.floating : undefined;
  const said = robot.keys.floating ?? inFile;
  const value = said === true || said === 'on' ? 'on' : said === false || said === 'off' ? 'off' : '';
  return (
    <div class="field">
      <span class="field-label">Base</span>
      <Segmented
        label="Base"
        options={[{value: 'on', text: 'Moves freely', title: 'A vehicle, a walker'}, {value: 'off', text: 'Fixed to the world', title: 'An arm on a table'}]}
        value={value as 'on' | 'off'}
        onChange={(choice) => (robot.file && robot.keys.floating === undefined ? setIn(robot.file, ['floating'], choice) : setInScene(['robots', index, 'floating'], choice))}
      />
      {value === '' && <span class="hint">Not said: a URDF's base is fixed then.</span>}
    </div>
  );
}

/** The joints that a robot's file gives limits. */
function jointsIn(file: string): {name: string; [key: string]: Plain}[] {
  const list = read(draft.value!.texts.value.get(file) ?? '')?.joints;
  return (Array.isArray(list) ? list : []).filter((one): one is {name: string} => typeof one === 'object' && one !== null && !Array.isArray(one) && typeof one.name === 'string');
}

function setLimit(file: string, joint: string, key: string, value: string): void {
  const listed = jointsIn(file);
  const at = listed.findIndex(({name}) => name === joint);
  if (at < 0) {
    if (value) setIn(file, ['joints', listed.length], {name: joint, [key]: value});
    return;
  }
  const others = Object.keys(listed[at]!).filter((one) => one !== 'name' && one !== key);
  if (!value && !others.length) setIn(file, listed.length > 1 ? ['joints', at] : ['joints'], null);
  else setIn(file, ['joints', at, key], value);
}

function Joints({robot, index}: {robot: RobotInScene; index: number}) {
  const prefix = `${robot.name}/`;
  const joints = (shown.value?.joints ?? [])
    .filter((joint) => joint.robot === index && (joint.kind === 'hinge' || joint.kind === 'slide'))
    .map((joint) => ({...joint, name: joint.name.startsWith(prefix) ? joint.name.slice(prefix.length) : joint.name}));
  if (!joints.length) return null;
  const limits = robot.file ? jointsIn(robot.file) : [];
  const range = (value: number | null, kind: string) => (value === null ? '–' : kind === 'hinge' ? `${formatValue((value * 180) / Math.PI, 3)}°` : `${formatValue(value, 3)} m`);
  return (
    <section class="joints" aria-label="Joints">
      <h3>Joints</h3>
      <div class="scroll">
        <table>
          <thead><tr><th>Joint</th><th>Range</th><th>Greatest torque</th><th>Greatest speed</th></tr></thead>
          <tbody>
            {joints.slice(0, MANY_JOINTS).map(({name, kind, lower, upper}) => {
              const limit = limits.find((one) => one.name === name);
              const cell = (key: string, example: string, what: string) => (
                <td>
                  <Typed label={`${what} of ${name}`} placeholder={example} disabled={!robot.file} value={String(limit?.[key] ?? '')} set={(text) => setLimit(robot.file, name, key, text)} />
                </td>
              );
              return (
                <tr key={name}>
                  <td title={kind === 'hinge' ? 'turns' : 'slides'}>{name}</td>
                  <td class="muted">{lower === null && upper === null ? 'endless' : `${range(lower, kind)} … ${range(upper, kind)}`}</td>
                  {cell('max_torque', kind === 'hinge' ? 'N·m' : 'N', 'Greatest torque')}
                  {cell('max_velocity', kind === 'hinge' ? 'rad/s' : 'm/s', 'Greatest speed')}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {joints.length > MANY_JOINTS && <p class="hint">{joints.length - MANY_JOINTS} more: in the file, under <code>joints</code>.</p>}
      {robot.file && <p class="hint">Motors, encoders and other sensors are written in <button type="button" class="link" onClick={() => openAt(robot.file, 1)}>{robot.file}</button>; the editor completes them.</p>}
    </section>
  );
}

function AddRobot() {
  const [name, setName] = useKeptText(`robot-for-${draft.value!.id}`);
  const known = [...new Set(['frc2011', 'sharp', 'xrp', 'gripper'])];
  const add = () => {
    setInScene(robots.value.length ? ['robots', robots.value.length] : ['robots'], robots.value.length ? {robot: name!} : [{robot: name!}]);
    robotIndex.value = robots.value.length;
    setName(null);
  };
  return (
    <div class="add-robot">
      <Field label="Add a robot that there is">
        <input list="build-robots" placeholder="frc2011" value={name ?? ''} onInput={(event) => setName(event.currentTarget.value.trim())} />
      </Field>
      <datalist id="build-robots">{known.map((one) => <option key={one} value={one} />)}</datalist>
      <Button icon="plus" label="Add the robot" text="Add" kind="plain" disabled={!name} onClick={add} />
    </div>
  );
}

export function RobotStep() {
  const {robot, index, chooser} = useRobot();
  return (
    <>
      {chooser}
      {robot ? (
        <>
          <ModelFiles key={robot.model} robot={robot} />
          <div class="build-row">
            <Field label="Name">
              <Typed value={String(robot.keys.name ?? '')} placeholder={robot.name} set={(text) => setInScene(['robots', index, 'name'], text)} />
            </Field>
            <Field label="Alliance">
              <select value={String(robot.keys.alliance ?? '')} onChange={(event) => setInScene(['robots', index, 'alliance'], event.currentTarget.value)}>
                <option value="">none</option>
                <option value="red">red</option>
                <option value="blue">blue</option>
              </select>
            </Field>
          </div>
          <Base robot={robot} index={index} />
          <Joints robot={robot} index={index} />
        </>
      ) : <p class="build-lead">The scene has no robot yet.</p>}
      <AddRobot />
    </>
  );
}
