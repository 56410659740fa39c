// The page Sweeps: 100,000 rows sorted, filtered, drawn and selected in all views at once, from an address; rows as they come; runs in 3D.
import {execFileSync} from 'node:child_process';
import {readdirSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {assert, openBrowser, openPage, program, root, start, startTether, stateFolder, until} from './harness.mjs';
import {addRows, makeSweep} from './sweep.mjs';

const WIRE = {'wires.float-udp.bind': '127.0.0.1:0', 'record.on': 'false'};

const title = (page) => page.locator('.sweep-table h2');
const cell = (page, row, column) => page.locator(`.grid tr[aria-rowindex="${row + 2}"] td:nth-child(${column})`).textContent();

async function showRows(t, {browser, tether}) {
  const {page, context, troubles} = await openPage(browser, tether.url, {hash: 'sweeps?z=payload', width: 1280, height: 860});
  const plane = page.locator('.sweep-chart .u-over');
  await until('all rows are told', () => title(page).textContent(), (text) => text === '100\u202f000 runs');
  await plane.waitFor();
  await until('an address without a sweep means the newest', () => page.evaluate(() => location.hash), (text) => text === '#sweeps?z=payload&sweep=gains');

  await t.test('is sorted, scrolled to its end, and filtered', async () => {
    const column = page.locator('.grid th', {hasText: 'final_y'});
    const ascending = /sort=final_y(&|$)/;
    const late = new Promise((resolve) => void page.route(ascending, resolve));
    await column.getByRole('button').click();
    await column.getByRole('button').click();
    assert.equal(await column.getAttribute('aria-sort'), 'descending');
    await until('the greatest comes first', () => cell(page, 0, 1), (text) => text === '89812');
    const answered = page.waitForResponse(ascending);
    await (await late).continue();
    await (await answered).finished();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 0)))));
    assert.equal(await cell(page, 0, 1), '89812', 'an answer that comes late changes nothing');
    await page.unroute(ascending);
    await page.locator('.grid').evaluate((grid) => (grid.scrollTop = grid.scrollHeight));
    await until('what has no value comes last', () => cell(page, 99999, 2), (text) => text === 'diverged');
    await page.getByRole('button', {name: 'Add a filter or a selection'}).click();
    await page.getByLabel('Column').focus();
    await page.keyboard.press('Escape');
    await page.locator('.condition-form').waitFor({state: 'detached'});
    assert.ok(await page.getByRole('button', {name: 'Add a filter or a selection'}).evaluate((button) => document.activeElement === button), 'the focus is where it came from');
    await page.keyboard.press('Enter');
    await page.getByLabel('Column').selectOption('status');
    await page.getByLabel('Condition').selectOption('other');
    await page.getByLabel('Text').fill('ok');
    await page.getByRole('button', {name: 'Apply'}).click();
    await until('failures only', () => title(page).textContent(), (text) => text === '202 runs');
    await page.getByRole('button', {name: 'Remove: status is not ok'}).click();
    await until('all again', () => title(page).textContent(), (text) => text === '100\u202f000 runs');
  });

  await t.test('what is dragged over is selected in every view, and the address holds it', async () => {
    await until('the chart is there', () => plane.boundingBox(), Boolean);
    const box = await plane.boundingBox();
    await page.mouse.move(box.x + 0.7 * box.width, box.y + 0.1 * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.95 * box.width, box.y + 0.5 * box.height, {steps: 3});
    await page.mouse.up();
    const selected = await until('some are selected', () => title(page).textContent(), (text) => /runs selected$/.test(text) && !text.startsWith('100'));
    const chips = page.getByRole('list', {name: 'Selection'}).getByRole('listitem');
    assert.equal(await chips.count(), 2);
    for (const [name, label] of [['Heat map', /^Heat map: mean of payload/], ['Parallel', /^Parallel coordinates of heading, gain/], ['Histogram', /^Histogram of final_y/]]) {
      await page.getByRole('radio', {name}).check();
      await page.getByRole('img', {name: label}).waitFor();
      assert.equal(await title(page).textContent(), selected, name);
    }
    await page.getByRole('radio', {name: 'Points'}).check();
    await until('repeats are one row', () => title(page).textContent(), (text) => / points selected$/.test(text));
    assert.match(await cell(page, 0, 5), / ± /);
    const hash = await until('the address says it', () => page.evaluate(() => location.hash), (text) => text.includes('table=points'));
    assert.match(hash, /z=payload&sweep=gains&sort=-final_y&select=final_y:.*&select=top_speed:.*&view=histogram&table=points$/);
    const points = await title(page).textContent();
    await page.reload();
    await until('a reload changes nothing', () => title(page).textContent(), (text) => text === points);
    assert.equal(await page.evaluate(() => location.hash), hash);
    await page.getByRole('img', {name: /^Histogram of final_y/}).waitFor();
    await page.getByRole('button', {name: 'Clear the selection'}).click();
    await until('all again', () => title(page).textContent(), (text) => text === '5\u202f000 points');
  });

  await t.test('a brush on an axis of parallel coordinates selects', async () => {
    await page.getByRole('radio', {name: 'Parallel'}).check();
    await page.getByRole('radio', {name: 'Runs', exact: true}).check();
    const box = await until('it has its place', () => page.locator('.parallel canvas').boundingBox(), (found) => found?.height > 100 && found.width > 800);
    const x = box.x + 64 + (box.width - 128) / 6; // the second axis: gain
    await page.mouse.move(x, box.y + box.height - 26);
    await page.mouse.down();
    await page.mouse.move(x, box.y + box.height - 60, {steps: 3});
    await page.mouse.up();
    await until('small gains', () => page.getByRole('list', {name: 'Selection'}).textContent(), (text) => /^gain 0\.\d+ – /.test(text));
    await page.getByRole('button', {name: 'Only these: the selection becomes a filter'}).click();
    await page.getByRole('list', {name: 'Filters'}).waitFor();
    await until('others are left out', () => title(page).textContent(), (text) => /^\d+\u202f000 runs$/.test(text) && !text.startsWith('100'));
  });

  assert.deepEqual(troubles, []);
  await context.close();
}

