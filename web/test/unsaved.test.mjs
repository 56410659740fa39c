// What is typed into a field and not saved yet is saved as the page goes away, and stays where the program refuses it.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {loadHooks, until} from './hooks.mjs';

const listeners = {};
Object.assign(globalThis, {
  location: {hash: '#runs', href: 'http://tether.test/'}, history: {replaceState() {}, pushState() {}}, addEventListener: (name, act) => (listeners[name] ??= []).push(act),
  document: {addEventListener() {}, hidden: false, activeElement: null, documentElement: {dataset: {}}}, matchMedia: () => ({matches: false, addEventListener() {}}),
  devicePixelRatio: 1, getComputedStyle: () => ({getPropertyValue: (name) => name}), localStorage: {getItem: () => null, setItem() {}},
});
const {detail, editable, http, store, run} = await loadHooks({detail: 'pages/runs/run_detail.tsx', editable: 'ui/editable.tsx', http: 'http.ts', store: 'live/store.ts'});
store.connection.value = 'live';

const leave = () => listeners.pagehide?.forEach((act) => act({}));
function asks() {
  let asked = false;
  for (const act of listeners.beforeunload ?? []) act({preventDefault: () => (asked = true)});
  return asked;
}
const type = (field, value) => field.now.props.onInput({currentTarget: {value}});
const blur = (field, value) => field.now.props.onBlur({currentTarget: {value}});
/** A field with what is saved of it; `refuse`: the program does. */
function fieldOf(view, props) {
  const saved = [];
  const program = {refuse: false, away: false};
  const save = async (text) => {
    if (program.away) throw new http.Unreachable();
    if (program.refuse) throw new http.HttpError(400, 'too long');
    saved.push(text);
  };
  return {field: run(view, {...props, save}), saved, program};
}
let count = 0;
const note = (id = `${++count}`) => fieldOf(detail.Note, {run: {id, note: 'old'}});
const name = (id = `${++count}`) => fieldOf(editable.Editable, {address: `runs/${id}/name`, label: 'Name', value: 'old'});

test('a note or a name that is being written is saved as the page goes away', async () => {
  for (const make of [note, name]) {
    const {field, saved} = make();
    await until(() => field.now);
    leave();
    assert.deepEqual(saved, [], 'nothing was written');
    type(field, 'new');
    await until(() => field.now.props.value === 'new');
    assert.equal(asks(), false);
    leave();
    assert.deepEqual(saved, ['new']);
    store.connection.value = 'lost';
    type(field, 'newer');
    await until(() => field.now.props.value === 'newer');
    assert.equal(asks(), true, 'the program is away');
    store.connection.value = 'live';
    field.end();
    assert.equal(asks(), false);
  }
});

test('what is refused stays, and the browser asks before it is lost', async () => {
  for (const make of [note, name]) {
    const {field, program, saved} = make();
    program.refuse = true;
    type(field, 'much too long');
    await until(() => field.now.props.value === 'much too long');
    blur(field, 'much too long');
    await until(asks);
    assert.deepEqual([asks(), field.now.props.value], [true, 'much too long']);
    program.refuse = false;
    type(field, 'short');
    await until(() => field.now.props.value === 'short' && !asks());
    blur(field, 'short');
    await until(() => saved.length);
    assert.deepEqual(saved, ['short']);
    field.end();
  }
});

test('what the program could not take outlives its field, and is sent when the program is back', async () => {
  for (const [make, what] of [[note, 'Note'], [name, 'Name']]) {
    const {field, program, saved} = make('lasting');
    program.away = true;
    type(field, 'typed while it was away');
    await until(() => field.now.props.value === 'typed while it was away');
    blur(field, 'typed while it was away');
    await until(asks);
    assert.equal(store.notices.value.at(-1).text, `${what} not saved: the program cannot be reached`);
    field.end(); // another run, or another page
    const {field: again} = make('lasting');
    await until(() => again.now);
    assert.equal(again.now.props.value, 'typed while it was away');
    again.end();
    assert.equal(asks(), true);
    store.connection.value = 'lost';
    program.away = false;
    store.connection.value = 'live';
    await until(() => saved.length);
    assert.deepEqual(saved, ['typed while it was away']);
    await until(() => !asks());
  }
});

test('what was refused is there again in its field', async () => {
  for (const make of [note, name]) {
    const {field, program, saved} = make('refused');
    program.refuse = true;
    type(field, 'much too long');
    await until(() => field.now.props.value === 'much too long');
    field.end(); // with the focus still in it
    await until(() => store.notices.value.at(-1)?.text.endsWith('not saved: too long'));
    const {field: again} = make('refused');
    await until(() => again.now);
    assert.deepEqual([again.now.props.value, saved], ['much too long', []]);
    again.now.props.onInput({currentTarget: {value: 'old'}});
    await until(() => !asks());
    assert.equal(asks(), false, 'as it was');
    again.end();
  }
});

test('where nobody answers, the pages say so in words of their own', async () => {
  globalThis.fetch = async () => {
    throw new TypeError('Failed to fetch');
  };
  await assert.rejects(http.request('PUT', 'api/x', {}), {message: 'the program cannot be reached'});
});

test('small changes are sent on where the page goes away at once', async () => {
  const kept = [];
  globalThis.fetch = async (_url, {keepalive}) => (kept.push(keepalive), new Response('{}'));
  await http.request('PUT', 'api/x', {note: 'a'});
  await http.request('PUT', 'api/x', {note: 'a'.repeat(100000)});
  await http.request('GET', 'api/x');
  await http.request('PUT', 'api/x', new Blob(['a']));
  assert.deepEqual(kept, [true, false, false, false]);
});
