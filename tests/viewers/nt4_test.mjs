// nt4_test.mjs: an independent client of NetworkTables reads a running world, and publishes to another.
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import test from 'node:test';
import {atEnd, PATIENCE, root, set, start, stateFolder} from '../browser/harness.mjs';

const require = createRequire(join(root, 'web/'));
const {NetworkTables, NetworkTablesTypeInfos} = require('ntcore-ts-client');
const WebSocket = require('ws');

const settings = set({'nt4.listen': '127.0.0.1:0', 'wires.float-udp.bind': '127.0.0.1:0', 'wires.float-udp.peer': 'sender'});

/** Resolves with the first value that `good` holds for. */
function value(client, name, type, good) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${name}: no such value`)), PATIENCE);
    client.createTopic(name, type).subscribe((got) => {
      if (got === null || !good(got)) return;
      clearTimeout(late);
      resolve(got);
    });
  });
}

/** It would come back for ever. */
function hangUp(tables) {
  tables.client.messenger.socket.stopAutoConnect();
  tables.client.messenger.socket.close();
}

/** There is one client a host and port. */
function connect(t, address, host = '127.0.0.1') {
  const tables = NetworkTables.getInstanceByURI(host, Number(address.split(':').at(-1)));
  atEnd(t, () => hangUp(tables));
  return tables;
}

test('a client reads signals, the field and time', {timeout: 4 * PATIENCE}, async (t) => {
  const {addresses} = await start(t, ['run', 'frc2011', '--no-web', ...settings]);
  const client = connect(t, addresses.nt4);
  const {kDouble, kDoubleArray, kString} = NetworkTablesTypeInfos;
  assert.equal(await value(client, '/SmartDashboard/Field/.type', kString, () => true), 'Field2d');
  const place = await value(client, '/SmartDashboard/Field/Robot', kDoubleArray, () => true);
  assert.equal(place.length, 3);
  const early = await value(client, '/Tether/time', kDouble, (time) => time > 0);
  assert.ok(await value(client, '/Tether/time', kDouble, (time) => time > early + 0.2));
  const z = await value(client, '/Tether/signals/chassis.z', kDouble, () => true);
  assert.ok(Math.abs(z) < 1);
});

test('what the driver station says is FMSInfo', {timeout: 4 * PATIENCE}, async (t) => {
  const {addresses} = await start(t, ['run', 'frc2011', '--no-web', ...set({'game.start': 'autonomous', 'robots.frc2011.alliance': 'blue'}), ...settings]);
  const client = connect(t, addresses.nt4);
  const {kBoolean, kInteger, kString} = NetworkTablesTypeInfos;
  assert.equal(await value(client, '/FMSInfo/.type', kString, () => true), 'FMSInfo');
  assert.equal(await value(client, '/FMSInfo/FMSControlData', kInteger, () => true), 1 + 2 + 32);
  assert.equal(await value(client, '/FMSInfo/IsRedAlliance', kBoolean, () => true), false);
  assert.equal(await value(client, '/FMSInfo/StationNumber', kInteger, () => true), 1);
});

test('what one client publishes another reads', {timeout: 4 * PATIENCE}, async (t) => {
  const {addresses} = await start(t, ['run', 'frc2011', '--no-web', ...settings]);
  const client = connect(t, addresses.nt4);
  const topic = client.createTopic('/Tuning/kP', NetworkTablesTypeInfos.kDouble);
  await topic.publish();
  topic.setValue(0.25);
  const reader = new WebSocket(`ws://${addresses.nt4}/nt/reader`, ['v4.1.networktables.first.wpi.edu']);
  reader.binaryType = 'arraybuffer';
  atEnd(t, () => reader.close());
  const got = await new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('no value')), PATIENCE).unref();
    reader.onopen = () => reader.send(JSON.stringify([{method: 'subscribe',
      params: {topics: ['/Tuning'], subuid: 1, options: {prefix: true, periodic: 0.01}}}]));
    reader.onmessage = ({data}) => typeof data === 'string' || resolve(new Uint8Array(data));
  });
  assert.equal(got[0], 0x94);
  assert.equal(new DataView(got.buffer).getFloat64(got.length - 8), 0.25);
});

/** Writes a number as dashboards do, once the topic is known. */
async function write(client, name, number) {
  const topic = client.createTopic(name, NetworkTablesTypeInfos.kDouble);
  await topic.publish();
  topic.setValue(number);
}