async function follow(t, {browser, tether, state}) {
  const table = makeSweep(state, 400, 'growing');
  const {page, context, troubles} = await openPage(browser, tether.url, {hash: 'sweeps/growing?view=histogram'});
  const progress = page.locator('.sweep-progress');

  await t.test('the page follows', async () => {
    await until('how many there are', () => progress.textContent(), (text) => text.startsWith('400 of 100\u202f000 runs'));
    addRows(table, 250);
    await until('and more', () => progress.textContent(), (text) => text.startsWith('650 of'));
    await page.getByRole('img', {name: 'Histogram of final_y'}).waitFor();
    await until('in the table, too', () => title(page).textContent(), (text) => text === '650 runs');
    assert.deepEqual(troubles, []);
  });

  await t.test('a run whose plan is gone is told of', async () => {
    await page.getByRole('button', {name: 'Show run 4 in 3D'}).click();
    await until('there is no such plan', () => page.getByRole('alert').textContent(), (text) => text.startsWith('It can’t be shown: '));
    await page.getByRole('button', {name: 'Dismiss'}).click();
  });
  await context.close();
}

const PLAN = `
scene: concept-symmetric
duration: 1 s
axes:
  - {name: x, set: robots.concept-symmetric.x, value: [2 m, 3 m]}
  - {name: unused, range: [0, 1], count: COUNT}
metrics:
  - {name: final_x, signal: chassis.x, measure: final}
keep: {best: 1, metric: final_x, order: greatest}
`;

/** Writes a plan of 2 × count runs; returns its path. */
function writePlan(state, name, count) {
  const path = join(state, `${name}.yaml`);
  writeFileSync(path, PLAN.replace('COUNT', String(count)));
  return path;
}

