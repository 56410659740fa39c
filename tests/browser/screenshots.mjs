// screenshots.mjs: pictures of every page for people, from the real program with the demonstrating driver: script/screenshots.
import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {atEnd, openBrowser, openPage, plot, program, root, startTether, stateFolder} from './harness.mjs';

const images = join(root, 'docs/images');
mkdirSync(images, {recursive: true});
/** Even on a machine without a graphics card. */
const BEST = "localStorage.setItem('tether.quality', '\"best\"')";

async function shoot(page, name, ms = 2500) {
  await page.waitForTimeout(ms);
  await page.screenshot({path: join(images, `${name}.png`)});
}

function startDriver(t) {
  const child = spawn('python3', ['-u', join(root, 'clients/python/frc2011_driver.py')], {stdio: 'ignore'});
  atEnd(t, () => child.kill());
}

async function storeTrials(url) {
  const seconds = {'concept-symmetric': [41.2, 38.9, 44.6, 40.1, 37.7, 46.3], 'concept-turnaround': [47.9, 52.3, 45.8, 49.4, 55.1, 46.6]};
  for (const [scene, times] of Object.entries(seconds)) {
    for (const [i, time] of times.entries()) {
      const trial = {started: new Date(Date.now() - 6e5 * (6 - i)).toISOString(), scene, driver: ['Ada', 'Grace'][i % 2], time, startedBy: 'motion', stoppedBy: 'hand', condition: '', note: '', discarded: false};
      await fetch(`${url}api/trials`, {method: 'POST', body: JSON.stringify(trial), headers: {'Content-Type': 'application/json', Origin: url.replace(/\/$/, '')}});
    }
  }
}

test('the pages with the demo', async (t) => {
  const tether = await startTether(t, 'frc2011');
  startDriver(t);
  const browser = await openBrowser(t);
  const open = (hash, more = {}) => openPage(browser, tether.url, {hash, script: BEST, calm: false, ...more});

  const world = await open('world');
  await world.page.locator('.canvas[data-ready]').waitFor();
  await shoot(world.page, 'world', 9000);
  await world.page.getByRole('radio', {name: 'Follow'}).check();
  await world.page.getByRole('button', {name: 'Overlays'}).click();
  await world.page.getByLabel('Contacts and forces').check();
  await world.page.getByLabel('Trails').check();
  await shoot(world.page, 'world-overlays', 6000);
  await world.context.close();

  const signals = await open('signals');
  await plot(signals.page, ['arm.position', 'wrist.position']);
  await signals.page.getByRole('button', {name: 'Add a plot'}).click();
  await plot(signals.page, ['left_wheel.velocity', 'right_wheel.velocity']);
  await signals.page.getByRole('searchbox', {name: 'Search signals'}).fill('arm');
  await shoot(signals.page, 'signals', 15000);
  await signals.context.close();

  const wires = await open('wires');
  await shoot(wires.page, 'wires', 4000);
  await wires.context.close();

  const drive = await open('drive', {theme: 'light'});
  await drive.page.locator('.canvas[data-ready]').waitFor();
  await shoot(drive.page, 'drive', 4000);
  await drive.context.close();

  const runs = await open('runs');
  await runs.page.locator('summary', {hasText: 'Signals'}).click();
  for (const name of ['arm.position', 'chassis.x']) {
    await runs.page.getByRole('searchbox', {name: 'Search signals of this run'}).fill(name);
    await runs.page.getByRole('checkbox', {name, exact: true}).check();
  }
  await runs.page.locator('summary', {hasText: 'Signals'}).click();
  await shoot(runs.page, 'runs');
  await runs.context.close();

  const phone = await open('drive', {width: 390, height: 844, phone: true});
  await phone.page.locator('.canvas[data-ready]').waitFor();
  await shoot(phone.page, 'phone', 4000);
  await phone.context.close();
});

test('trials', async (t) => {
  const tether = await startTether(t, 'concept-symmetric', {'wires.float-udp.bind': '127.0.0.1:0'});
  await storeTrials(tether.url);
  const browser = await openBrowser(t);
  const {page} = await openPage(browser, tether.url, {hash: 'trials', theme: 'light', script: BEST, calm: false});
  await page.getByRole('radio', {name: 'Results'}).check();
  await shoot(page, 'trials');
});

const PLAN = `
scene: sharp
duration: 3 s
controller: {lua: control.lua}
sampling: sobol
samples: 512
axes:
  - {name: heading, set: robots.sharp.heading, range: [0 deg, 90 deg]}
  - {name: gain, range: [0.1, 1.5]}
  - {name: mass, set: models.sharp.bodies.chassis.mass, range: [20 kg, 60 kg]}
metrics:
  - {name: final_y, signal: chassis.y, measure: final}
  - {name: top_speed, signal: chassis.vy, measure: greatest}
  - {name: settled, signal: chassis.heading, measure: settling_time, target: 90 deg, band: 5 deg}
  - {name: work, measure: energy, robot: sharp}
`;
/** Drives ahead, and turns towards 90°. */
const CONTROL = `
function control(read, write)
  local turn = read("gain") * (math.pi / 2 - read("chassis.heading"))
  local function limited(duty) return math.max(-1, math.min(1, duty)) end
  write("left_drive.duty", limited(0.5 - turn))
  write("right_drive.duty", limited(0.5 + turn))
end
`;

test('sweeps', async (t) => {
  const state = stateFolder(t);
  writeFileSync(join(state, 'turn.yaml'), PLAN);
  writeFileSync(join(state, 'control.lua'), CONTROL);
  execFileSync(program, ['sweep', join(state, 'turn.yaml'), '--quiet'], {cwd: root, env: {...process.env, XDG_STATE_HOME: state}});
  const tether = await startTether(t, 'sharp', {'wires.sharp-json.bind': '127.0.0.1:0', 'record.on': 'false'}, {state});
  const browser = await openBrowser(t);
  const {page} = await openPage(browser, tether.url, {hash: 'sweeps?view=parallel&z=settled&select=settled:..2&sort=-work', width: 1440, height: 860, script: BEST, calm: false});
  await page.locator('.grid .link').first().click();
  await page.locator('.grid .link').nth(9).click();
  await shoot(page, 'sweeps', 3000);
});

test('telemetry', async (t) => {
  const state = stateFolder(t);
  const tether = await startTether(t, 'robocar', {'telemetry.listen': '127.0.0.1:0', 'telemetry.store': `sqlite:${join(state, 'telemetry.db')}`}, {state});
  const browser = await openBrowser(t);
  const {page} = await openPage(browser, tether.url, {hash: 'telemetry', script: BEST, calm: false});
  await shoot(page, 'telemetry', 6000);
});
