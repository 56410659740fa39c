// The driver station on the Drive page: what it orders is done to the robots, and joysticks reach their station.
import {after, test} from 'node:test';
import {assert, openBrowser, openPage, startTether, until} from './harness.mjs';

const browser = await openBrowser({after});

/** A gamepad as the browser would report it, moved by window.pad. */
const GAMEPAD = `
  window.pad = {axes: [0, 0, 0, 0], pressed: []};
  navigator.getGamepads = () => [{
    id: 'Scripted pad (STANDARD GAMEPAD)', index: 0, connected: true, mapping: 'standard', timestamp: performance.now(),
    axes: window.pad.axes,
    buttons: Array.from({length: 17}, (_, i) => ({pressed: window.pad.pressed.includes(i), touched: false, value: Number(window.pad.pressed.includes(i))})),
  }];`;

/** The newest status, over a stream of its own. */
const statusOf = (page) => page.evaluate(() => new Promise((resolve) => {
  const socket = new WebSocket(`ws://${location.host}/live`);
  socket.onmessage = ({data}) => {
    const message = typeof data === 'string' ? JSON.parse(data) : {};
    if (message.type !== 'status') return;
    socket.close();
    resolve(message);
  };
}));
const stationOf = async (page, robot = 0) => (await statusOf(page)).stations[robot];

test('a robot is enabled, moved to another place, stopped and released', async (t) => {
  const tether = await startTether(t, 'frc2011', {'wires.float-udp.bind': '127.0.0.1:0', 'game.start': 'disabled'});
  const {page, troubles} = await openPage(browser, tether.url, {hash: 'drive'});
  const bar = page.getByRole('group', {name: 'Driver station'});
  await bar.getByText('Disabled: teleop').waitFor();

  await t.test('a disabled robot does not drive', async () => {
    await page.getByRole('button', {name: 'Start driving'}).click();
    await page.keyboard.down('KeyW');
    await until('it is told to drive', () => page.locator('.mapping tbody tr').first().locator('td').nth(4).textContent(), (text) => text !== '0');
    assert.ok(tether.said.every((line) => !/enabled/.test(line)));
    await bar.getByRole('button', {name: 'Enable'}).click();
    await bar.getByText('Enabled: teleop').waitFor();
    await page.keyboard.up('KeyW');
    await page.getByRole('button', {name: 'Stop driving'}).click();
    assert.ok(tether.said.includes('driver-station: enabled, teleop'));
  });

  await t.test('a new mode disables', async () => {
    await bar.getByRole('radio', {name: 'Test'}).click(); // shown once the program says so
    await bar.getByText('Disabled: test').waitFor();
    assert.equal((await stationOf(page)).mode, 'test');
  });

  await t.test('place, game data and e-stop are the robot’s own', async () => {
    await page.getByRole('radio', {name: 'Driver station'}).check();
    await page.getByRole('combobox', {name: /^Place of/}).selectOption('blue2');
    await page.getByRole('textbox', {name: 'Game data'}).fill('LRL');
    await page.getByRole('button', {name: 'Send the game data'}).click();
    await page.getByRole('button', {name: 'E-stop frc2011'}).click();
    await bar.getByText('E-stop').waitFor();
    await until('all is told', () => stationOf(page), ({place, data, estop}) => place === 'blue2' && data === 'LRL' && estop);
    assert.ok(await bar.getByRole('button', {name: 'Enable'}).isDisabled());
    await page.getByRole('button', {name: /^Release the e-stop/}).click();
    await bar.getByText('Disabled: test').waitFor();
  });
  assert.deepEqual(troubles, []);
});

test('a practice match runs by simulated time, and can be ended', async (t) => {
  const times = {'game.autonomous': '2 s', 'game.pause': '1 s', 'game.teleop': '1000 s'};
  const tether = await startTether(t, 'frc2011-six', {'web.listen': '127.0.0.1:0', 'game.start': 'disabled', ...times,
    ...Object.fromEntries(['red1', 'red2', 'red3', 'blue1', 'blue2', 'blue3'].map((name) => [`wires.${name}.float-udp.bind`, '127.0.0.1:0']))});
  const {page, troubles} = await openPage(browser, tether.url, {hash: 'drive'});
  await page.getByRole('button', {name: 'Start a practice match'}).click();
  await until('it was played on its own, then driven', () => tether.said, (said) => said.some((line) => /teleop for 1000 s/.test(line)));
  const clock = page.getByLabel('Match time');
  await until('the clock runs', () => clock.textContent(), (text) => /^Teleop 16:\d\d$/.test(text));
  const {stations} = await statusOf(page);
  assert.equal(stations.length, 6);
  assert.ok(stations.every(({enabled, mode}) => enabled && mode === 'teleop'));
  await page.getByRole('button', {name: 'End the practice match'}).click();
  await until('all are disabled', () => statusOf(page), ({match, stations: all}) => match === 'none' && all.every(({enabled}) => !enabled));
  assert.ok(tether.said.includes('driver-station: all robots: disabled, teleop'));
  assert.deepEqual(troubles, []);
});

test('joysticks are plugged in where they are chosen, and unplugged when the page leaves', async (t) => {
  const tether = await startTether(t, 'frc2011', {'wires.float-udp.bind': '127.0.0.1:0'});
  const {page, context, troubles} = await openPage(browser, tether.url, {hash: 'drive', script: GAMEPAD});
  const watcher = await openPage(browser, tether.url, {hash: 'wires'});
  await page.getByRole('radio', {name: 'Driver station'}).check();
  const keyboard = page.getByRole('combobox', {name: 'Keyboard 1 is'});
  await page.getByRole('combobox', {name: 'Scripted pad is'}).waitFor();
  assert.equal(await page.getByRole('combobox', {name: 'Scripted pad is'}).inputValue(), '0/0');
  await keyboard.selectOption('0/3');
  assert.deepEqual((await stationOf(page)).sticks, []); // nobody drives yet
  await page.getByRole('button', {name: 'Start driving'}).click();
  await until('both are there', () => stationOf(page), ({sticks}) => sticks.join() === '0,3');

  await page.evaluate(() => (window.pad = {axes: [0, -0.5, 0, 0], pressed: [0, 12]}));
  await page.keyboard.down('KeyD');
  await page.getByText('+0.00 −0.50 +0.00 +0.00 +0.00 +0.00 · button 1 · POV 0°').waitFor();
  await page.getByText('+1.00 +0.00 +0.00').waitFor();
  await page.keyboard.up('KeyD');

  await keyboard.selectOption('0/0'); // the gamepad gives it up
  await until('one is left', () => stationOf(page), ({sticks}) => sticks.join() === '0');
  assert.equal(await page.getByRole('combobox', {name: 'Scripted pad is'}).inputValue(), 'off');
  await context.close();
  await until('none is left', () => stationOf(watcher.page), ({sticks}) => sticks.length === 0);
  assert.deepEqual([...troubles, ...watcher.troubles], []);
});
