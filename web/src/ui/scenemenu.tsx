// scenemenu.tsx: the scene's name, on every page: a menu of all scenes, with pictures.
import {signal} from '@preact/signals';
import {offers} from '../live/offers';
import {hello} from '../live/store';
import {Icon} from './icon';
import {lazy} from './lazy';

const open = signal(false);
const close = () => (open.value = false);

const List = lazy(() => import('./scenelist').then(({SceneList}) => () => <SceneList onClose={close} />));

export function SceneMenu() {
  const name = hello.value?.scene ?? 'Tether';
  if (!offers('/api/scenes')) return <h1 title={hello.value?.description}>{name}</h1>;
  return (
    <>
      <h1>
        <button type="button" class="scene-name" aria-haspopup="dialog" aria-expanded={open.value} title={hello.value?.description || 'Scenes'} onClick={() => (open.value = true)}>
          <span>{name}</span>
          <Icon name="chevron" size={14} />
        </button>
      </h1>
      {open.value && <List />}
    </>
  );
}
