// main.tsx: where the pages begin.
import {render} from 'preact';
import 'uplot/dist/uPlot.min.css';
import './styles/base.css';
import './styles/frame.css';
import './styles/timeline.css';
import './styles/controls.css';
import './styles/world.css';
import './styles/signals.css';
import './styles/pages.css';
import './styles/runs.css';
import './styles/sweeps.css';
import './styles/builder.css';
import './styles/touch.css';
import './styles/short.css';
import {App} from './app';
import './pages/signals/kept'; // gathers the history of what is plotted, whichever page is shown
import {start} from './live/connection';
import {page, TITLES} from './route';
import './theme';
import {listen} from './ui/keys';
import {effect} from '@preact/signals';
import {hello} from './live/store';

effect(() => {
  document.title = `${TITLES[page.value]} · ${hello.value?.scene ?? 'Tether'}`;
});
start(); // first: the program answers while the page is made
render(<App />, document.getElementById('app')!);
listen();
