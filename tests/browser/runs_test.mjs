// Kept runs: listed, plotted one over another, raced, and shown again with a time line.
import {execFileSync} from 'node:child_process';
import {join} from 'node:path';
import {test} from 'node:test';
import {assert, countPixels, openBrowser, openPage, program, root, set, startTether, stateFolder, until} from './harness.mjs';

const WIRE = {'wires.float-udp.bind': '127.0.0.1:0'};

/** A run of `seconds`, kept as `name` in the folder that the pages list; the robot stands at x, m. */
function record(state, name, seconds, x = 1.8) {
  const folder = join(state, 'tether/runs');
  execFileSync('mkdir', ['-p', folder]);
  const log = join(folder, `${name}.wpilog`);
  execFileSync(program, ['run', 'concept-symmetric', '--pace', 'fast', '--duration', String(seconds), '--record', log, '--no-web', ...set({...WIRE, 'robots.concept-symmetric.x': `${x} m`})], {
    cwd: root,
    env: {...process.env, XDG_STATE_HOME: state},
    stdio: 'ignore',
  });
  return log;
}

const timeOf = (page) => page.getByRole('slider', {name: 'Time of the run'}).inputValue().then(Number);

test('kept runs', async (t) => {
  const state = stateFolder(t);
  const log = record(state, '2026-01-01T10-00-00 first', 20, 2.9);
  record(state, '2026-01-02T10-00-00 second', 10);
  const browser = await openBrowser(t);

  await t.test('two are plotted one over the other, and one is raced', async (t) => {
    const tether = await startTether(t, 'concept-symmetric', {...WIRE, 'record.on': 'false'}, {state});
    const {page, context, troubles} = await openPage(browser, tether.url, {hash: 'runs'});
    const cards = page.getByRole('navigation', {name: 'Runs'}).getByRole('button');
    await until('both are listed', () => cards.count(), (count) => count === 2);
    await cards.last().click();
    await page.locator('summary', {hasText: 'Signals'}).click();
    await page.getByRole('searchbox', {name: 'Search signals of this run'}).fill('chassis.x');
    await page.getByRole('checkbox', {name: 'chassis.x', exact: true}).check();
    await page.locator('summary', {hasText: 'Signals'}).click();
    const asked = [];
    page.on('response', (answer) => answer.url().includes('/signals?') && answer.ok() && asked.push(decodeURIComponent(answer.url())));
    await page.getByLabel('over it').selectOption({index: 1});
    await until('the other run is plotted too', () => asked.some((url) => url.includes('second')));

    await page.getByRole('button', {name: 'Race this one'}).click();
    const gap = page.getByRole('list', {name: 'Phantoms'}).locator('b');
    await until('the gap is told in time and distance', () => gap.textContent(), (text) => /\d s · .*\d m/.test(text));

    // It stands beside the robot and shines through: its red mixes with the grey of the floor.
    await page.getByRole('radio', {name: 'Follow'}).check();
    const count = async (colour) => countPixels(context, await page.locator('.canvas').screenshot(), colour);
    const mixed = () => count({r: [85, 150], g: [35, 75], b: [38, 85]});
    const solid = () => count({r: [150, 256], g: [0, 60], b: [0, 60]});
    await until('the phantom is seen', mixed, (pixels) => pixels > 4000);
    const red = await solid();
    await page.getByRole('button', {name: 'Remove concept-symmetric'}).click();
    await until('and gone', mixed, (pixels) => pixels < 3000);
    assert.ok(Math.abs((await solid()) - red) < 0.2 * red, 'nothing solid went with it');
    assert.deepEqual(troubles, []);
    await context.close();
  });

  await t.test('one is shown again, and its time line moved', async (t) => {
    const tether = await startTether(t, log, {}, {state, command: 'replay'});
    const {page, context, troubles} = await openPage(browser, tether.url);
    await page.locator('.canvas[data-ready]').waitFor();
    await until('it plays', () => timeOf(page), (time) => time > 0.1);
    await page.getByRole('button', {name: 'Pause'}).click();
    await page.getByRole('button', {name: 'Resume'}).waitFor();
    await page.getByRole('slider', {name: 'Time of the run'}).fill('12.5');
    await until('the world is there', () => page.locator('.figure-value').first().textContent(), (text) => text.startsWith('0:12.5'));
    await page.getByRole('slider', {name: 'Time of the run'}).fill('3');
    await until('and back', () => page.locator('.figure-value').first().textContent(), (text) => text.startsWith('0:03.0'));
    assert.deepEqual(troubles, []);
    await context.close();
  });
});
