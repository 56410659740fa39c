// foxglove_test.mjs: Foxglove's own client library watches and commands running worlds, and the controls show a kept run.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {createRequire} from 'node:module';
import {createConnection} from 'node:net';
import {join} from 'node:path';
import test from 'node:test';
import {atEnd, PATIENCE, program, root, set, start, stateFolder} from '../browser/harness.mjs';

const require = createRequire(join(root, 'web/'));
const {FoxgloveClient} = require('@foxglove/ws-protocol');
const WebSocket = require('ws');

const settings = set({'foxglove.listen': '127.0.0.1:0', 'wires.float-udp.bind': '127.0.0.1:0', 'wires.float-udp.peer': 'sender'});

/** Looks again and again until `condition()` is true, and returns that. */
async function until(condition, what) {
  for (const end = Date.now() + PATIENCE; ;) {
    const value = condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`${what} did not come about`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A client and all it has heard: channels by topic, the newest message of each, all texts of people. */
async function connect(t, address) {
  const client = new FoxgloveClient({ws: new WebSocket(`ws://${address}`, [FoxgloveClient.SUPPORTED_SUBPROTOCOL])});
  const heard = {client, channels: new Map(), services: new Map(), newest: new Map(), entities: [], events: [], status: [], time: 0, answers: [], failures: [], parameters: new Map(), errors: []};
  const topics = new Map(); // by subscription
  client.on('serverInfo', (info) => { heard.info = info; });
  client.on('advertise', (channels) => channels.forEach((channel) => heard.channels.set(channel.topic, channel)));
  client.on('advertiseServices', (services) => services.forEach((service) => heard.services.set(service.name, service)));
  client.on('status', ({message}) => heard.status.push(message));
  client.on('error', (error) => heard.errors.push(error));
  client.on('time', ({timestamp}) => { heard.time = Number(timestamp) / 1e9; });
  client.on('serviceCallResponse', ({callId, data}) => heard.answers.push([callId, JSON.parse(new TextDecoder().decode(data))]));
  client.on('serviceCallFailure', (failure) => heard.failures.push(failure));
  client.on('parameterValues', ({parameters}) => parameters.forEach(({name, value}) => heard.parameters.set(name, value)));
  client.on('message', ({subscriptionId, timestamp, data}) => {
    const topic = topics.get(subscriptionId), message = JSON.parse(new TextDecoder().decode(data));
    heard.newest.set(topic, {message, time: Number(timestamp) / 1e9});
    if (topic === '/scene') heard.entities.push(...message.entities);
    if (topic === '/events') heard.events.push(message);
  });
  heard.subscribe = (topic) => topics.set(client.subscribe(heard.channels.get(topic).id), topic);
  heard.value = (topic) => heard.newest.get(topic)?.message.value;
  let calls = 0;
  heard.call = (name, request) => {
    client.sendServiceCallRequest({serviceId: heard.services.get(name).id, callId: ++calls, encoding: 'json',
      data: new TextEncoder().encode(request === undefined ? '' : JSON.stringify(request))});
    return until(() => heard.answers.some(([id]) => id === calls) || heard.failures.some(({callId}) => callId === calls), `an answer to ${name}`);
  };
  atEnd(t, () => client.close());
  await until(() => heard.services.size > 0, 'what the server has');
  return heard;
}

test('scene, transforms, signals and time', {timeout: 4 * PATIENCE}, async (t) => {
  const {addresses} = await start(t, ['run', 'frc2011', '--no-web', ...settings]);
  const heard = await connect(t, addresses.foxglove);
  assert.ok(heard.info.name.startsWith('Tether '));
  assert.deepEqual(heard.info.capabilities, ['time', 'services']);
  for (const channel of heard.channels.values()) {
    assert.equal(channel.encoding, 'json');
    assert.equal(JSON.parse(channel.schema).type, 'object', channel.topic);
  }
  assert.equal(JSON.parse(heard.channels.get('/signals/chassis.z').schema).properties.value.description, 'm');
  ['/scene', '/tf', '/signals/chassis.z', '/signals/time'].forEach(heard.subscribe);
  const {message: {transforms}} = await until(() => heard.newest.get('/tf'), 'transforms');
  const chassis = transforms.find(({child_frame_id: name}) => name === 'chassis');
  assert.equal(chassis.parent_frame_id, 'world');
  const {x, y, z, w} = chassis.rotation;
  assert.ok(Math.abs(x * x + y * y + z * z + w * w - 1) < 1e-6);
  await until(() => heard.value('/signals/chassis.z') !== undefined, 'a signal');
  const early = await until(() => heard.value('/signals/time'), 'simulated time');
  await until(() => heard.value('/signals/time') > early + 0.2, 'time that goes on');
  assert.ok(Math.abs(heard.newest.get('/signals/time').time - heard.value('/signals/time')) < 1e-6);
  await until(() => heard.time > early, 'the time of the server');
  const frames = new Set(['world', ...transforms.map(({child_frame_id: name}) => name)]);
  await until(() => heard.entities.some(({frame_id: frame, cubes}) => frame === 'chassis' && cubes.length), 'the chassis');
  for (const entity of heard.entities) {
    assert.ok(frames.has(entity.frame_id), entity.frame_id);
    for (const {points} of entity.triangles) assert.equal(points.length % 3, 0);
  }
  assert.deepEqual(heard.errors, []);
});

test('pause, step, speed and reset; events', {timeout: 4 * PATIENCE}, async (t) => {
  const {addresses} = await start(t, ['run', 'frc2011', '--no-web', ...settings]);
  const heard = await connect(t, addresses.foxglove);
  ['/events', '/signals/step', '/signals/real_time_factor'].forEach(heard.subscribe);
  await until(() => heard.value('/signals/step') > 0, 'steps');
  await heard.call('/pause');
  await until(() => heard.events.some(({message, name}) => message === 'paused' && name === 'foxglove'), 'the pause');
  const later = await connect(t, addresses.foxglove); // who comes while nothing moves is shown it, too
  later.subscribe('/signals/step');
  const stood = await until(() => later.value('/signals/step'), 'where it stands');
  await heard.call('/step', {ticks: 2});
  const stepped = await until(() => later.value('/signals/step') > stood && later.value('/signals/step'), 'two ticks');
  assert.ok(stepped > stood);
  await heard.call('/step', {ticks: -1});
  assert.match(heard.failures.at(-1).message, /ticks/);
  await heard.call('/speed', {facter: 2});
  assert.match(heard.failures.at(-1).message, /factor/);
  await heard.call('/pause', {ticks: 2});
  assert.match(heard.failures.at(-1).message, /\{\}/);
  await heard.call('/speed', {factor: 2});
  await heard.call('/resume', {});
  await until(() => heard.value('/signals/step') > stepped, 'it going on');
  const before = heard.time;
  await heard.call('/reset');
  await until(() => heard.value('/signals/step') < stepped, 'the beginning');
  await until(() => heard.time > before, 'time of the viewer that goes on');
  assert.equal(heard.services.has('/seek'), false);
  assert.deepEqual(heard.errors, []);
});

test('commands by parameters and messages, where the scene allows it', {timeout: 4 * PATIENCE}, async (t) => {
  const state = stateFolder(t), log = join(state, 'driven.wpilog');
  const {addresses, stop} = await start(t, ['run', 'frc2011', '--no-web', '--record', log, ...set({'foxglove.commands': 'on'}), ...settings], state);
  const driver = await connect(t, addresses.foxglove), watcher = await connect(t, addresses.foxglove);
  assert.ok(['parameters', 'parametersSubscribe', 'clientPublish'].every((name) => driver.info.capabilities.includes(name)));
  watcher.client.getParameters([], 'all');
  await until(() => watcher.parameters.get('left_track.torque') === 0, 'parameters');
  watcher.client.subscribeParameterUpdates(['left_track.torque', 'right_track.torque']);
  watcher.subscribe('/signals/chassis.x');
  const from = await until(() => watcher.value('/signals/chassis.x'), 'where it stands');
  driver.client.setParameters([{name: 'left_track.torque', value: 6}]);
  const channel = driver.client.advertise({topic: '/commands', encoding: 'json', schemaName: 'tether.Commands'});
  driver.client.sendMessage(channel, new TextEncoder().encode(JSON.stringify({'right_track.torque': 6})));
  await until(() => watcher.parameters.get('left_track.torque') === 6 && watcher.parameters.get('right_track.torque') === 6, 'the commands');
  await until(() => Math.abs(watcher.value('/signals/chassis.x') - from) > 0.1, 'that it drives');
  driver.client.close();
  await until(() => watcher.parameters.get('left_track.torque') === 0 && watcher.parameters.get('right_track.torque') === 0, 'safe commands');
  assert.equal(await stop(), 0);
  assert.match(execFileSync(program, ['verify', log], {encoding: 'utf8'}), /identical/); // they are journaled
});

test('nobody commands unless the scene allows it', {timeout: 4 * PATIENCE}, async (t) => {
  const {addresses} = await start(t, ['run', 'frc2011', '--no-web', ...settings]);
  const heard = await connect(t, addresses.foxglove);
  heard.client.setParameters([{name: 'left_track.torque', value: 6}]);
  heard.client.advertise({topic: '/commands', encoding: 'json', schemaName: ''});
  await until(() => heard.status.length === 2, 'refusals');
  assert.match(heard.status[0], /foxglove.commands: on/);
});

/** What Foxglove's own application sends with its controls; the library has no name for it yet. */
function playback(socket, {pause = false, speed = 1, seek, id = 'request'}) {
  const bytes = Buffer.alloc(19 + id.length);
  bytes.writeUInt8(3, 0);
  bytes.writeUInt8(pause ? 1 : 0, 1);
  bytes.writeFloatLE(speed, 2);
  bytes.writeUInt8(seek === undefined ? 0 : 1, 6);
  bytes.writeBigUInt64LE(BigInt(Math.round((seek ?? 0) * 1e9)), 7);
  bytes.writeUInt32LE(id.length, 15);
  bytes.write(id, 19);
  socket.send(bytes);
}

test('a kept run is played, paused and sought', {timeout: 6 * PATIENCE}, async (t) => {
  const state = stateFolder(t), log = join(state, 'kept.wpilog');
  const run = await start(t, ['run', 'frc2011', '--no-web', '--duration', '2', '--pace', 'fast', '--record', log, ...settings], state);
  assert.equal(await run.ended, 0);
  const {addresses} = await start(t, ['replay', log, ...set({'foxglove.listen': '127.0.0.1:0', 'web.listen': '127.0.0.1:0'})], state);
  const socket = new WebSocket(`ws://${addresses.foxglove}`, ['foxglove.sdk.v1']);
  socket.binaryType = 'nodebuffer';
  atEnd(t, () => socket.close());
  const states = [];
  let info, time = -1;
  socket.on('message', (data, binary) => {
    if (!binary) info ??= JSON.parse(data);
    if (binary && data[0] === 2) time = Number(data.readBigUInt64LE(1)) / 1e9;
    if (binary && data[0] === 5) {
      states.push({state: data[1], time: Number(data.readBigUInt64LE(2)) / 1e9, speed: data.readFloatLE(10), sought: data[14] === 1,
        id: data.toString('utf8', 19)});
    }
  });
  await until(() => info && time >= 0, 'the server');
  assert.ok(info.capabilities.includes('playbackControl'));
  assert.deepEqual(info.dataStartTime, {sec: 0, nsec: 0});
  assert.ok(Math.abs(info.dataEndTime.sec + info.dataEndTime.nsec / 1e9 - 2) < 0.05, JSON.stringify(info.dataEndTime));
  playback(socket, {pause: true, seek: 1.5, id: 'one'});
  const answer = await until(() => states.find(({id}) => id === 'one'), 'the answer');
  assert.deepEqual(answer, {state: 1, time: 1.5, speed: 1, sought: true, id: 'one'});
  await until(() => Math.abs(time - 1.5) < 0.03, 'the moment');
  playback(socket, {pause: true, seek: 1e9, id: 'far'});
  const end = await until(() => states.find(({id}) => id === 'far'), 'the answer about the end');
  assert.equal(end.time, info.dataEndTime.sec + info.dataEndTime.nsec / 1e9);
  await until(() => Math.abs(time - 2) < 0.05, 'the end, where it was sought');
  playback(socket, {pause: true, seek: 0.5, id: 'back'});
  await until(() => Math.abs(time - 0.5) < 0.03, 'an earlier moment');
  playback(socket, {speed: 2, id: 'on'});
  await until(() => states.some(({id, state: playing, speed}) => id === 'on' && playing === 0 && speed === 2), 'that it plays');
  const played = states.findIndex(({id}) => id === 'on');
  await until(() => states.slice(played).some(({state: playing}) => playing === 3), 'the end');
  assert.ok(Math.abs(time - 2) < 0.05, `${time}`);
  const heard = await connect(t, addresses.foxglove);
  await heard.call('/seek', {time: 99});
  assert.deepEqual(heard.failures, []);
  assert.match(JSON.stringify(heard.answers.at(-1)), /at 2 s/); // where it ends
});

test('floods, half messages and readers that do not read disturb nobody', {timeout: 6 * PATIENCE}, async (t) => {
  const {addresses, said} = await start(t, ['run', 'frc2011', '--no-web', ...set({'nt4.listen': '127.0.0.1:0'}), ...settings]);
  const heard = await connect(t, addresses.foxglove);
  heard.subscribe('/signals/time');
  await until(() => heard.value('/signals/time') > 0, 'time');
  const floods = [];
  for (const [address, protocol, path] of [[addresses.foxglove, 'foxglove.sdk.v1', '/'], [addresses.nt4, 'networktables.first.wpi.edu', '/nt/flood']]) {
    for (let i = 0; i < 3; i++) {
      const flood = new WebSocket(`ws://${address}${path}`, [protocol]);
      flood.on('error', () => {});
      atEnd(t, () => flood.terminate());
      await new Promise((resolve) => flood.on('open', resolve));
      flood.pause(); // it asks for all, and reads nothing
      flood.send(JSON.stringify({op: 'subscribe', subscriptions: [...heard.channels.values()].map(({id}) => ({id, channelId: id}))}));
      flood.send(JSON.stringify([{method: 'subscribe', params: {topics: [''], subuid: 1, options: {prefix: true, all: true, periodic: 0.005}}}]));
      for (let n = 0; n < 5000; n++) {
        flood.send('{"op":"unsubscribe","subscriptionIds":[]}');
        flood.send(Buffer.from([0x94, 0xff, 0, 2, 1]));
      }
      floods.push(flood);
    }
  }
  for (const address of [addresses.foxglove, addresses.nt4]) {
    for (const half of ['', 'GET /nt/x HTTP/1.1\r\nHost: x\r\n', 'GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n', '\x81\xff'.repeat(100)]) {
      const socket = createConnection({host: '127.0.0.1', port: Number(address.split(':').at(-1))}, () => socket.write(half));
      socket.on('error', () => {});
      atEnd(t, () => socket.destroy());
    }
  }
  const before = heard.value('/signals/time');
  await until(() => heard.value('/signals/time') > before + 0.5, 'time that goes on');
  floods.forEach((flood) => flood.terminate());
  const after = await connect(t, addresses.foxglove);
  after.subscribe('/signals/time');
  await until(() => after.value('/signals/time') > before + 0.6, `a viewer that comes afterwards: ${said.slice(-3)}`);
  assert.equal((await fetch(`http://${addresses.nt4}/`)).status, 200);
});
