// What comes from the program is looked at: the right thing passes as it is, anything else is said with its place.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const {either, flag, listOf, number, numbers, object, oneOf, orNothing, orNull, recordOf, text} = await load('check.ts');
const check = object({
  name: text,
  kind: oneOf('hinge', 'slide'),
  lower: orNull(number),
  parts: listOf(object({mass: number, on: flag})),
  counts: recordOf(either(number, text)),
  note: orNothing(text),
  times: numbers,
});
const good = () => ({name: 'arm', kind: 'slide', lower: null, parts: [{mass: 1, on: true, newer: 'key'}], counts: {a: 1, b: 'x'}, times: [0, null, 2]});

test('what is right passes, with what a newer program adds', () => {
  const value = check(good(), '');
  assert.deepEqual(value.parts, good().parts);
  assert.deepEqual(value.times, [0, NaN, 2], 'JSON has no other word for it');
});

test('what is wrong is refused with the place where it stands', () => {
  const wrong = (change, place) => assert.throws(() => check({...good(), ...change}, ''), (error) => error.message.includes(`${place} is no `), place);
  wrong({name: 7}, 'name');
  wrong({kind: 'ball'}, 'kind');
  wrong({lower: undefined}, 'lower');
  wrong({parts: {length: 1}}, 'parts');
  wrong({parts: [{mass: 1, on: true}, {mass: '2', on: true}]}, 'parts[1].mass');
  wrong({counts: {a: true}}, 'counts.a');
  wrong({note: null}, 'note');
  wrong({times: [1, '2']}, 'times[1]');
  assert.throws(() => check(null, ''), /it is no object/);
});

test('a message that is wrong is refused, one of a newer kind left out, one of another version only told apart', async () => {
  globalThis.addEventListener ??= () => {};
  const {readMessage} = await load('live/incoming.ts');
  const event = {type: 'event', step: 1, source: 'world', text: 'reset'};
  assert.deepEqual(readMessage(JSON.stringify(event), 1), event);
  assert.throws(() => readMessage(JSON.stringify({...event, step: '1'}), 1), /event\.step is no number/);
  assert.throws(() => readMessage('[]', 1), /message is no object/);
  assert.equal(readMessage('{"type":"tomorrow"}', 1), null);
  assert.equal(readMessage('{"type":"toString"}', 1), null);
  assert.equal(readMessage('{"type":"hello","protocol":2}', 1).protocol, 2);
  assert.throws(() => readMessage('{"type":"hello","protocol":1}', 1), /hello\.version/);
});
