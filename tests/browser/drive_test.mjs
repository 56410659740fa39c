// Driving: keys and a gamepad reach the robot, and letting go stops it.
import dgram from 'node:dgram';
import {after, test} from 'node:test';
import {assert, openBrowser, openPage, set, start, startTether, until} from './harness.mjs';

const browser = await openBrowser({after});

/** A gamepad as the browser would report it, moved by window.pad. */
const GAMEPAD = `
  window.pad = {axes: [0, 0, 0, 0], pressed: []};
  navigator.getGamepads = () => [{
    id: 'Scripted pad (STANDARD GAMEPAD)', index: 0, connected: true, mapping: 'standard', timestamp: performance.now(),
    axes: window.pad.axes,
    buttons: Array.from({length: 17}, (_, i) => ({pressed: window.pad.pressed.includes(i), touched: false, value: Number(window.pad.pressed.includes(i))})),
  }];`;

const sentOf = async (page, command) => {
  const row = page.locator('.mapping tbody tr', {has: page.locator(`select[aria-label^="Command"]`).filter({hasText: command})});
  const rows = await row.evaluateAll((all, name) => all.filter((each) => each.querySelectorAll('select')[2].value === name).map((each) => each.cells[4].textContent), command);
  return Number(rows[0]?.replace('\u2212', '-'));
};
const placeOf = (page) => page.evaluate(async () => {
  const socket = new WebSocket(`ws://${location.host}/live`);
  socket.binaryType = 'arraybuffer';
  return new Promise((resolve) => {
    let root = -1;
    socket.onmessage = ({data}) => {
      if (typeof data === 'string') {
        const message = JSON.parse(data);
        if (message.type === 'model') root = message.robots[0].root;
      } else if (new DataView(data).getUint8(0) === 1) {
        socket.close();
        resolve([0, 4].map((offset) => new DataView(data).getFloat32(24 + 28 * root + offset, true)));
      }
    };
  });
});

const xOf = async (page) => (await placeOf(page))[0];

test('keys and a gamepad drive the robot', async (t) => {
  const tether = await startTether(t, 'frc2011', {'wires.float-udp.bind': '127.0.0.1:0'});
  const {page, troubles} = await openPage(browser, tether.url, {hash: 'drive', script: GAMEPAD});
  await page.getByText('Scripted pad').waitFor();
  const start = await xOf(page);

  await t.test('W drives forward', async () => {
    await page.getByRole('button', {name: 'Start driving'}).click();
    await page.keyboard.down('KeyW');
    await until('the robot went forward', () => xOf(page), (x) => x > start + 0.1);
    await page.keyboard.up('KeyW');
    await until('the stick is let go', () => page.locator('.stick').first().getAttribute('aria-label'), (label) => /0\.00 up/.test(label));
  });

  await t.test('the left stick drives back', async () => {
    const from = await xOf(page);
    await page.evaluate(() => (window.pad.axes = [0, 1, 0, 0]));
    await until('the robot went back', () => xOf(page), (x) => x < from - 0.1);
    await page.evaluate(() => (window.pad.axes = [0, 0, 0, 0]));
  });

  await t.test('a button switches the grip', async () => {
    await page.evaluate(() => (window.pad.pressed = [1]));
    await until('grip 2', () => sentOf(page, 'grip'), (value) => value === 2);
    await page.evaluate(() => (window.pad.pressed = []));
  });

  await t.test('a scale is typed while driving', async () => {
    const scale = page.getByLabel('Scale of row 2');
    await scale.fill('');
    for (const key of '0.75') {
      await page.keyboard.press(key);
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100))); // what is sent is shown anew meanwhile
    }
    assert.equal(await scale.inputValue(), '0.75');
    await scale.press('Enter');
    assert.equal(await scale.inputValue(), '0.75');
  });

  await t.test('a finger on the screen drives too, and a mapping is remembered', async () => {
    await page.getByRole('button', {name: 'Stop driving'}).click();
    await page.getByLabel('Scale of row 1').fill('0.5');
    await page.getByLabel('Scale of row 1').press('Tab');
    await page.reload();
    await until('the scale is kept', () => page.getByLabel('Scale of row 1').inputValue(), (value) => value === '0.5');
    await page.getByRole('button', {name: 'Start driving'}).click();
    const box = await page.locator('.stick').first().boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 4);
    await until('half of full', () => page.locator('.mapping tbody tr').first().locator('td').nth(4).textContent(), (text) => Math.abs(Number(text) - 0.5) < 0.05);
    await page.mouse.up();
    await until('zero again', () => page.locator('.mapping tbody tr').first().locator('td').nth(4).textContent(), (text) => text === '0');
  });
  assert.deepEqual(troubles, []);
});

