// What is typed into a field and not saved yet is saved as the page goes away, and stays where the program refuses it.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {loadHooks, until} from './hooks.mjs';

const listeners = {};
Object.assign(globalThis, {
  location: {hash: '#runs', href: 'http://tether.test/'}, history: {replaceState() {}, pushState() {}}, addEventListener: (name, act) => (listeners[name] ??= []).push(act),
  document: {addEventListener() {}, hidden: false, activeElement: null, documentElement: {dataset: {}}}, matchMedia: () => ({matches: false, addEventListener() {}}),
  FocusEvent: Event, devicePixelRatio: 1, getComputedStyle: () => ({getPropertyValue: (name) => name}), localStorage: {getItem: () => null, setItem() {}},
});
const {detail, editable, keptText, typed, http, store, run} = await loadHooks({detail: 'pages/runs/run_detail.tsx', editable: 'ui/editable.tsx', keptText: 'ui/kept_text.ts', typed: 'ui/typed.tsx', http: 'http.ts', store: 'live/store.ts'});
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

/** The field that `find` finds in what is drawn has the focus. */
function focus(field, find) {
  document.activeElement = {dispatchEvent: ({type}) => type === 'blur' && find(field.now).props.onBlur()};
}

test('what stands in a field that takes it as it is left is taken as the page goes away, or another is shown', async () => {
  const taken = [];
  const goOn = () => listeners.hashchange?.forEach((act) => act({}));
  for (const [view, props, text, go] of [[typed.Typed, {value: '1 m', set: (now) => taken.push(now)}, '2 m', leave], [typed.Typed, {value: '1 m', set: (now) => taken.push(now)}, '3 m', goOn], [typed.NumberField, {value: 1, onChange: (now) => taken.push(now)}, '2', leave]]) {
    const field = run(view, props);
    await until(() => field.now);
    field.now.props.onInput({currentTarget: {value: text}});
    await until(() => field.now.props.value === text);
    focus(field, (drawn) => drawn);
    go();
    document.activeElement = null;
    field.end();
  }
  assert.deepEqual(taken, ['2 m', '3 m', 2]);
});

test('a tag that is being typed is sent as the page goes away, and asked for where it cannot be', async () => {
  const inputOf = (list) => list.props.children.flat().at(-1).props.children;
  const saved = [];
  const program = {away: false};
  const save = async (tags) => {
    if (program.away) throw new http.Unreachable();
    saved.push(tags);
    return tags;
  };
  const field = run(detail.Tags, {run: {id: 'tags', tags: ['old']}, save});
  const write = async (text) => {
    inputOf(field.now).props.onInput({currentTarget: {value: text}});
    await until(() => inputOf(field.now).props.value === text);
  };
  await until(() => field.now);
  focus(field, inputOf);
  await write('new');
  leave();
  await until(() => saved.length);
  assert.deepEqual(saved, [['old', 'new']]);
  program.away = true;
  await write('newer');
  inputOf(field.now).props.onBlur();
  document.activeElement = null;
  await until(() => store.notices.value.at(-1)?.text === 'Tag newer not saved: the program cannot be reached' && inputOf(field.now).props.value === 'newer');
  store.connection.value = 'lost';
  await until(asks);
  assert.equal(asks(), true);
  store.connection.value = 'live';
  field.end();
  assert.equal(asks(), false);
});

test('what only its form has is there again when the page was reloaded', async () => {
  const kept = new Map();
  globalThis.sessionStorage = {getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text), removeItem: (key) => kept.delete(key)};
  const use = async () => {
    const field = run(keptText.useKeptText, 'name');
    await until(() => field.now);
    return field;
  };
  const before = await use();
  assert.equal(before.now[0], null);
  before.now[1]('my_robot');
  await until(() => before.now[0]);
  const after = await use();
  assert.equal(after.now[0], 'my_robot');
  after.now[1](null);
  await until(() => after.now[0] === null);
  assert.deepEqual([after.now[0], kept.size], [null, 0]);
  delete globalThis.sessionStorage;
  const nowhere = await use();
  nowhere.now[1]('a');
  await until(() => nowhere.now[0]);
  assert.equal(nowhere.now[0], 'a');
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
