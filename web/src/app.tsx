// app.tsx: the frame around all pages: rail, top bar, banner, and the page itself.
import type {ComponentType} from 'preact';
import {effect} from '@preact/signals';
import {offers, pages} from './live/offers';
import {hello} from './live/store';
import {addressOf, page, TITLES} from './route';
import type {Page} from './route';
import {Banner, Notices} from './ui/banner';
import {Dialog} from './ui/dialog';
import {Icon} from './ui/icon';
import {helpShown, SHORTCUTS} from './ui/keys';
import {TimeLine} from './ui/timeline';
import {TopBar} from './ui/topbar';
import {lazy} from './ui/lazy';
import {World} from './pages/world/world';

/** The world comes with the first script; the other pages, in one piece, when the first of them is opened. */
const others = () => import('./pages/others');
const VIEWS: Record<Page, ComponentType> = {
  world: World,
  signals: lazy(() => others().then(({Signals}) => Signals)),
  wires: lazy(() => others().then(({Wires}) => Wires)),
  drive: lazy(() => others().then(({Drive}) => Drive)),
  telemetry: lazy(() => others().then(({Telemetry}) => Telemetry)),
  runs: lazy(() => others().then(({Runs}) => Runs)),
  sweeps: lazy(() => import('./pages/sweeps/sweeps').then(({Sweeps}) => Sweeps)),
  trials: lazy(() => others().then(({Trials}) => Trials)),
  build: lazy(() => import('./pages/builder/builder').then(({Build}) => Build)),
};

/** Where the address leads to a page that this program has not, its first one is opened. */
effect(() => {
  const [first] = pages.value;
  if (first && !pages.value.includes(page.value)) location.replace(addressOf(first));
});

function Rail() {
  return (
    <nav class="rail" aria-label="Pages">
      {pages.value.map((name) => (
        <a key={name} href={addressOf(name)} aria-current={page.value === name ? 'page' : undefined}>
          <Icon name={name} size={20} />
          <span>{TITLES[name]}</span>
        </a>
      ))}
    </nav>
  );
}

function Help() {
  return (
    <Dialog title="Shortcuts" onClose={() => (helpShown.value = false)}>
      <dl class="shortcuts">
        {SHORTCUTS.map(({keys, text}) => (
          <div key={keys}>
            <dt>
              {(keys === '+' ? [keys] : keys.split('+')).map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p class="muted">
        In the tree of signals: arrows move, Enter plots. In the world: drag turns, right-drag or two fingers move, the wheel zooms.
      </p>
      <p class="muted">
        Tether {hello.value?.version} · {offers('/openapi.json') && <><a href="openapi.json">HTTP interface</a> · </>}<a href="licenses.txt">licences</a>
      </p>
    </Dialog>
  );
}

export function App() {
  const View = VIEWS[page.value];
  return (
    <>
      <a class="skip" href={addressOf(page.value)} onClick={() => document.querySelector<HTMLElement>('main')?.focus()}>
        To the page
      </a>
      <TopBar />
      <Rail />
      <main tabIndex={-1} aria-label={TITLES[page.value]}>
        <Banner />
        <div class="view">
          <View key={page.value} />
        </div>
        <TimeLine />
      </main>
      <Notices />
      {helpShown.value && <Help />}
    </>
  );
}
