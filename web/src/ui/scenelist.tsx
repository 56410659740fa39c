// scenelist.tsx: what the menu of scenes shows: a picture of each; one runs at a click, or opens to be changed.
import {useState} from 'preact/hooks';
import {useFetched} from '../http';
import {runScene, scenes as sceneList} from '../live/scenes';
import type {Scene} from '../live/scenes';
import {offers} from '../live/offers';
import {hello, live, notify} from '../live/store';
import {may} from '../role';
import {addressOf} from '../route';
import {Denied} from './allowed';
import {Dialog} from './dialog';
import {Show} from './fetched';
import {Icon} from './icon';

function matches({name, title, description}: Scene, search: string): boolean {
  const text = `${name} ${title} ${description}`.toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function Card({scene, busy, choose, onClose}: {scene: Scene; busy: boolean; choose: () => void; onClose: () => void}) {
  const {name, title, description, picture, own, current, refused} = scene;
  return (
    <li class={`scene-card-frame${current ? ' current' : ''}`}>
      <button type="button" class="scene-card" disabled={busy || !live.value || !may('drive')} title={current ? 'It runs now; a click begins it anew' : `Run ${title}`} onClick={choose}>
        <img src={picture} alt="" loading="lazy" width={176} height={110} />
        <b>{title}</b>
        <small>{description}</small>
      </button>
      <span class="scene-tags">
        {current && <i class="tag good">runs now</i>}
        {own && <i class="tag">yours</i>}
      </span>
      {offers('/api/drafts') && <a class="button square" href={addressOf('build', {scene: name, draft: null, step: null, file: null})} aria-label={`Change ${title}`} title={`Change ${title}: its robots, field, wires and files`} onClick={onClose}>
        <Icon name="edit" />
      </a>}
      {refused && <p class="inline-error">{refused}</p>}
    </li>
  );
}

/** On a phone a field that has the focus brings up the keyboard, which covers the list. */
const hasKeys = matchMedia('(hover: hover)').matches;

export function SceneList({onClose}: {onClose: () => void}) {
  const scenes = useFetched('api/scenes', sceneList);
  const [search, setSearch] = useState('');
  const [busy, setBusy] = useState(false);
  const choose = async ({name, title = name}: Scene) => {
    setBusy(true);
    try {
      await runScene(name, title);
      onClose();
    } catch (error) {
      notify(`${title}: ${(error as Error).message}`, 'error');
      scenes.again();
      setBusy(false);
    }
  };
  return (
    <Dialog title="Scenes" class="scene-menu" onClose={onClose}>
      <div class="scene-menu-head">
        <input type="search" autofocus={hasKeys} aria-label="Search scenes" placeholder="Search scenes" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        {offers('/api/drafts') && <a class="button primary" href={addressOf('build', {scene: null, draft: null, step: null, file: null})} onClick={onClose}>
          <Icon name="plus" />
          <span>New robot or scene</span>
        </a>}
      </div>
      <Denied needs="drive" />
      <Show from={scenes} what="scenes" icon="world" missing="It shows a run that was kept, or makes no world.">
        {(list) => {
          const found = list.filter((scene) => matches(scene, search));
          return found.length ? (
            <ul class="scene-cards">
              {found.map((scene) => <Card key={scene.name} scene={scene} busy={busy} choose={() => void choose(scene)} onClose={onClose} />)}
            </ul>
          ) : <p class="hint">No scene is called so.</p>;
        }}
      </Show>
      {hello.value?.description && !search && <p class="hint">Now: {hello.value.description}</p>}
    </Dialog>
  );
}
