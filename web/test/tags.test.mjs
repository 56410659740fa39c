// Tags of a run: several that are typed while the first is on its way.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {loadHooks, until} from './hooks.mjs';

const {tags, run} = await loadHooks({tags: 'pages/runs/tags.ts'});
const add = (tag) => (all) => (all.includes(tag) ? all : [...all, tag]);

test('each change is to what the one before left', async () => {
  const asked = [];
  const save = (wanted) => new Promise((resolve, reject) => asked.push({wanted, answer: () => resolve(wanted), refuse: () => reject(new Error('away'))}));
  const call = run(tags.useTags, ['a'], save);
  const first = call.now(add('b'));
  call(['a'], save);
  const second = call.now(add('c')), third = call.now(add('d')).catch((error) => error);
  call.now(add('a'));
  await until(() => asked.length === 1);
  assert.deepEqual(asked[0].wanted, ['a', 'b']);
  asked[0].answer();
  await first;
  await until(() => asked.length === 2);
  assert.deepEqual(asked[1].wanted, ['a', 'b', 'c']);
  asked[1].answer();
  await second;
  await until(() => asked.length === 3);
  asked[2].refuse();
  assert.match(String(await third), /away/);
  const fourth = call.now((all) => all.filter((tag) => tag !== 'a'));
  await until(() => asked.length === 4);
  assert.deepEqual(asked[3].wanted, ['b', 'c'], 'what was refused is not there, and what is there already is not asked for');
  asked[3].answer();
  await fourth;
  call(['z'], save); // somebody else changed them
  await new Promise((resolve) => setTimeout(resolve, 100));
  call.now(add('y'));
  await until(() => asked.length === 5);
  assert.deepEqual(asked[4].wanted, ['z', 'y']);
});