test('numbers are commands where the scene allows it', {timeout: 4 * PATIENCE}, async (t) => {
  const {addresses} = await start(t, ['run', 'frc2011', '--no-web', ...set({'nt4.commands': 'on'}), ...settings]);
  const client = connect(t, addresses.nt4), watcher = connect(t, addresses.nt4, 'localhost');
  const {kDouble} = NetworkTablesTypeInfos;
  assert.equal(await value(watcher, '/Tether/commands/left_track.torque', kDouble, () => true), 0);
  await write(client, '/Tether/commands/left_track.torque', 6);
  await write(client, '/Tether/commands/right_track.torque', 6);
  assert.equal(await value(watcher, '/Tether/commands/left_track.torque', kDouble, (torque) => torque !== 0), 6);
  const from = await value(watcher, '/Tether/signals/chassis.x', kDouble, () => true);
  await value(watcher, '/Tether/signals/chassis.x', kDouble, (x) => Math.abs(x - from) > 0.1);
  hangUp(client); // who commands is gone: the command is safe again
  assert.equal(await value(watcher, '/Tether/commands/left_track.torque', kDouble, (torque) => torque !== 6), 0);
});

test('nobody commands unless the scene allows it', {timeout: 4 * PATIENCE}, async (t) => {
  const {addresses} = await start(t, ['run', 'frc2011', '--no-web', ...settings]);
  const client = connect(t, addresses.nt4);
  await write(client, '/Tether/commands/left_track.torque', 6); // a topic of its own
  await write(client, '/Tether/signals/command:left_track.torque', 6);
  const {kDouble} = NetworkTablesTypeInfos;
  const time = await value(client, '/Tether/time', kDouble, () => true);
  await value(client, '/Tether/time', kDouble, (later) => later > time + 0.3);
  assert.equal(await value(connect(t, addresses.nt4, 'localhost'), '/Tether/signals/command:left_track.torque', kDouble, () => true), 0);
});

/** One value of MessagePack at `at`: [value, where the next begins]. What NetworkTables 4 has of it. */
function unpack(bytes, at) {
  const view = new DataView(bytes.buffer, bytes.byteOffset), kind = bytes[at++];
  const sized = (size) => [bytes.subarray(at, at + size), at + size];
  if (kind < 0x80) return [kind, at];
  if (kind >= 0xe0) return [kind - 256, at];
  if (kind >= 0x90 && kind < 0xa0) {
    const list = [];
    for (let i = 0; i < (kind & 15); i++) [list[i], at] = unpack(bytes, at);
    return [list, at];
  }
  if (kind >= 0xa0 && kind < 0xc0) return sized(kind & 31);
  switch (kind) {
    case 0xc4: case 0xd9: return sized(bytes[at++]);
    case 0xc5: case 0xda: return (at += 2, sized(view.getUint16(at - 2)));
    case 0xcb: return [view.getFloat64(at), at + 8];
    case 0xcc: return [view.getUint8(at), at + 1];
    case 0xcd: return [view.getUint16(at), at + 2];
    case 0xce: return [view.getUint32(at), at + 4];
    case 0xcf: return [Number(view.getBigUint64(at)), at + 8];
    case 0xd3: return [Number(view.getBigInt64(at)), at + 8];
    default: throw new Error(`MessagePack ${kind.toString(16)}`);
  }
}

/** Stands where a robot program's server does, written after the specification, with a clock that began long ago. */
async function robotProgram(t, port = 0, protocol = 'networktables.first.wpi.edu') {
  const server = new WebSocket.Server({host: '127.0.0.1', port, handleProtocols: (offered) => offered.has(protocol) && protocol});
  const robot = {topics: new Map(), values: new Map(), server, now: () => Math.round(performance.now() * 1000) + 1e12};
  atEnd(t, () => server.close());
  server.on('connection', (socket, request) => {
    robot.path = request.url;
    robot.socket = socket;
    const named = [];
    socket.on('message', (data, binary) => {
      if (!binary) {
        for (const {method, params} of JSON.parse(data)) {
          if (method !== 'publish') continue;
          assert.ok(!robot.values.has(params.name) || robot.topics.has(params.name));
          named[params.pubuid] = params;
          robot.topics.set(params.name, params);
          socket.send(JSON.stringify([{method: 'announce', params: {...params, id: 1000 + params.pubuid}}]));
        }
        return;
      }
      for (let at = 0, message; at < data.length;) {
        [message, at] = unpack(data, at);
        const [id, time, , got] = message;
        if (id !== -1) {
          robot.values.set(named[id].name, {time, value: got});
          continue;
        }
        const answer = Buffer.alloc(21);
        answer.set([0x94, 0xff, 0xcf]);
        answer.writeBigUInt64BE(BigInt(robot.now()), 3);
        answer.set([2, 0xcf], 11);
        answer.writeBigUInt64BE(BigInt(got), 13);
        socket.send(answer);
      }
    });
  });
  await new Promise((resolve) => server.on('listening', resolve));
  robot.port = server.address().port;
  return robot;
}

