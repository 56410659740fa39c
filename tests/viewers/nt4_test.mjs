// nt4_test.mjs: an independent client of NetworkTables reads a running world, and publishes to another.
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import test from 'node:test';
import {PATIENCE, root, set, start, stateFolder} from '../browser/harness.mjs';

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

function connect(t, address) {
  const tables = NetworkTables.getInstanceByURI('127.0.0.1', Number(address.split(':').at(-1)));
  t.after(() => { // it would come back for ever
    tables.client.messenger.socket.stopAutoConnect();
    tables.client.messenger.socket.close();
  });
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

test('what one client publishes another reads', {timeout: 4 * PATIENCE}, async (t) => {
  const {addresses} = await start(t, ['run', 'frc2011', '--no-web', ...settings]);
  const client = connect(t, addresses.nt4);
  const topic = client.createTopic('/Tuning/kP', NetworkTablesTypeInfos.kDouble);
  await topic.publish();
  topic.setValue(0.25);
  const reader = new WebSocket(`ws://${addresses.nt4}/nt/reader`, ['v4.1.networktables.first.wpi.edu']);
  reader.binaryType = 'arraybuffer';
  t.after(() => reader.close());
  const got = await new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('no value')), PATIENCE).unref();
    reader.onopen = () => reader.send(JSON.stringify([{method: 'subscribe',
      params: {topics: ['/Tuning'], subuid: 1, options: {prefix: true, periodic: 0.01}}}]));
    reader.onmessage = ({data}) => typeof data === 'string' || resolve(new Uint8Array(data));
  });
  assert.equal(got[0], 0x94);
  assert.equal(new DataView(got.buffer).getFloat64(got.length - 8), 0.25);
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
