// A draft: what is written reaches the program, the newest last.
import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';
import {load} from './load.mjs';

const {Draft} = await load('pages/builder/draft.ts');
const state = {draft: 'd', name: '', revision: 1, main: 'a.yaml', files: [], runs: false, problems: [], robots: [], wires: [], signals: [], commands: []};
let has = new Map(); // files that the program has
let before = () => {}; // before it answers
let keptAlive = 0;

globalThis.fetch = async (url, {method = 'GET', body, keepalive = false} = {}) => {
  if (method === 'GET') return new Response(JSON.stringify(state));
  if (keepalive) keptAlive++;
  has.set(decodeURIComponent(url.split('/files/')[1]), await new Response(body).text());
  before();
  return new Response(JSON.stringify({revision: 2}));
};

beforeEach(() => {
  has = new Map();
  before = () => {};
  keptAlive = 0;
});

const file = (text) => [{path: 'a.yaml', bytes: new Blob([text])}];

test('a file that is brought takes the place of what was written there before', async () => {
  const draft = new Draft('d');
  draft.write('a.yaml', 'typed');
  await draft.add(file('brought'));
  await draft.settle();
  assert.deepEqual([has.get('a.yaml'), draft.texts.value.get('a.yaml')], ['brought', 'brought']);
});

test('what is written while a file is brought comes behind it', async () => {
  const draft = new Draft('d');
  before = () => {
    before = () => {};
    draft.write('a.yaml', 'typed on');
  };
  await draft.add(file('brought'));
  await draft.settle();
  assert.deepEqual([has.get('a.yaml'), draft.texts.value.get('a.yaml')], ['typed on', 'typed on']);
});

test('who leaves the page sends what was not sent yet', async () => {
  const draft = new Draft('d');
  draft.write('a.yaml', 'typed');
  draft.leave();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([has.get('a.yaml'), keptAlive], ['typed', 1]);
  await draft.settle();
});