test('after a reset driving goes on from where the robot is', async (t) => {
  const tether = await startTether(t, 'concept-symmetric', {'wires.float-udp.bind': '127.0.0.1:0'});
  const {page, troubles} = await openPage(browser, tether.url, {hash: 'drive'});
  const start = await placeOf(page);
  const away = ([x, y]) => Math.hypot(x - start[0], y - start[1]);
  await page.getByRole('button', {name: 'Start driving'}).click();
  await page.keyboard.down('KeyW');
  await until('the robot went', () => placeOf(page), (place) => away(place) > 0.5);
  await page.keyboard.up('KeyW');
  await until('the stick is let go', () => page.locator('.stick').first().getAttribute('aria-label'), (label) => /0\.00 up/.test(label));
  const before = await placeOf(page);
  await page.getByRole('button', {name: 'Reset the world'}).click();
  await until('the robot is where it began', () => placeOf(page), (place) => away(place) < 0.1);
  for (let i = 0; i < 20; i++) {
    assert.ok(away(await placeOf(page)) < 0.1, `it went back to ${before}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await page.keyboard.down('KeyW');
  await until('it drives again', () => placeOf(page), (place) => away(place) > 0.2);
  await page.keyboard.up('KeyW');
  assert.deepEqual(troubles, []);
});

/** A UDP port that was free a moment ago. */
async function freePort() {
  const socket = dgram.createSocket('udp4');
  await new Promise((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const {port} = socket.address();
  await new Promise((resolve) => socket.close(resolve));
  return port;
}

test('as the joystick of a core, which drives the vehicle', async (t) => {
  const [heartbeat, vehicle] = [await freePort(), await freePort()];
  const core = await start(t, ['core', ...set({'joystick.bind': '127.0.0.1:0', 'joystick.peer': `127.0.0.1:${heartbeat}`, 'vehicle.bind': '127.0.0.1:0', 'vehicle.peer': `127.0.0.1:${vehicle}`})]);
  const tether = await startTether(t, 'sharp', {'wires.sharp-json.bind': `127.0.0.1:${vehicle}`, 'wires.sharp-json.peer': core.addresses.vehicle});
  const {page, troubles} = await openPage(browser, tether.url, {hash: 'drive'});
  await page.getByRole('radio', {name: 'Joystick of a core'}).check();
  await page.getByLabel('Address of the core').fill(core.addresses.joystick);
  await page.getByLabel('Port for the heartbeat').fill(String(heartbeat));
  await page.getByLabel('Port for the heartbeat').press('Tab');
  await page.getByRole('button', {name: 'Start driving'}).click();
  await page.getByText('core connected').waitFor();
  // Whoever gets the address sees the same choices.
  await until('the address has them', () => page.url(), (url) => url.includes('use=joystick') && url.includes(`core=${core.addresses.joystick}`) && url.includes(`heartbeat=${heartbeat}`));
  const from = await placeOf(page);
  await page.keyboard.down('KeyW');
  await until('the vehicle moves', () => placeOf(page), ([x, y]) => Math.hypot(x - from[0], y - from[1]) > 0.1);
  await page.keyboard.up('KeyW');
  await core.stop();
  await page.getByText('core disconnected').waitFor();
  assert.deepEqual(troubles, []);
});
