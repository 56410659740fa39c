// The page says what is wrong, and comes back by itself when the program does.
import {execFileSync} from 'node:child_process';
import {after, test} from 'node:test';
import {assert, openBrowser, openPage, startTether, stateFolder, until} from './harness.mjs';

const browser = await openBrowser({after});

test('the page outlives the program', async (t) => {
  const first = await startTether(t, 'frc2011', {'wires.float-udp.bind': '127.0.0.1:0'});
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
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.routeWebSocket(/\/live/, (socket) => socket.send(JSON.stringify({type: 'hello', protocol: 99, version: '9.9'})));
  await page.goto(tether.url);
  await page.getByText('The program is another version (9.9, protocol 99)').waitFor();
  await page.getByRole('button', {name: 'Reload'}).waitFor();
});

test('a program that only collects telemetry opens on it, and asks for nothing that it has not', async (t) => {
  const state = stateFolder(t);
  const tether = await startTether(t, null, {'telemetry.listen': '127.0.0.1:0', 'telemetry.store': `sqlite:${state}/telemetry.db`}, {state, command: 'collect'});
  const {page, context, troubles} = await openPage(browser, tether.url, {connection: 'No world'});
  await page.getByText('No device has sent anything yet').waitFor();
  assert.equal(new URL(page.url()).hash, '#telemetry');
  assert.deepEqual(await page.getByRole('navigation', {name: 'Pages'}).getByRole('link').allTextContents(), ['Telemetry']);
  for (const name of ['Pause', 'Reset the world', 'E-stop']) assert.equal(await page.getByRole('button', {name}).count(), 0, name);
  await page.evaluate(() => (location.hash = 'drive'));
  await until('a page that is not there leads back', () => page.evaluate(() => location.hash), (hash) => hash === '#telemetry');
  await page.waitForResponse((answer) => answer.url().endsWith('api/access')); // it asks again whether there is a world by now
  await page.waitForResponse((answer) => answer.url().endsWith('telemetry/status'));
  assert.match(execFileSync('sh', ['-c', await page.locator('.example').textContent()], {encoding: 'utf8'}), /"stored":1/);
  await page.getByRole('link', {name: 'ROBO1'}).waitFor();
  assert.deepEqual(troubles, []);
  await context.close();
});

test('what cannot be fetched is told, and comes by itself once it can', async (t) => {
  const state = stateFolder(t);
  const tether = await startTether(t, 'frc2011', {'wires.float-udp.bind': '127.0.0.1:0', 'telemetry.listen': '127.0.0.1:0', 'telemetry.store': `sqlite:${state}/telemetry.db`}, {state});
  const {page} = await openPage(browser, tether.url, {hash: 'runs'});
  const failures = {
    runs: {url: '**/api/runs', answer: (route) => route.fulfill({status: 500, json: {error: 'disk I/O error'}}), says: 'No runs: disk I/O error', then: '.run-card'},
    telemetry: {url: '**/telemetry/devices', answer: (route) => route.fulfill({status: 503, body: 'busy'}), says: 'No telemetry: the program answered 503', then: '.tile'},
    trials: {url: '**/api/trials', answer: (route) => route.abort(), says: 'No trials: the program cannot be reached', then: '.empty:has-text("No trials yet")'},
  };
  for (const [hash, {url, answer, says, then}] of Object.entries(failures)) {
    await page.goto('about:blank');
    await page.route(url, answer);
    await page.goto(`${tether.url}#${hash}`);
    if (hash === 'trials') await page.getByRole('radio', {name: 'Results'}).check();
    await page.getByText(says).waitFor();
    await page.getByRole('button', {name: 'Try again'}).waitFor();
    await page.unroute(url);
    // The page may try again by itself first, and the button is gone: what counts is what comes.
    if (hash === 'trials') await page.getByRole('button', {name: 'Try again'}).click({timeout: 2000}).catch(() => {});
    await page.locator(then).first().waitFor();
  }

  await t.test('a page and the picture whose script does not come', async () => {
    await page.goto('about:blank');
    await page.route(/\/(others|view3d)[^/]*\.js/, (route) => route.abort());
    await page.goto(`${tether.url}#world`);
    await page.getByText('The picture could not be loaded').waitFor();
    await page.evaluate(() => (location.hash = 'runs'));
    await page.getByText('This page could not be loaded').waitFor();
    await page.unroute(/\/(others|view3d)[^/]*\.js/);
    await page.getByRole('button', {name: 'Reload'}).click();
    await page.locator('.run-card').first().waitFor();
    await page.evaluate(() => (location.hash = 'world'));
    await page.locator('.canvas[data-ready]').waitFor();
  });
});