/** Looks again and again until `condition()` holds. */
async function until(condition, what) {
  for (const end = Date.now() + PATIENCE; !condition();) {
    if (Date.now() > end) throw new Error(`${what} did not come about`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('a world publishes into the server of a robot program', {timeout: 6 * PATIENCE}, async (t) => {
  let robot = await robotProgram(t);
  const port = robot.port;
  robot.server.close(); // nobody is there yet
  const {addresses, said} = await start(t, ['run', 'frc2011', '--no-web', ...set({'nt4.connect': `ws://127.0.0.1:${port}`, 'nt4.commands': 'on',
    'wires.float-udp.bind': '127.0.0.1:0', 'wires.float-udp.peer': 'sender'})]);
  assert.equal(addresses.nt4, undefined); // it does not listen, and was ready all the same
  for (const round of [1, 2]) {
    robot = await robotProgram(t, port);
    await until(() => robot.values.get('/Tether/time')?.value > 0, `a value in round ${round}: ${said.join('\n')}`);
    assert.equal(robot.path, '/nt/Tether');
    const {time, value: first} = robot.values.get('/Tether/time');
    assert.ok(Math.abs(time - robot.now()) < 1e9, 'in the time of the server');
    await until(() => robot.values.get('/Tether/time').value > first, 'the next');
    await until(() => robot.values.has('/Tether/Field/Robot') && robot.values.has('/.schema/struct:Pose3d'), 'all');
    assert.equal(String(robot.values.get('/Tether/Field/.type').value), 'Field2d');
    const pose = robot.topics.get('/Tether/frc2011/Pose');
    assert.equal(pose.type, 'struct:Pose3d');
    assert.equal(robot.values.get(pose.name).value.length, 56);
    assert.deepEqual(robot.topics.get('/Tether/signals/chassis.x').properties, {unit: 'm'});
    assert.ok(!robot.topics.has('/SmartDashboard/Field/Robot') && ![...robot.topics.keys()].some((name) => name.startsWith('/FMSInfo')));
    const command = Buffer.alloc(23); // as a dashboard would by way of the robot program
    command.set([0x94, 0xcd]);
    command.writeUInt16BE(1000 + robot.topics.get('/Tether/commands/left_track.torque').pubuid, 2);
    command.writeUInt8(0xcf, 4);
    command.writeBigUInt64BE(BigInt(robot.now() + 1000), 5);
    command.set([1, 0xcb], 13);
    command.writeDoubleBE(3 * round, 15);
    robot.socket.send(command);
    await until(() => robot.values.get('/Tether/commands/left_track.torque')?.value === 3 * round, 'the command');
    robot.socket.terminate();
    robot.server.close();
  }
});

test('a kept run is shown to viewers, too', {timeout: 6 * PATIENCE}, async (t) => {
  const state = stateFolder(t), log = join(state, 'kept.wpilog');
  const run = await start(t, ['run', 'frc2011', '--no-web', '--duration', '3', '--pace', 'fast', '--record', log, ...settings], state);
  assert.equal(await run.ended, 0);
  const {addresses} = await start(t, ['replay', log, ...set({'nt4.listen': '127.0.0.1:0', 'web.listen': '127.0.0.1:0'})], state);
  const client = connect(t, addresses.nt4);
  const {kDouble, kDoubleArray} = NetworkTablesTypeInfos;
  const time = await value(client, '/Tether/time', kDouble, (time) => time > 0);
  assert.ok(time <= 3);
  assert.equal((await value(client, '/SmartDashboard/Field/Robot', kDoubleArray, () => true)).length, 3);
});

test('viewers look for the server by HTTP first', async (t) => {
  const {addresses} = await start(t, ['run', 'frc2011', '--no-web', ...settings]);
  const answer = await fetch(`http://${addresses.nt4}/`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('access-control-allow-origin'), '*');
  assert.equal((await fetch(`http://${addresses.nt4}/elsewhere`)).status, 404);
});
