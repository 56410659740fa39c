// Trials from begin to end: started by the first motion, stopped by a condition or by hand, stored, compared.
import dgram from 'node:dgram';
import {once} from 'node:events';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {assert, atEnd, openBrowser, openPage, startTether, stateFolder, until} from './harness.mjs';

/** A folder of data with a scene that loads, but whose port is taken. */
async function takenScene(t, state) {
  const socket = dgram.createSocket('udp4').bind(0, '127.0.0.1');
  atEnd(t, () => socket.close());
  await once(socket, 'listening');
  mkdirSync(join(state, 'scenes'));
  writeFileSync(
    join(state, 'scenes/taken.yaml'),
    `timestep: 1/500 s\nio_period: 10 ms\nrobots:\n  - {robot: frc2011}\nwires:\n` +
      `  - float-udp: {bind: 127.0.0.1:0, sensors: [time], commands: [stamp]}\n` +
      `  - float-udp: {name: other, bind: 127.0.0.1:${socket.address().port}, sensors: [time], commands: [stamp]}\n`,
  );
  process.env.TETHER_DATA = state;
}

/** The first motion since the last reset, s of the run, and s until the robot is beyond `end` m, as the log of the present run has it. */
async function measure(url, end) {
  const get = async (path) => (await fetch(`${url}api/runs${path}`)).json();
  const {id} = (await get('')).find((run) => run.recording);
  return until('the log has it', async () => {
    const {events} = await get(`/${id}`);
    const reset = events.findLast(({text}) => text === 'reset').time;
    const {time, values} = await get(`/${id}/signals?name=chassis.x&points=20000`);
    const from = time.findLastIndex((at) => at <= reset);
    const moved = time.findIndex((at, i) => i > from && Math.abs(values[0][i] - values[0][from]) > 0.01);
    const there = values[0].findIndex((x, i) => i > from && x > end);
    return {id, from: time[moved], seconds: moved > 0 && there > 0 ? time[there] - time[moved] : NaN};
  }, ({seconds}) => Number.isFinite(seconds));
}

