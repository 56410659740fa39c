// Plots in the address: what stands there is what is shown, and an empty plot waits beside it.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

Object.assign(globalThis, {
  location: {hash: '#signals', href: 'http://tether.test/'}, history: {replaceState() {}, pushState() {}}, addEventListener() {}, document: {addEventListener() {}, hidden: false},
  requestAnimationFrame: () => 0, cancelAnimationFrame() {}, localStorage: {getItem: () => null, setItem() {}},
});
const {kept, plots, route} = await load({kept: 'pages/signals/kept.ts', plots: 'pages/signals/plots.ts', route: 'route.ts'});
const shown = () => plots.plots.value.map(({id, traces}) => [id, traces.map(({name}) => name)]);

test('an empty plot stays while others change', () => {
  kept.layoutNow(); // the module is of use
  plots.plots.value = [];
  plots.addPlot(['a']);
  plots.addPlot();
  plots.addTrace(1, 'b');
  assert.deepEqual([shown(), plots.active.value], [[[1, ['a', 'b']], [2, []]], 2]);
  assert.deepEqual(route.params('plot', 'signals').value, ['a;b']);
});

test('an address that somebody opens is what is shown', () => {
  route.setParams({plot: ['c']}, 'signals');
  assert.deepEqual(shown(), [[1, ['c']]]);
});
