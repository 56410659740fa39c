// A plotted value is, bit for bit, what a wire's client received.
import dgram from 'node:dgram';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {assert, openBrowser, openPage, plot, startTether, until} from './harness.mjs';

/** Sensors of scenes/frc2011.yaml, in their order. */
const SENSORS = ['time', 'left_wheel.position', 'right_wheel.position', 'arm.position', 'wrist.position', 'left_wheel.velocity', 'right_wheel.velocity', 'arm.velocity'];

test('what a plot exports is what the wire sent', async (t) => {
  const socket = dgram.createSocket('udp4');
  t.after(() => socket.close());
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const received = new Map(); // time, as a float, -> all floats
  socket.on('message', (bytes) => {
    const floats = Array.from({length: bytes.length / 4}, (_, i) => bytes.readFloatLE(4 * i));
    received.set(floats[0], floats);
  });
  const tether = await startTether(t, 'frc2011', {
    'wires.float-udp.bind': '127.0.0.1:0',
    'wires.float-udp.peer': `127.0.0.1:${socket.address().port}`,
  });
  const browser = await openBrowser(t);
  const {page, troubles} = await openPage(browser, tether.url, {hash: 'signals'});
  const names = ['arm.position', 'arm.velocity', 'left_wheel.position'];
  await plot(page, names);
  const before = received.size;
  await until('a second of samples has come', () => received.size - before, (count) => count > 100);
  await page.getByRole('button', {name: 'Freeze'}).click();

  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', {name: 'What is shown as CSV'}).click()]);
  const lines = readFileSync(await download.path(), 'utf8').trim().split('\r\n');
  const header = lines[0].split(',').map((cell) => cell.replace(/ \[.*/, ''));
  assert.deepEqual(header, ['time', ...names]);
  let compared = 0;
  for (const line of lines.slice(1)) {
    const cells = line.split(',');
    const sent = received.get(Math.fround(Number(cells[0])));
    if (!sent) continue;
    names.forEach((name, i) => {
      if (cells[i + 1] === '') return;
      assert.equal(Math.fround(Number(cells[i + 1])), sent[SENSORS.indexOf(name)], `${name} at ${cells[0]}`);
      compared++;
    });
  }
  t.diagnostic(`${compared} values of ${lines.length - 1} samples compared`);
  assert.ok(compared > 100);

  const [picture] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', {name: 'What is shown as PNG'}).click()]);
  assert.equal(readFileSync(await picture.path()).subarray(1, 4).toString(), 'PNG');

  await t.test('a bad message is shown field by field', async () => {
    const [host, port] = tether.addresses['float-udp'].split(':');
    const bytes = Buffer.alloc(24);
    bytes.writeFloatLE(NaN, 12);
    socket.send(bytes, Number(port), host);
    await page.evaluate(() => (location.hash = 'wires'));
    const wrong = page.locator('.panel.bad tr.wrong');
    await until('the wrong field stands out', () => wrong.locator('td').allTextContents(), (cells) => cells.join() === '12,00 00 c0 7f,arm.torque (wrong),nan,in·lbf');
    await page.locator('.monitor .fields td', {hasText: 'left_wheel.position'}).waitFor();
    await page.evaluate(() => (location.hash = 'signals'));
  });

  await t.test('the tree is worked with keys alone', async () => {
    await page.getByRole('searchbox', {name: 'Search signals'}).fill('wrist.velocity');
    const leaf = page.locator('[data-signal="wrist.velocity"]');
    await leaf.focus();
    await page.keyboard.press('Enter');
    await until('it is plotted', () => page.locator('.legend-name', {hasText: 'wrist.velocity'}).count(), (count) => count === 1);
    await page.keyboard.press('Enter');
    await until('it is not', () => page.locator('.legend-name', {hasText: 'wrist.velocity'}).count(), (count) => count === 0);
  });
  assert.deepEqual(troubles, []);
});
