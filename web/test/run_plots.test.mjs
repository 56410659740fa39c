// Signals over a whole run: each line has the colour that the legend gives its name.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {loadHooks, until} from './hooks.mjs';

Object.assign(globalThis, {
  location: {hash: '#runs?signals=a&signals=b&signals=c', href: 'http://tether.test/'}, history: {replaceState() {}, pushState() {}}, addEventListener() {},
  document: {addEventListener() {}, hidden: false, documentElement: {dataset: {}}}, matchMedia: () => ({matches: false, addEventListener() {}}),
  devicePixelRatio: 1, getComputedStyle: () => ({getPropertyValue: (name) => name}), localStorage: {getItem: () => null, setItem() {}},
});
const {plots, route, run} = await loadHooks({plots: 'pages/runs/run_plots.tsx', route: 'route.ts'});

/** Of what is drawn, the first that `holds`. */
function first(node, holds) {
  if (Array.isArray(node)) return node.map((each) => first(each, holds)).find(Boolean);
  if (!node?.props) return undefined;
  return holds(node) ? node : first(node.props.children, holds);
}

const VALUES = {a: 1, b: 2, c: 3};
const detail = {id: 'r', duration: 10, recording: false, signals: Object.keys(VALUES).map((name) => ({name, unit: '1'}))};

test('while an answer is on its way no signal is drawn in the colour of another', async () => {
  const waiting = [];
  globalThis.fetch = (url) => new Promise((resolve) => waiting.push(() => {
    const names = new URL(url, 'http://tether.test/').searchParams.getAll('name');
    resolve(new Response(JSON.stringify({time: [0, 1], values: names.map((name) => [VALUES[name], VALUES[name]])})));
  }));
  const answer = async () => {
    await until(() => waiting.length);
    waiting.shift()();
  };
  const shown = run(plots.RunPlots, {run: detail});
  const lines = () => Object.fromEntries((first(shown.now, ({props}) => props.lines)?.props.lines ?? []).map(({values, colour}) => [values[0], colour]));
  await answer();
  await until(() => lines()[3]);
  assert.deepEqual(lines(), {1: '--trace-1', 2: '--trace-2', 3: '--trace-3'});
  route.setParams({signals: ['b', 'c']}, 'runs');
  await until(() => waiting.length);
  assert.deepEqual(lines(), {2: '--trace-1', 3: '--trace-2'});
  await answer();
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.deepEqual(lines(), {2: '--trace-1', 3: '--trace-2'});
  shown.end();
});