/** A sweep that was made: one run's log was kept, another's is made again, and they race. Returns where. */
async function showInReplay(t, {browser, tether, state}) {
  execFileSync(program, ['sweep', writePlan(state, 'places', 2), '--quiet'], {cwd: root, stdio: ['ignore', 'ignore', 'inherit'], env: {...process.env, XDG_STATE_HOME: state}});
  const {page, context} = await openPage(browser, tether.url, {hash: 'sweeps'});
  await page.getByRole('combobox', {name: 'Sweep'}).selectOption('places');
  await until('all are there', () => title(page).textContent(), (text) => text === '4 runs');
  await page.getByRole('button', {name: 'final_x m'}).click();
  await page.getByRole('button', {name: 'final_x m'}).click();
  await until('the greatest first', () => cell(page, 0, 5), (text) => text.startsWith('3'));
  const best = await cell(page, 0, 1);
  for (const run of [best, '0']) await page.getByRole('button', {name: run, exact: true}).click();
  const hash = await until('the address says it', () => page.evaluate(() => location.hash), (text) => /row=.*row=/.test(text));
  assert.match(hash, /^#sweeps\?sweep=places-[0-9a-f]{8}&sort=-final_x&row=[0-9a-f]{32}&row=[0-9a-f]{32}$/);
  const logs = join(state, 'tether/sweeps/runs');
  for (let i = 0; i < 60; i++) writeFileSync(join(logs, `${'f'.repeat(30)}${10 + i}.wpilog`), 'of an earlier show');
  await page.getByRole('button', {name: 'Race them in 3D'}).click();
  await page.getByRole('list', {name: 'Phantoms'}).getByText('concept-symmetric').waitFor();
  assert.notEqual(new URL(page.url()).origin, new URL(tether.url).origin);
  assert.equal(await page.getByRole('slider', {name: 'Time of the run'}).count(), 1, 'a replay');
  const replay = new URL(page.url()).origin;
  const links = new URLSearchParams(hash.split('?')[1]).getAll('row').map((run) => statSync(join(logs, `${run}.wpilog`)).nlink);
  assert.deepEqual(links, [2, 1], 'the best was kept, the other made again');
  assert.equal(readdirSync(logs).filter((name) => name.endsWith('.wpilog')).length, 50, 'old logs made room');
  await page.goBack();
  await until('back where it was', () => page.evaluate(() => location.hash), (text) => text === hash);
  await page.getByRole('button', {name: 'Race them in 3D'}).waitFor();
  await context.close();
  return replay;
}

/** Pages of sweeps alone. */
async function withoutWorld(t, {browser, state}) {
  const alone = await start(t, ['sweep', '--web=127.0.0.1:0'], state);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${alone.addresses.web}/`);
  await page.getByRole('combobox', {name: 'Sweep'}).waitFor();
  await page.getByRole('status', {name: 'Connection: No world'}).waitFor();
  await context.close();
}

test('sweeps', async (t) => {
  const state = stateFolder(t);
  makeSweep(state);
  const [tether, browser] = await Promise.all([startTether(t, 'concept-symmetric', WIRE, {state}), openBrowser(t, {webgl: false})]);
  await t.test('a table of 100,000 rows', (t) => showRows(t, {browser, tether}));
  await t.test('rows as they come', (t) => follow(t, {browser, tether, state}));
  let replay;
  await t.test('a kept run and one that is made again race in a replay', async (t) => (replay = await showInReplay(t, {browser, tether, state})));
  await t.test('pages without a world', (t) => withoutWorld(t, {browser, state}));
  await t.test('a replay ends with the program, however that ends', async () => {
    assert.ok((await fetch(`${replay}/api/runs`)).ok);
    process.kill(tether.pid, 'SIGKILL');
    await until('it is gone', () => fetch(`${replay}/api/runs`).then(() => false, () => true));
  });
});