test('a trial is run to its end, stored and compared', async (t) => {
  const state = stateFolder(t);
  await takenScene(t, state);
  const tether = await startTether(t, 'concept-symmetric', {'wires.float-udp.bind': '127.0.0.1:0'}, {state});
  const browser = await openBrowser(t);
  const {page, troubles} = await openPage(browser, tether.url, {hash: 'trials'});
  let measured;

  await t.test('first motion starts it, a condition stops it', async () => {
    await page.getByText('Who drives? Give a name first.').waitFor();
    assert.ok(await page.getByRole('button', {name: 'Begin'}).isDisabled());
    await page.getByPlaceholder('Who drives?').fill('Ada');
    await page.getByRole('radio', {name: 'A condition'}).check();
    await page.getByText('When does the clock stop? Add a condition first.').waitFor();
    await page.getByRole('button', {name: 'Add a condition'}).click();
    await page.getByLabel('Signal of condition 1').fill('chassis.x');
    await page.getByLabel('Comparison of condition 1').selectOption('>');
    const value = page.getByLabel('Value of condition 1');
    await value.fill('');
    await value.pressSequentially('-1.05'); // whose first half is a number, too
    assert.equal(await value.inputValue(), '-1.05');
    await value.fill('2.5');
    await page.getByRole('button', {name: 'Begin'}).click();
    await page.getByText('waiting for the first motion').waitFor();
    await page.getByRole('button', {name: 'Drive from here'}).click();
    await page.keyboard.down('KeyW');
    await page.getByText(/^stored as trial/).waitFor();
    await page.keyboard.up('KeyW');
    measured = await measure(tether.url, 2.5);
    await page.getByRole('button', {name: 'Stop driving'}).click();
  });

  await t.test('by hand', async () => {
    await page.getByRole('radio', {name: 'By hand'}).first().check();
    await page.getByRole('radio', {name: 'By hand'}).last().check();
    await page.getByRole('button', {name: 'Next trial'}).click();
    await page.getByRole('button', {name: 'Stop', exact: true}).click();
    await page.getByText(/^stored as trial/).waitFor();
  });

  const stored = await (await fetch(`${tether.url}api/trials`)).json();
  assert.equal(stored.length, 2);
  assert.deepEqual([stored[0].driver, stored[0].scene, stored[0].startedBy, stored[0].stoppedBy], ['Ada', 'concept-symmetric', 'motion', 'condition']);
  // Its time is the world's, whatever kept the page waiting.
  assert.ok(Math.abs(stored[0].time - measured.seconds) < 1e-6, `${stored[0].time} s, but ${measured.seconds} s in the log`);
  assert.equal(stored[0].recording, measured.id);
  assert.ok(Math.abs(stored[0].begin - measured.from) < 1e-3, `began at ${stored[0].begin} s of the run, but moved at ${measured.from} s`);
  assert.deepEqual([stored[1].startedBy, stored[1].stoppedBy], ['hand', 'hand']);

  await t.test('the comparison counts what was not discarded', async () => {
    await page.getByRole('radio', {name: 'Results'}).check();
    const count = page.locator('.comparison tbody td').nth(1);
    await until('two trials', () => count.textContent(), (text) => text === '2');
    const counts = page.getByRole('checkbox', {name: 'Trial 2 counts'});
    let answer;
    await page.route('**/api/trials/2', async (route) => {
      await new Promise((resolve) => (answer = resolve));
      await route.continue();
    });
    await counts.uncheck();
    await until('the program is asked', () => answer);
    await page.getByRole('radio', {name: 'Drivers'}).check({force: true}); // draws the list anew
    await page.getByRole('radio', {name: 'Concepts'}).check({force: true});
    assert.equal(await counts.isChecked(), false, 'what was chosen stays until the program has it');
    answer();
    await until('one trial', () => count.textContent(), (text) => text === '1');
    await until('the program knows', async () => (await (await fetch(`${tether.url}api/trials`)).json())[1].discarded);
  });
  await t.test('its recording is a click away', async () => {
    await page.getByRole('link', {name: 'Watch trial 1'}).click();
    await page.locator('.canvas[data-ready]').waitFor();
    const shown = new URLSearchParams((await page.evaluate(() => location.hash)).replace(/.*\?/, ''));
    assert.deepEqual([shown.get('run'), Number(shown.get('t')).toFixed(2)], [measured.id, Math.max(0, measured.from - 1).toFixed(2)]);
    await page.getByRole('button', {name: /live/i}).click();
    await page.getByRole('link', {name: 'Trials'}).click();
    await page.getByRole('radio', {name: 'Results'}).waitFor();
  });
  assert.deepEqual(troubles, []);

  await t.test('another concept is chosen, and the page follows', async () => {
    await page.getByRole('radio', {name: 'Trial', exact: true}).check();
    // Whatever stands over the page meanwhile: it does not say that the program ended.
    await page.evaluate(() => {
      window.said = new Set();
      new MutationObserver(() => document.querySelectorAll('.banner').forEach((banner) => window.said.add(banner.textContent))).observe(document.body, {childList: true, subtree: true, characterData: true});
    });
    await page.getByLabel('Concept', {exact: true}).selectOption('concept-turnaround');
    await until('the other concept runs', () => page.locator('.scene h1').textContent(), (name) => name === 'concept-turnaround');
    await page.locator('.canvas[data-ready]').waitFor();
    assert.deepEqual((await page.evaluate(() => [...window.said])).filter((text) => text !== 'concept-turnaround begins…'), []);
    const refused = await fetch(`${tether.url}api/scenes`, {method: 'POST', body: JSON.stringify({name: '../../etc/passwd'}), headers: {'Content-Type': 'application/json'}});
    assert.equal(refused.status, 404);
  });

  await t.test('one that cannot be opened is refused in words, and the present one goes on', async () => {
    await page.getByLabel('Concept', {exact: true}).selectOption('taken');
    await page.getByRole('alert').filter({hasText: 'taken could not be opened, so concept-turnaround began anew'}).filter({hasText: 'port in use'}).waitFor();
    await page.locator('.notice.error').filter({hasText: 'taken could not be opened, so concept-turnaround began anew'}).filter({hasText: 'port in use'}).waitFor();
    await page.getByRole('status', {name: 'Connection: Live'}).waitFor();
    await until('the world runs', () => page.locator('.figure-value').first().textContent(), (text) => /^0:\d/.test(text));
    await page.route('**/api/scenes', (route) => route.request().method() === 'POST' ? route.fulfill({status: 503, json: {error: 'another scene is just beginning; try again'}}) : route.continue());
    await page.getByLabel('Concept', {exact: true}).selectOption('concept-symmetric');
    await page.getByText('concept-symmetric: another scene is just beginning').waitFor();
    await until('the choice is back', () => page.getByLabel('Concept', {exact: true}).inputValue(), (name) => name === 'concept-turnaround');
  });
});
