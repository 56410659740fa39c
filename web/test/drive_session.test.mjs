// Driving while it lasts: what a driver lets go of when it ends, and whom it reaches.
import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';
import {load} from './load.mjs';

let clock = 1e6; // ms
let ticks = [];
let asked = null;
let socket = null;
let said = [];

class FakeSocket {
  static OPEN = 1;
  readyState = FakeSocket.OPEN;
  constructor() {
    socket = this;
  }
  send(text) {
    if (this.readyState === FakeSocket.OPEN && !this.dead) said.push(JSON.parse(text));
  }
  close() {}
  say(message) {
    this.onmessage({data: JSON.stringify(message)});
  }
  end() {
    this.readyState = 3;
    this.onclose();
  }
}

const pad = {id: 'pad', index: 0, connected: true, mapping: 'standard', axes: [0, 0, 0, 0], buttons: []};
Object.assign(globalThis, {
  location: {hash: '#drive', href: 'http://tether.test/', protocol: 'http:'}, history: {replaceState() {}, pushState() {}}, addEventListener() {}, removeEventListener() {},
  document: {addEventListener() {}, removeEventListener() {}, hidden: false}, matchMedia: () => ({matches: false}), WebSocket: FakeSocket,
  requestAnimationFrame: () => 0, cancelAnimationFrame() {}, localStorage: {getItem: () => null, setItem() {}},
  setTimeout() {}, clearTimeout() {},
  setInterval: (call) => (ticks.push(call), call), clearInterval: (gone) => void (ticks = ticks.filter((call) => call !== gone)),
  fetch: (url) => (url === 'api/access' ? new Promise((resolve) => (asked = resolve)) : Promise.reject(new Error('no answer'))),
});
Object.defineProperty(globalThis, 'navigator', {value: {getGamepads: () => [pad]}, configurable: true});
Date.now = () => clock;
const {line, session} = await load({line: 'live/connection.ts', session: 'driving/session.ts'});

const settle = () => new Promise((resolve) => setImmediate(resolve));
const hello = (token) => ({
  type: 'hello', protocol: 1, version: '1', scene: 's', description: '', timestep: 0.01, tick: 0.01, pace: 'realtime', dynamics: true, token, role: 'administer', replay: null, recording: '',
});
const command = (robot, name, lower = -1, upper = 1) => ({name: `${'ab'[robot]}/${name}`, unit: '', robot, lower, upper});
const model = {
  type: 'model', bodies: [], joints: [], signals: [], shapes: [], materials: [], textures: [], meshes: 0, lines: [], rays: [],
  robots: ['a', 'b'].map((name) => ({name, alliance: '', root: 0})),
  commands: [command(0, 'left_track.duty'), command(0, 'right_track.duty'), command(1, 'left_track.duty'), command(1, 'right_track.duty')],
};

async function connect(token = 'same') {
  void line.connect();
  await settle();
  asked(new Response(JSON.stringify({role: 'administer', routes: [], sockets: [{path: '/live'}]})));
  for (let i = 0; i < 5; i++) await settle();
  socket.say(hello(token));
  socket.say(model);
}

const tick = () => (clock += 20, [...ticks].forEach((call) => call()));
const commands = () => said.filter(({type}) => type === 'command').map(({values}) => values);
const released = (ids) => ids.map((id) => [id, 0]);

/** Drives the first robot straight on. */
async function drive(use = 'robot') {
  session.use.choose(use);
  session.start();
  pad.axes = [0, -1, 0, 0];
  tick();
}

beforeEach(async () => {
  session.stop();
  session.chooseRobot(0);
  session.guessAgain();
  pad.axes = [0, 0, 0, 0];
  clock += 60000;
  await connect();
  said = [];
});

test('what the line could not take any more is said to the same run of the program when it is back', async () => {
  await drive();
  assert.deepEqual(commands().pop(), [[0, 1], [1, 1]]);
  socket.end();
  tick();
  assert.equal(session.driving.value, false);
  said = [];
  clock += 8000;
  await connect();
  assert.deepEqual(commands(), [released([0, 1])]);
  said = [];
  socket.end();
  await connect();
  assert.deepEqual(commands(), [], 'once');
});

test('another run of the program is told nothing: its ids are others', async () => {
  await drive();
  socket.end();
  tick();
  said = [];
  await connect('other');
  assert.deepEqual(commands(), []);
});

test('what was let go of while the line was dead, as nobody knew yet, is said again', async () => {
  await drive();
  socket.dead = true;
  clock += 2000;
  session.stop();
  clock += 3000;
  socket.end();
  await connect();
  assert.deepEqual(commands().pop(), released([0, 1]));
});

test('what came long before the line was lost is not said again', async () => {
  await drive();
  session.stop();
  clock += 3000;
  socket.say({type: 'event', step: 1, source: 'world', text: 'something'});
  socket.end();
  said = [];
  await connect();
  assert.deepEqual(commands(), []);
});

test('joysticks of stations are unplugged then, too', async () => {
  await drive('station');
  const plugged = said.filter(({type}) => type === 'stick');
  assert.equal(plugged.length, 1);
  socket.end();
  tick();
  said = [];
  await connect();
  assert.deepEqual(said.filter(({type}) => type === 'stick'), [{...plugged[0], axes: [], buttons: [], povs: []}]);
});

test('who chooses another robot lets go of the one he drove', async () => {
  await drive();
  said = [];
  session.chooseRobot(1);
  assert.equal(session.driving.value, false);
  assert.deepEqual(commands(), [released([0, 1])]);
});

test('a row that goes while its stick is held lets go', async () => {
  await drive();
  session.setMapping(session.mapping.value.map((row, i) => (i ? row : {...row, target: 'gone'})));
  said = [];
  tick();
  assert.deepEqual(commands().flat().filter(([id]) => id === 0), released([0]));
  session.setMapping([]);
  said = [];
  tick();
  assert.deepEqual(commands().flat(), released([1]));
});

test('another use ends driving, and lets go as what it was', async () => {
  await drive();
  said = [];
  session.use.choose('joystick');
  assert.equal(session.driving.value, false);
  assert.deepEqual([commands(), said.some(({type}) => type === 'joystick')], [[released([0, 1])], false]);
  session.start();
  tick();
  said = [];
  session.use.choose('station');
  assert.deepEqual(said.map(({type, core}) => [type, core]), [['joystick', null]]);
});

test('zero that is out of a range is sent as its nearest', async () => {
  model.commands[1].lower = 0.25;
  socket.say(model);
  await drive();
  said = [];
  session.stop();
  assert.deepEqual(commands(), [[[0, 0], [1, 0.25]]]);
  model.commands[1].lower = -1;
});
