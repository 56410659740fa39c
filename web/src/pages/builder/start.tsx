// start.tsx: how a robot or a scene begins: from a model, from a scene that is there, or from a draft that was left.
import {useEffect, useState} from 'preact/hooks';
import {anything} from '../../check';
import {formatDate} from '../../format';
import {request, useFetched} from '../../http';
import {scenes as sceneList} from '../../live/scenes';
import type {Scene} from '../../live/scenes';
import {notify} from '../../live/store';
import {may} from '../../role';
import {go, setParams} from '../../route';
import {Button, Field, Panel} from '../../ui/controls';
import {Question} from '../../ui/dialog';
import {Icon} from '../../ui/icon';
import {Show} from '../../ui/fetched';
import {useKeptText} from '../../ui/kept_text';
import {Draft, makeDraft} from './draft';
import {arrange} from './dropped';
import type {Dropped, Placed} from './dropped';
import {DropZone} from './dropzone';
import {forgetDraft, showDraft} from './session';
import {drafts as draftList} from './types';
import type {DraftEntry} from './types';
import {set} from './yaml_edit';

/** A name as scenes and robots have them. */
function nameFrom(text: string): string {
  return text.replace(/^.*\//, '').replace(/\.\w+$/, '').replace(/[^\w-]+/g, '_').replace(/^_+|_+$/g, '').slice(0, 40) || 'robot';
}

/** A draft of a scene with one robot, whose model and meshes these are. Returns its id, or why there is none. */
async function makeRobot(files: Dropped[], wished: string): Promise<string> {
  const {model, files: placed, refused} = arrange(files);
  if (!model || refused) throw new Error(refused ?? 'There is no model among these files.');
  const name = wished || nameFrom(model);
  const draft = new Draft(await makeDraft({name}));
  try {
    await fill(draft, name, model, placed);
  } catch (error) {
    draft.close();
    forgetDraft(draft.id);
    await request('DELETE', draft.url).catch(() => undefined); // half a draft is none
    throw error;
  }
  return draft.id;
}

async function fill(draft: Draft, name: string, model: string, placed: Placed[]): Promise<void> {
  await draft.open();
  const robot = `# ${name}: its model, and what is added to it.\ndescription: ${name}\nmodel: ${model}\n`;
  await draft.add([...placed, {path: 'robot.yaml', bytes: new Blob([robot])}]);
  draft.write(draft.main.value, set(draft.scene.value, ['robots'], [{robot: 'robot.yaml', name}]));
  await draft.settle();
}

function NewRobot() {
  const [name, setName] = useKeptText('new-robot');
  const [busy, setBusy] = useState(false);
  const [why, setWhy] = useState('');
  const begin = async (files: Dropped[]) => {
    setBusy(true);
    setWhy('');
    try {
      const wished = name?.trim() ?? '';
      const made = await makeRobot(files, wished && nameFrom(wished));
      setName(null);
      showDraft(made, 'robot');
    } catch (error) {
      setWhy((error as Error).message);
      setBusy(false);
    }
  };
  return (
    <Panel title="New robot" class="start-robot">
      <div class="panel-body">
        <Field label="Name" hint="Empty: as its model's file is called.">
          <input maxLength={40} value={name ?? ''} placeholder="my_robot" onInput={(event) => setName(event.currentTarget.value)} />
        </Field>
        <DropZone label="Model and meshes" busy={busy} onFiles={begin}>
          <b>Drop a URDF or MJCF model with its meshes</b>
          <span>Files or a whole folder. Meshes: STL, OBJ; each is put where the model looks for it.</span>
        </DropZone>
        {why && <p class="inline-error" role="alert">{why}</p>}
      </div>
    </Panel>
  );
}

/** Has the program delete it, or says why it doesn't. */
async function remove(url: string): Promise<boolean> {
  try {
    await request('DELETE', url, undefined, anything);
    return true;
  } catch (error) {
    notify((error as Error).message, 'error');
    return false;
  }
}

function OpenScene() {
  const scenes = useFetched('api/scenes', sceneList);
  const [asked, ask] = useState<Scene | null>(null);
  const removeScene = async ({name}: Scene) => {
    ask(null);
    await remove(`api/scenes/${encodeURIComponent(name)}`);
    scenes.again();
  };
  return (
    <Panel title="Open a scene" class="start-scenes">
      <Show from={scenes} what="scenes" icon="world" missing="">
        {(list) => (
          <ul class="start-list scroll">
            {list.map((scene) => (
              <li key={scene.name} class="scene-card-frame">
                <button type="button" class="scene-card" onClick={() => go('build', {scene: scene.name})}>
                  <img src={scene.picture} alt="" loading="lazy" width={96} height={60} />
                  <span><b>{scene.title}</b>{scene.own && <i class="tag">yours</i>}<small>{scene.description}</small></span>
                </button>
                {scene.saved && <Button icon="trash" label={scene.current ? `${scene.title} runs now: choose another scene first` : `Delete the scene ${scene.title}`} disabled={scene.current || !may('drive')} onClick={() => ask(scene)} />}
              </li>
            ))}
          </ul>
        )}
      </Show>
      {asked && (
        <Question title="Delete this scene?" yes="Delete it" no="Keep it" onNo={() => ask(null)} onYes={() => void removeScene(asked)}>
          {asked.title}, with all files in <code>{asked.file.replace(/[^/]*$/, '')}</code>. It can’t be brought back.
        </Question>
      )}
    </Panel>
  );
}

function GoOn() {
  const drafts = useFetched('api/drafts', draftList);
  const [asked, ask] = useState<DraftEntry | null>(null);
  const removeDraft = async ({draft}: DraftEntry) => {
    ask(null);
    if (await remove(`api/drafts/${encodeURIComponent(draft)}`)) forgetDraft(draft);
    drafts.again();
  };
  const begun = drafts.value?.filter(({untouched}) => !untouched); // of the others the scene is there
  if (!begun?.length) return null;
  return (
    <Panel title="Go on with a draft" class="start-drafts">
      <ul class="start-list scroll">
        {begun.map((entry) => (
          <li key={entry.draft} class="draft-row">
            <button type="button" class="link" onClick={() => showDraft(entry.draft)}>{entry.name}</button>
            <span class="muted">{formatDate(entry.changed)}</span>
            <Button icon="trash" label={`Delete the draft ${entry.name}`} disabled={!may('drive')} onClick={() => ask(entry)} />
          </li>
        ))}
      </ul>
      {asked && (
        <Question title="Delete this draft?" yes="Delete it" no="Keep it" onNo={() => ask(null)} onYes={() => void removeDraft(asked)}>
          {asked.name}, changed {formatDate(asked.changed)}, with all its files. It can’t be brought back.
        </Question>
      )}
    </Panel>
  );
}

function NewScene() {
  const [busy, setBusy] = useState(false);
  const begin = async () => {
    setBusy(true);
    try {
      showDraft(await makeDraft({name: 'scene'}), 'field');
    } catch (error) {
      notify((error as Error).message, 'error');
      setBusy(false);
    }
  };
  return (
    <p class="start-empty">
      <Icon name="plus" size={16} /> Or begin with <Button label="An empty scene" text="an empty scene" kind="plain" disabled={busy} onClick={() => void begin()} />
    </p>
  );
}

/** Opens a scene that is there as a draft, which takes its place in the history: the way back leads to where it was chosen. */
export function Opening({scene}: {scene: string}) {
  const [why, setWhy] = useState('');
  useEffect(() => {
    let gone = false;
    makeDraft({scene}).then(
      (draft) => gone || setParams({draft, scene: null, step: null}),
      (error: unknown) => gone || setWhy((error as Error).message),
    );
    return () => void (gone = true);
  }, [scene]);
  if (!why) return <div class="loading" role="status"><i />Opening {scene}…</div>;
  return (
    <div class="build-trouble">
      <p class="inline-error" role="alert">{scene} could not be opened: {why}</p>
      <Button label="Back" text="Back" kind="plain" onClick={() => setParams({scene: null})} />
    </div>
  );
}

export function Start() {
  return (
    <div class="start">
      <div class="start-side">
        <NewRobot />
        <GoOn />
        <NewScene />
      </div>
      <OpenScene />
    </div>
  );
}
