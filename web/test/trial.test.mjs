// A trial's phases, from samples and status as they come to a page that is late.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

globalThis.location ??= {hash: ''};
globalThis.addEventListener ??= () => {};
globalThis.WebSocket = {OPEN: 1};
globalThis.location = {hash: ''};
globalThis.addEventListener = () => {};
const timers = [];
globalThis.setInterval = globalThis.setTimeout = (call) => timers.push(call); // all are due when the test says so
globalThis.clearInterval = () => timers.splice(0);
const kept = new Map();
globalThis.localStorage = {getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value)};
const {session, samples, store} = await load({session: 'pages/trials/session.ts', samples: 'live/samples.ts', store: 'live/store.ts'});

const TICK = 0.01;
const SIGNALS = ['time', 'r.x'];
let subscription = 0;

function open() {
  store.model.value = {signals: SIGNALS.map((name) => ({name})), robots: [{name: 'r', root: 0}], bodies: [{name: 'r'}], joints: [], commands: []};
  store.hello.value = {tick: TICK, scene: 's'};
  store.connection.value = 'live';
  samples.resubscribe((message) => {
    subscription = message.number;
    return true;
  });
}

/** Samples of these times come, with the robot where `x` says. */
function come(times, x = () => 0) {
  samples.takeSamples({number: subscription, width: 2, count: times.length, lost: 0, rows: Float64Array.from(times.flatMap((time) => [time, time, x(time)]))});
}

const until = (from, to) => Array.from({length: Math.round((to - from) / TICK) + 1}, (_, i) => from + i * TICK);

const wait = () => [...timers].forEach((call) => call());

function begin() {
  open();
  samples.want(SIGNALS, true);
  wait();
  come(until(0, 5));
  store.status.value = {time: 5.2, paused: false}; // newer than the samples
  session.startBy.value = 'motion';
  session.begin();
  assert.equal(session.phase.value, 'resetting');
}

test('it begins once the world was reset, not when samples are older than the status', () => {
  begin();
  come(until(5.01, 5.1));
  wait();
  assert.equal(session.phase.value, 'resetting');
  come([...until(5.11, 5.3), ...until(0, 0.5)]);
  wait();
  assert.equal(session.phase.value, 'armed');
});

test('a page that looks late still sees that the world was reset', () => {
  begin();
  come([...until(5.01, 5.1), ...until(0, 7)]);
  wait();
  assert.equal(session.phase.value, 'armed');
  come([...until(7.01, 7.2), ...until(0, 9)]); // by somebody else
  wait();
  assert.equal(session.phase.value, 'idle');
  assert.match(store.notices.value.at(-1).text, /The world was reset/);
});

/** Before anything of the world has come. */
function beginEarly(paused) {
  session.abort('anew');
  store.generation.value++;
  samples.want(SIGNALS, true);
  open();
  wait();
  store.status.value = {time: 10, paused};
  session.begin();
  wait();
  assert.equal(session.phase.value, 'resetting');
  assert.ok(session.busy.value, 'one can abort it');
}

for (const [why, paused] of [['was paused', true], ['waits for a client in lock-step', false]]) {
  test(`a world that ${why} since before the page came is seen to be reset`, () => {
    beginEarly(paused);
    come(until(0, 11)); // to a page that is late
    wait();
    assert.equal(session.phase.value, 'armed');
  });
}

test('a world that runs is not taken for one that was reset', () => {
  beginEarly(false);
  come(until(10.02, 10.1));
  wait();
  assert.equal(session.phase.value, 'resetting');
  come([...until(10.11, 10.2), ...until(0, 0.5)]);
  wait();
  assert.equal(session.phase.value, 'armed');
});

test('a trial that the program does not take keeps no other from being stored', async () => {
  const trial = (started, condition) => ({started, scene: 's', driver: '', time: 1, startedBy: 'hand', stoppedBy: 'hand', condition, note: '', discarded: false, recording: '', begin: 0});
  kept.set('tether.trial.waiting', JSON.stringify([trial('2026-01-01T10:00:00Z', 'long'), trial('2026-01-01T10:01:00Z', '')]));
  const taken = [];
  globalThis.fetch = async (_url, {body}) => {
    const {started, condition} = JSON.parse(body);
    if (condition) return new Response('{"error": "condition: too long"}', {status: 400});
    taken.push(started);
    return new Response(JSON.stringify({...trial(started, condition), id: 7}), {status: 201});
  };
  globalThis.navigator ??= {};
  await session.storeWaiting();
  assert.deepEqual(taken, ['2026-01-01T10:01:00Z']);
  assert.deepEqual(session.refusedTrials.value.map(({started, why}) => [started, why]), [['2026-01-01T10:00:00Z', 'condition: too long']]);
  assert.equal(JSON.parse(kept.get('tether.trial.waiting')).length, 1, 'it is not lost');
  session.discardRefused();
  assert.deepEqual([session.refusedTrials.value, JSON.parse(kept.get('tether.trial.waiting'))], [[], []]);
});

test('texts of a trial are as long as the program takes', () => {
  assert.equal(session.fitting('x > 1'), 'x > 1');
  const long = session.fitting('🤖'.repeat(300));
  assert.equal(new TextEncoder().encode(long).length <= 1000 && long.endsWith('🤖…'), true);
});
