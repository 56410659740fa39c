// The page says what is wrong, and comes back by itself when the program does.
import {test} from 'node:test';
import {assert, openBrowser, openPage, startTether, stateFolder, until} from './harness.mjs';

test('the page outlives the program', async (t) => {
  const first = await startTether(t, 'frc2011', {'wires.float-udp.bind': '127.0.0.1:0'});
  const browser = await openBrowser(t);
  const {page} = await openPage(browser, first.url);
  await page.locator('.canvas[data-ready]').waitFor();
  await first.stop();
  await page.getByText('The program ended or cannot be reached').waitFor();
  assert.equal(await page.getByRole('button', {name: 'Pause'}).isDisabled(), true);
  await startTether(t, 'gripper', {'web.listen': new URL(first.url).host, 'wires.lockstep-tcp.listen': '127.0.0.1:0'});
  await page.getByRole('status', {name: 'Connection: Live'}).waitFor();
  await until('it shows the other scene', () => page.locator('.scene h1').textContent(), (name) => name === 'gripper');
  await page.locator('.canvas[data-ready]').waitFor();
});

test('a program of another version is told from a broken one', async (t) => {
  const tether = await startTether(t, 'frc2011', {'wires.float-udp.bind': '127.0.0.1:0'});
  const browser = await openBrowser(t);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.routeWebSocket(/\/live/, (socket) => socket.send(JSON.stringify({type: 'hello', protocol: 99, version: '9.9'})));
  await page.goto(tether.url);
  await page.getByText('The program is another version (9.9, protocol 99)').waitFor();
  await page.getByRole('button', {name: 'Reload'}).waitFor();
});

test('a program that only collects telemetry shows it', async (t) => {
  const state = stateFolder(t);
  const tether = await startTether(t, null, {'telemetry.listen': '127.0.0.1:0', 'telemetry.store': `sqlite:${state}/telemetry.db`}, {state, command: 'collect'});
  const browser = await openBrowser(t);
  const page = await browser.newPage();
  await page.goto(tether.url);
  await page.getByText('This program collects telemetry').waitFor();
  await page.getByRole('link', {name: 'To the telemetry'}).click();
  await page.getByText('No device has sent anything yet').waitFor();
});
