// What is asked of runs that are compared: of one that is over once, of one that is recorded on and on, and once at its end.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {loadHooks, until} from './hooks.mjs';

Object.assign(globalThis, {location: {hash: '', href: 'http://tether.test/'}, history: {replaceState() {}, pushState() {}}, addEventListener() {}, localStorage: {getItem: () => null, setItem() {}}});
const {answers, run} = await loadHooks({answers: 'pages/runs/answers.ts'});

test('a run that is recorded is asked for on, and once more when it is over', async () => {
  const asked = {over: 0, grows: 0};
  globalThis.fetch = async (url) => new Response(JSON.stringify(++asked[url]));
  const of = (recording) => [{url: 'over', lasts: true}, {url: 'grows', lasts: !recording}];
  const check = (value) => value;
  const shown = run(answers.useAll, of(true), check);
  const values = () => shown.now.map(({value}) => value);
  await until(() => values()[1] === 1);
  await new Promise((resolve) => setTimeout(resolve, 2200));
  assert.deepEqual(values(), [1, 2]);
  shown(of(false), check);
  await until(() => values()[1] === 3);
  await new Promise((resolve) => setTimeout(resolve, 2200));
  assert.deepEqual([values(), asked], [[1, 3], {over: 1, grows: 3}]);
});
