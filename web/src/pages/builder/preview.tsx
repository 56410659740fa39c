// preview.tsx: the scene of the draft as it begins, in three dimensions; a click may place a robot.
import {useEffect, useRef, useState} from 'preact/hooks';
import {dark} from '../../theme';
import {Button, Empty} from '../../ui/controls';
import {isYaml} from './draft';
import {metres} from './field_step';
import type {Preview as View} from './preview3d';
import {draft, placing, robotIndex, setInScene, shown, state} from './session';
import {batch} from '@preact/signals';

const load = () => import('./preview3d');

export function Preview() {
  const host = useRef<HTMLDivElement>(null);
  const seen = useRef('');
  const [view, setView] = useState<View | null>(null);
  const [failure, setFailure] = useState('');
  useEffect(() => {
    let made: View | null = null;
    let gone = false;
    const onPlace = (x: number, y: number) => {
      if (!placing.peek()) return;
      const robot = robotIndex.peek();
      batch(() => {
        setInScene(['robots', robot, 'x'], metres(x));
        setInScene(['robots', robot, 'y'], metres(y));
        placing.value = false;
      });
    };
    load().then(
      ({Preview: Class}) => {
        if (gone || !host.current) return;
        try {
          setView((made = new Class(host.current, {onPlace})));
        } catch (error) {
          setFailure((error as Error).message);
        }
      },
      () => gone || setFailure('the picture could not be loaded'),
    );
    return () => {
      gone = true;
      made?.dispose();
    };
  }, []);
  const model = shown.value;
  useEffect(() => {
    if (!view || !model) return;
    // What is only in the scene's file, as its wires, changes no picture, and no mesh.
    const meshes = `${draft.value!.id} ${JSON.stringify(state.value!.files.filter(({path}) => !isYaml(path)))}`;
    const look = JSON.stringify([meshes, model.poses, model.shapes, model.materials, model.lines]);
    if (look !== seen.current) view.show(model, model.poses, draft.value!.url, meshes);
    seen.current = look;
  }, [view, model]);
  useEffect(() => view?.setDark(dark.value), [view, dark.value]);
  const trouble = draft.value!.modelTrouble.value;
  return (
    <section class="preview" aria-label="Preview">
      <div ref={host} class={`canvas${placing.value ? ' placing' : ''}`} role="img" aria-label="The scene as it begins">
        {failure && <Empty icon="warning" title="No picture">This browser cannot draw in three dimensions. ({failure})</Empty>}
        {!failure && !model && !trouble && <div class="loading" role="status"><i />Building the model…</div>}
        {!failure && !model && trouble && <Empty icon="warning" title="Nothing to show yet">{trouble}</Empty>}
      </div>
      {!failure && model && (
        <div class="float preview-tools">
          <Button icon="fit" label="See all of it" onClick={() => view?.look('all')} />
          <Button icon="layers" label="From above" onClick={() => view?.look('top')} />
          {model.robots.length > 0 && <Button icon="search" label="See the robot from near" onClick={() => view?.look(Math.min(robotIndex.value, model.robots.length - 1))} />}
        </div>
      )}
      {model && trouble && <p class="float preview-trouble" role="status">The picture is of the last scene without an error.</p>}
      {placing.value && <p class="float preview-hint" role="status">Click on the floor where the robot begins.</p>}
    </section>
  );
}
