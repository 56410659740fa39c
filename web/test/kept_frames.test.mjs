// Poses of a kept run as they come in blocks: what a growing run has not yet written is asked for again, what is whole is not.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

Object.assign(globalThis, {location: {hash: '', href: 'http://tether.test/'}, history: {replaceState() {}, pushState() {}}, addEventListener() {}, requestAnimationFrame: () => 0, cancelAnimationFrame() {}, localStorage: {getItem: () => null, setItem() {}}});
const {kept, moment, route, store} = await load({kept: 'live/kept_frames.ts', moment: 'live/moment.ts', route: 'route.ts', store: 'live/store.ts'});

let timers = [];
globalThis.setTimeout = (call, ms = 0) => timers.push({call, ms});
globalThis.clearTimeout = () => {};

/** Lets answers come, and then all happen that is due within a second. */
async function wait() {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  const due = timers.filter(({ms}) => ms <= 1000);
  timers = timers.filter(({ms}) => ms > 1000);
  for (const {call} of due) call();
}

/** Frames of one body, as the program writes them. */
function frames(from, to, rate) {
  const times = Array.from({length: Math.max(0, Math.round((to - from) * rate) + 1)}, (_, i) => from + i / rate);
  const bytes = Buffer.alloc(times.length * (4 + 24 + 28));
  let at = 0;
  for (const time of times) {
    bytes.writeUInt32LE(52, at);
    bytes.writeUInt8(1, at + 4);
    bytes.writeDoubleLE(time, at + 12);
    bytes.writeUInt16LE(1, at + 24);
    bytes.writeFloatLE(time, at + 28);
    at += 56;
  }
  return bytes;
}

let recording, written, asked;
let singles = false; // those of a moment that rests are there, too
globalThis.fetch = async (url) => {
  if (/\/model$/.test(url)) return new Response(JSON.stringify({bodies: [], joints: [], robots: [], signals: [], commands: [], shapes: [], meshes: 0}));
  if (!/\/frames\?/.test(url)) return new Response(JSON.stringify({duration: 10, recording, name: 'r', scene: 's', started: '', events: [], program: null}));
  const query = new URL(url, location.href).searchParams;
  if (query.has('at')) return new Response(singles ? frames(Number(query.get('at')), Number(query.get('at')), 60) : frames(0, -1, 60));
  asked.push(Number(query.get('from')));
  return new Response(frames(Number(query.get('from')), Math.min(Number(query.get('to')), written), Number(query.get('rate'))));
};

/** Plays a run, of which so much is written, from a time on. */
async function play(name, grows, until, from) {
  [recording, written, asked] = [grows, until, []];
  store.connection.value = 'live';
  store.hello.value = {token: '', recording: ''};
  route.setParams({run: name});
  await wait();
  moment.seek(from);
  moment.play();
}

/** Draws, lets answers come, and draws again. */
async function draw() {
  kept.shownFrame();
  await wait();
  return kept.shownFrame();
}

test('a stretch of a growing run in which nothing stood is asked for again', async () => {
  await play('growing', true, 1, 2.5);
  await draw();
  assert.ok(asked.includes(2), asked.join(' '));
  written = 10;
  await draw();
  await draw();
  assert.ok(Math.abs(kept.shownFrame().poses[0] - 2.5) < 1e-6);
  const before = asked.length;
  for (let i = 0; i < 5; i++) await draw();
  assert.equal(asked.length, before, 'what is whole is there');
});

test('of a run that has ended nothing is asked for twice', async () => {
  await play('ended', false, 9, 8.5);
  for (let i = 0; i < 5; i++) await draw();
  assert.deepEqual(asked, [8]);
});

test('another speed, or the end of what is written, brings back no picture of before', async () => {
  singles = true;
  await play('watched', true, 6, 3);
  await draw();
  const x = () => kept.shownFrame().poses[0];
  moment.seek(5);
  await draw();
  assert.ok(Math.abs(x() - 5) < 1e-6);
  moment.setSpeed(2);
  moment.seek(5.03);
  assert.ok(Math.abs(x() - 5.03) < 1e-6, `${x()} s: out of the block of the speed before`);
  singles = false; // nothing more comes
  moment.seek(7);
  assert.ok(Math.abs(x() - 5.03) < 1e-6, `${x()} s: what is drawn is nearer than where it began`);
});
