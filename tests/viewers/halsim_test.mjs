// halsim_test.mjs: WPILib's own package for HALSim's WebSocket stands at the program's end, as server and as client.
import assert from 'node:assert/strict';
import {once} from 'node:events';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import test from 'node:test';
import {atEnd, PATIENCE, root, set, start} from '../browser/harness.mjs';

const require = createRequire(join(root, 'web/'));
const {WPILibWebSocketClient, WPILibWebSocketServer} = require('@wpilib/node-wpilib-ws');

/** Resolves with the first payload of `event` that `good` holds for. */
function told(peer, event, good) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${event}: nothing such was told`)), PATIENCE);
    peer.on(event, (...told) => {
      if (!good(...told)) return;
      clearTimeout(late);
      resolve(told);
    });
  });
}

/** A program that makes an encoder on channels 0 and 1 and drives until that has counted. */
async function drive(peer) {
  const enabled = told(peer, 'driverStationEvent', (data) => data['>enabled'] === true && data['>new_data'] === true);
  const counted = told(peer, 'encoderEvent', (channel, data) => channel === 2 && data['>count'] > 1440);
  peer.encoderUpdateToWpilib(2, {'<init': true, '<channel_a': 0, '<channel_b': 1});
  peer.pwmUpdateToWpilib(0, {'<speed': 0.5});
  peer.pwmUpdateToWpilib(1, {'<speed': 0.5});
  const [station] = await enabled;
  assert.equal(station['>station'], 'red1');
  assert.equal(station['>autonomous'], false);
  const [, encoder] = await counted;
  assert.ok(Number.isInteger(encoder['>count']));
  assert.ok(!('>period' in encoder) || encoder['>period'] < 0.01);
}

test('a program that listens', {timeout: 4 * PATIENCE}, async (t) => {
  const program = new WPILibWebSocketServer({});
  program._httpServer.listen(0, '127.0.0.1'); // start() would listen on every address
  await once(program._httpServer, 'listening');
  atEnd(t, () => {
    program._activeSocket?.terminate();
    program.stop();
  });
  const come = once(program, 'openConnection');
  const {port} = program._httpServer.address();
  await start(t, ['run', 'sharp-wpilib', '--no-web', ...set({'wires.halsim-ws.connect': `ws://127.0.0.1:${port}/wpilibws`})]);
  await come;
  await drive(program);
});

test('a program that connects', {timeout: 4 * PATIENCE}, async (t) => {
  const {addresses} = await start(t, ['run', 'sharp-wpilib', '--no-web', ...set({'wires.halsim-ws.listen': '127.0.0.1:0'})]);
  const [host, port] = addresses['halsim-ws'].split('/')[0].split(':');
  const program = new WPILibWebSocketClient({hostname: host, port: Number(port)});
  atEnd(t, () => program._ws.terminate());
  program.start();
  await once(program, 'openConnection');
  await drive(program);
});
