// The address of what is seen: what it says, what stays of it, and when it is written.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const listeners = {};
const entries = [];
globalThis.addEventListener = (name, act) => (listeners[name] = act);
globalThis.location = {href: 'http://127.0.0.1:8080/#signals?plot=a&run=1f&t=12.5', hash: '#signals?plot=a&run=1f&t=12.5'};
const write = (hash) => {
  if (!hash.startsWith('#')) return (location.href = hash);
  location.hash = hash;
  return (location.href = `${location.href.split('#')[0]}${hash}`);
};
globalThis.history = {state: null, replaceState: (_state, _title, hash) => write(hash), pushState: (_state, _title, hash) => (entries.push(location.hash), write(hash))};
const {addressOf, forgetToken, format, go, page, param, params, parse, setParams, shareable} = await load('route');

test('what concerns all pages stays, what is of a page is found again there', () => {
  assert.deepEqual([page.value, param('plot').value, param('run').value, param('t').value], ['signals', 'a', '1f', '12.5']);
  assert.equal(addressOf('world', {camera: 'follow'}), '#world?camera=follow&run=1f&t=12.5');
  go('world', {camera: 'follow'});
  assert.deepEqual([page.value, param('camera').value, param('plot').value, param('plot', 'signals').value], ['world', 'follow', null, 'a']);
  assert.deepEqual(entries, ['#signals?plot=a&run=1f&t=12.5']);
  setParams({t: null, run: '2f'});
  assert.equal(addressOf('signals'), '#signals?plot=a&run=2f');
});

test('many changes are written as one, and before the address is given to somebody', () => {
  let count = 0;
  const {replaceState} = history;
  history.replaceState = (...all) => (count++, replaceState(...all));
  for (let i = 0; i < 100; i++) setParams({look: `${i},0`});
  assert.equal(count, 0);
  assert.equal(shareable({names: 'off'}), 'http://127.0.0.1:8080/#world?camera=follow&look=99,0&names=off&run=2f');
  assert.equal(count, 1);
  assert.equal(param('names').value, null, 'the page goes on as it was');
});

test('a token is given to nobody, and leaves the address once the browser has it as a cookie', () => {
  const [before, hash] = location.href.split('#');
  location.href = `${before}?token=secret&x=1#${hash}`;
  assert.equal(shareable(), `${before}?x=1#${hash}`);
  forgetToken();
  assert.equal(location.href, `${before}?x=1#${hash}`);
  location.href = `${before}?token=secret#${hash}`;
  forgetToken();
  assert.equal(location.href, `${before}#${hash}`);
});

test('an address that is followed is what counts', () => {
  location.hash = '#runs?runs=a,b&note=x&note=y';
  listeners.hashchange();
  assert.deepEqual([page.value, param('runs').value, params('note').value, param('run').value], ['runs', 'a,b', ['x', 'y'], null]);
  assert.equal(param('camera', 'world').value, 'follow', 'of a page that was left');
});

test('a link that was followed is not written over by what was still to be written', async () => {
  setParams({runs: 'c'});
  location.hash = '#wires?t=38.23'; // the browser tells of it in a task of its own
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(location.hash, '#wires?t=38.23');
  listeners.hashchange();
  assert.deepEqual([page.value, param('t').value, param('runs', 'runs').value], ['wires', '38.23', 'c']);
});

test('letters of all kinds survive, and what nobody can read opens the first page', () => {
  const keys = new Map([['signals', ['a/b:c,d&e=ü#?%']]]);
  assert.deepEqual(parse(format('signals', keys)), {page: 'signals', keys});
  assert.equal(parse('#nothing?x=1').page, 'world');
  assert.deepEqual([...parse('#world/race/a%2Fb').keys], [['race', ['a/b']]]);
});
