// field_step.tsx: the field of a scene, and where each robot begins on it.
import {notify} from '../../live/store';
import {quarterOn} from '../../quantity';
import {Button, Field} from '../../ui/controls';
import {useRobot} from './robot_step';
import {placing, scene, schema, setInScene} from './session';
import {Typed} from '../../ui/typed';

/** A length as people write it: to the centimetre. */
export const metres = (value: number) => `${Math.round(100 * value) / 100} m`;

function Arena() {
  const key = schema.value?.keys.find(({file, path}) => file === 'scene' && path === 'arena');
  const now = String(scene.value?.arena ?? '');
  const choices = key?.choices ?? [];
  return (
    <div class="choices" role="radiogroup" aria-label="Field">
      <label class="choice-card">
        <input type="radio" name="arena" checked={now === ''} onChange={() => setInScene(['arena'], null)} />
        <span><b>An empty floor</b></span>
      </label>
      {[...choices, ...(now && !choices.includes(now) ? [now] : [])].map((name) => (
        <label key={name} class="choice-card">
          <input type="radio" name="arena" checked={now === name} onChange={() => setInScene(['arena'], name)} />
          <span><b>{name}</b></span>
        </label>
      ))}
      <label class="choice-other">
        <span class="field-label">Another, by its name or file</span>
        <Typed placeholder="arena/arena.yaml" value={now && !choices.includes(now) ? now : ''} set={(text) => setInScene(['arena'], text)} />
      </label>
    </div>
  );
}

const PLACES = [
  {key: 'x', label: 'x', example: '0 m'},
  {key: 'y', label: 'y', example: '0 m'},
  {key: 'z', label: 'Height above its own', example: '0 m'},
  {key: 'heading', label: 'Heading', example: '0 deg'},
] as const;

export function FieldStep() {
  const {robot, index, chooser} = useRobot();
  const quarter = () => {
    const written = String(robot?.keys.heading ?? '');
    const turned = quarterOn(written, schema.value?.units ?? []);
    if (turned === null) return notify(`heading: '${written}' is no angle; write it as 90 deg`, 'error');
    setInScene(['robots', index, 'heading'], turned);
  };
  return (
    <>
      <Arena />
      {robot && (
        <>
          {chooser}
          <h3 class="build-title">{robot.name} begins at</h3>
          <div class="build-row four">
            {PLACES.map(({key, label, example}) => (
              <Field key={key} label={label}>
                <Typed label={`${label} of ${robot.name}`} placeholder={example} value={String(robot.keys[key] ?? '')} set={(text) => setInScene(['robots', index, key], text)} />
              </Field>
            ))}
          </div>
          <div class="build-buttons">
            <Button icon="flag" label="Place it on the picture" text="Place it on the picture" kind="plain" pressed={placing.value} onClick={() => (placing.value = !placing.value)} />
            <Button icon="reset" label="Turn by 90°" text="Turn by 90°" kind="plain" disabled={!schema.value} onClick={quarter} />
          </div>
          <p class="hint">Lengths are written with their unit: 1.8 m, 6 ft, 30 in. Angles: 90 deg, 1.57 rad.</p>
        </>
      )}
    </>
  );
}
