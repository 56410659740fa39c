// Kept runs: found, compared, raced, named, verified, saved, brought and deleted; and shown again with a time line.
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, test} from 'node:test';
import {recordArm} from './arm.mjs';
import {assert, countPixels, openBrowser, openPage, PATIENCE, plot, program, root, set, shownValue, startTether, stateFolder, until} from './harness.mjs';

const browser = await openBrowser({after});
const WIRE = {'wires.float-udp.bind': '127.0.0.1:0'};

/** A run of `seconds` of a practice match, kept as `name` in the folder that the pages list; the robot stands at x, m. */
function record(state, name, seconds, x = 1.8) {
  const folder = join(state, 'tether/runs');
  execFileSync('mkdir', ['-p', folder]);
  const log = join(folder, `${name}.wpilog`);
  execFileSync(program, ['run', 'concept-symmetric', '--pace', 'fast', '--duration', String(seconds), '--record', log, '--no-web', '--match', ...set({...WIRE, 'robots.concept-symmetric.x': `${x} m`})], {
    cwd: root,
    env: {...process.env, XDG_STATE_HOME: state},
    stdio: 'ignore',
  });
  return log;
}

/** A zone where it is noon: no day ends while a test runs. Its sign is the opposite of the usual one. */
function zoneAtNoon() {
  const hours = new Date().getUTCHours() - 12;
  return `Etc/GMT${hours < 0 ? '' : '+'}${hours}`;
}

const timeOf = (page) => page.getByRole('slider', {name: 'Time of the run'}).inputValue().then(Number);

/** What the legend says of each run: its name, the value at the end, the least and the greatest. */
async function legend(page, signal) {
  const rows = page.getByRole('group', {name: `Values of ${signal}`}).locator('tbody tr');
  const texts = await Promise.all((await rows.all()).map((row) => row.locator('td').allTextContents()));
  return texts.map(([name, end, least, greatest]) => ({name: name.trim(), end: number(end), least: number(least), greatest: number(greatest)}));
}
const number = (text) => Number(text.replace('\u2212', '-'));

/** One plots it over the runs that are shown. */
async function plotSignal(page, name) {
  await page.locator('summary', {hasText: 'Signals'}).click();
  await page.getByRole('searchbox', {name: 'Search signals of this run'}).fill(name);
  await page.getByRole('checkbox', {name, exact: true}).check();
  await page.locator('summary', {hasText: 'Signals'}).click();
}

test('yesterday’s run in which the arm overshot is found, and raced', async (t) => {
  const state = stateFolder(t);
  await recordArm(t, state, '2026-01-01T10-00-00-gripper', {days: 2, peak: 1.3});
  await recordArm(t, state, '2026-01-02T10-00-00-gripper', {days: 1});
  await recordArm(t, state, '2026-01-02T11-00-00,gripper', {days: 1, peak: 1.3, wait: 1});
  const tether = await startTether(t, 'gripper', {'wires.lockstep-tcp.listen': '127.0.0.1:0', 'record.on': 'false'}, {state});
  const {page, troubles} = await openPage(browser, tether.url, {hash: 'runs', timezone: zoneAtNoon()});
  const boxes = page.getByRole('checkbox', {name: /^Compare gripper/});
  await until('all are listed', () => boxes.count(), (count) => count === 3);
  await page.getByRole('combobox', {name: 'When'}).selectOption({label: 'Yesterday'});
  await until('those of yesterday are', () => boxes.count(), (count) => count === 2);
  for (const box of await boxes.all()) await box.check();
  await page.getByRole('heading', {name: '2 runs compared'}).waitFor();
  // On a phone everything that is said and done of each is in sight, also of one with a long name.
  await page.setViewportSize({width: 360, height: 740});
  const [{id: long}] = await (await fetch(`${tether.url}api/runs`)).json();
  const rename = (name) => fetch(`${tether.url}api/runs/${encodeURIComponent(long)}`, {method: 'PUT', body: JSON.stringify({name})});
  assert.ok((await rename('gripper: practice match 3, new intake, battery 7, driver Ann')).ok);
  await page.getByRole('checkbox', {name: 'Differences'}).or(page.getByRole('switch', {name: 'Differences'})).check();
  const compared = page.getByRole('list', {name: 'Runs that are compared'});
  await compared.getByText('driver Ann').waitFor();
  const edges = await compared.locator('button, label').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right));
  assert.ok(edges.length === 4 && Math.max(...edges) <= 360, edges.join(' '));
  assert.ok((await rename('')).ok);
  await page.getByRole('checkbox', {name: 'Differences'}).or(page.getByRole('switch', {name: 'Differences'})).uncheck();
  await page.setViewportSize({width: 1280, height: 720});
  // What the program is too busy for is asked for again.
  await page.route(/\/signals\?/, (route) => route.fulfill({status: 503, json: {error: 'too many long answers at the same time; try again'}}), {times: 1});
  await plotSignal(page, 'swivel.position');
  const [over, good] = await until('both are drawn', () => legend(page, 'swivel.position'), (rows) => rows.length === 2);
  assert.ok(over.greatest > 1.25 && good.greatest < 1.02 && Math.abs(over.end - good.end) < 0.02, 'the legend tells which went too far');

  // From their starts they are a second apart; from the first motion on alike, until one goes on.
  await page.getByRole('checkbox', {name: 'Differences'}).or(page.getByRole('switch', {name: 'Differences'})).check();
  await page.getByRole('radio', {name: /^Measure against gripper/}).last().check();
  await until('one is measured by the other', () => legend(page, 'swivel.position'), (rows) => rows.length === 1 && rows[0].least < -0.4);
  await page.getByRole('combobox', {name: '0 s is'}).selectOption({label: 'the first motion'});
  await until('only the overshoot is left', () => legend(page, 'swivel.position'), ([row]) => row?.least > -0.1 && row.greatest > 0.25);

  // Whoever gets the address sees the same.
  await until('the address has it', () => page.evaluate(() => location.hash), (hash) => /align=motion/.test(hash) && /difference/.test(hash));
  // Pictures of runs may take long. They come two at a time, and hold up nothing.
  await page.getByRole('combobox', {name: 'When'}).selectOption('');
  await until('all are listed', () => boxes.count(), (count) => count === 3);
  const pictures = () => page.locator('.run-picture').evaluateAll((all) => all.filter((image) => image.naturalWidth > 0).length);
  await until('with their pictures', pictures, (count) => count === 3);
  await until('the address has it', () => page.evaluate(() => location.hash), (hash) => !/when=/.test(hash));
  const held = [];
  await page.route(/\/picture/, (route) => held.push(route));
  await page.reload();
  await until('it is there again', () => legend(page, 'swivel.position'), ([row]) => row?.least > -0.1 && row.greatest > 0.25);
  await until('two of three pictures are asked for', () => new Set(held.map((route) => route.request().url())).size, (count) => count === 2);
  await page.unroute(/\/picture/);
  for (const route of held.splice(0)) await route.continue().catch(() => {}); // its picture may be gone
  await until('all are there', pictures, (count) => count === 3);

  await page.getByRole('group', {name: 'Values of swivel.position'}).getByRole('button').click();
  await page.getByRole('textbox', {name: 'Name of this run'}).waitFor();
  await page.getByRole('button', {name: 'Race it'}).click();
  await page.getByRole('list', {name: 'Phantoms'}).locator('b').waitFor();
  assert.deepEqual(troubles.filter((text) => !/status of 503/.test(text)), []);
});

/** While the program goes on with another world, nobody answers for a moment. */
const BETWEEN_WORLDS = /^failed: |^Failed to load resource: net::ERR_CONNECTION_RE(FUSED|SET)/;

/** From a moment of the run that is looked at a new one goes on, at another pace, and verifies. */
async function forkHere(t, page, tether) {
  await page.goto(`${tether.url}#runs`);
  const cards = page.getByRole('navigation', {name: 'Runs'}).locator('.run-card');
  await cards.filter({hasText: 'at rest'}).click();
  await page.getByRole('button', {name: 'Replay'}).click();
  await until('it plays', () => timeOf(page), (time) => time > 0.1);
  await page.getByRole('button', {name: 'Hold the recording'}).click();
  await page.getByRole('button', {name: 'Play the recording'}).waitFor(); // a busy browser takes the click later, and played on from there
  await page.getByRole('slider', {name: 'Time of the run'}).fill('1.5');
  await page.getByRole('button', {name: /^A new run from this moment/}).click();
  const dialog = page.getByRole('dialog', {name: 'A new run from 0:01.500'});
  await dialog.getByRole('textbox', {name: 'Setting'}).fill('pace');
  await dialog.getByRole('textbox', {name: 'Value'}).fill('realtime');
  await dialog.getByRole('button', {name: 'Begin the new run'}).click();
  await page.getByText(/^A new run begins where Symmetric, at rest was at 0:01\.500/).waitFor({timeout: 4 * PATIENCE}); // what runs the inputs again is less urgent than anything
  await page.getByRole('button', {name: 'LIVE', exact: true}).waitFor();
  await until('what was recorded fast goes on in real time', () => page.getByRole('combobox', {name: 'Speed factor'}).isEnabled());
  await until('from there', () => timeOf(page), (time) => time > 1.5);
  assert.ok(!page.url().includes('run='), page.url());

  // The library tells where it comes from. Once it has ended, it verifies.
  await page.goto(`${tether.url}#runs`);
  await until('both are listed beside the first', () => cards.count(), (count) => count === 3);
  await cards.first().click();
  const family = page.locator('.run-family');
  await until('it has a parent', () => family.textContent().catch(() => ''), (text) => text === 'Goes on from Symmetric, at rest at 0:01.500');
  assert.equal((await fetch(`${tether.url}api/scenes`, {method: 'POST', body: JSON.stringify({name: 'concept-symmetric'})})).status, 202);
  const verify = page.getByRole('button', {name: 'Verify'});
  await until('it is whole', () => page.locator('.run-head').textContent(), (text) => text.includes('ended'));
  await verify.click();
  await page.getByRole('status', {name: 'Verification'}).getByText('Verified: the same inputs give the same run, bit for bit').waitFor();
  await family.getByRole('button', {name: 'Symmetric, at rest'}).click();
  await until('and the parent has it as its fork', () => family.textContent().catch(() => ''), (text) => text.includes('Others go on from it: concept-symmetric from 0:01.500'));
  await page.goto(`${tether.url}#world`);
}

test('a run is opened, named, found, verified, saved, shown again and deleted', async (t) => {
  const state = stateFolder(t);
  const log = record(state, '2026-01-01T10-00-00-one', 3);
  const tether = await startTether(t, 'concept-symmetric', WIRE);
  const {page, troubles} = await openPage(browser, tether.url, {hash: 'runs'});
  const cards = page.getByRole('navigation', {name: 'Runs'}).locator('.run-card');
  await until('the present run is listed', () => cards.count(), (count) => count === 1);

  // Dropped anywhere on the page.
  const files = await page.evaluateHandle((bytes) => {
    const made = new DataTransfer();
    made.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], '2026-01-01T10-00-00-one.wpilog'));
    return made;
  }, readFileSync(log).toString('base64'));
  await page.locator('.runs-page').dispatchEvent('drop', {dataTransfer: files});
  await until('it is listed', () => cards.count(), (count) => count === 2);

  const name = page.getByRole('textbox', {name: 'Name of this run'});
  await name.fill('Symmetric, at rest');
  await name.press('Enter');
  await page.getByRole('textbox', {name: 'Add a tag'}).fill('baseline');
  await page.getByRole('textbox', {name: 'Add a tag'}).press('Enter');
  await page.getByRole('listitem').filter({hasText: 'baseline'}).first().waitFor();
  await page.getByRole('textbox', {name: 'Note'}).fill('Nothing moved.');
  await page.getByRole('textbox', {name: 'Note'}).blur();
  await until('the list has it', () => cards.allTextContents(), (texts) => texts.some((text) => /Symmetric, at rest.*baseline/.test(text)));
  // A tag that is being typed as its tab is closed is kept, too.
  const closed = await page.context().newPage();
  await closed.goto(page.url());
  await closed.getByRole('textbox', {name: 'Add a tag'}).fill('typed');
  await closed.close({runBeforeUnload: true});
  await until('it has come', () => cards.allTextContents(), (texts) => texts.some((text) => /Symmetric, at rest.*baseline.*typed/.test(text)));
  for (const words of ['at rest', 'BASELINE', 'nothing moved']) {
    await page.getByRole('searchbox', {name: 'Search runs'}).fill(words);
    await until(`found by ${words}`, () => cards.count(), (count) => count === 1);
  }
  await page.getByRole('searchbox', {name: 'Search runs'}).fill('no such words');
  await page.getByRole('button', {name: 'Show all'}).click();
  await until('all again', () => cards.count(), (count) => count === 2);

  await page.getByRole('button', {name: 'Verify'}).click();
  const answer = page.getByRole('status', {name: 'Verification'});
  await answer.getByText('Verified: the same inputs give the same run, bit for bit').waitFor();
  assert.match(await answer.textContent(), /all \d+ are those that were written.*\d+ state hashes.*Covered:/);

  for (const [label, begins] of [['Tether’s log (.wpilog)', 'WPILOG'], ['MCAP', '\x89MCAP'], ['CSV', 'log time']]) {
    await page.getByLabel('Save as a file').click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', {name: label, exact: true}).click()]);
    assert.equal(readFileSync(await download.path(), 'latin1').slice(0, begins.length), begins);
    if (label.startsWith('Tether')) assert.deepEqual(readFileSync(await download.path()), readFileSync(log));
    await page.keyboard.press('Escape');
  }

  // In the same program, and back to live.
  await page.getByRole('button', {name: 'Replay'}).click();
  await until('the address has the run', () => page.evaluate(() => location.hash), (hash) => /^#world\?.*run=/.test(hash));
  await until('it plays', () => page.getByRole('slider', {name: 'Time of the run'}).inputValue().then(Number), (time) => time > 0.2);
  await page.getByRole('button', {name: /live/i}).click();
  await until('back to live', () => page.evaluate(() => location.hash), (hash) => !hash.includes('run='));
  await forkHere(t, page, tether);

  await page.goto(`${tether.url}#runs`);
  await cards.filter({hasText: 'at rest'}).click();
  await page.getByRole('button', {name: /^Pin/}).click();
  await page.getByRole('button', {name: 'It is pinned: unpin it first'}).waitFor();
  assert.ok(await page.getByRole('button', {name: 'It is pinned: unpin it first'}).isDisabled());
  await page.getByRole('button', {name: 'Unpin', exact: true}).click();
  await page.getByRole('button', {name: 'Delete', exact: true}).click();
  await page.getByRole('button', {name: 'Delete it'}).click();
  await until('it is gone', () => cards.count(), (count) => count === 3); // the first, its fork, and what was begun then

  // Its address says so, and leads on.
  await page.evaluate(() => (location.hash = 'world?run=2026-01-01T10-00-00-one.wpilog'));
  await page.getByText('There is no kept run 2026-01-01T10-00-00-one.wpilog here').waitFor();
  assert.equal(await page.getByText('Loading the world').count(), 0);
  await page.getByRole('button', {name: 'Show what is LIVE'}).click();
  await until('the world is shown', () => page.getByText('There is no kept run').count(), (count) => count === 0);

  // So does the page of runs, which shows no other in its place.
  const GONE = '2026-01-01T10-00-00-one.wpilog';
  const [{id: kept}] = await (await fetch(`${tether.url}api/runs`)).json();
  await page.evaluate((hash) => (location.hash = hash), `runs?runs=${kept},${GONE}`);
  await page.getByRole('list', {name: 'Runs that are compared'}).getByRole('listitem').filter({hasText: GONE}).getByText('not kept here').waitFor();
  await page.evaluate((hash) => (location.hash = hash), `runs?id=${GONE}`);
  await page.getByRole('heading', {name: `There is no kept run ${GONE} here`}).waitFor();
  assert.equal(await page.getByRole('textbox', {name: 'Note'}).count(), 0);
  await page.getByRole('button', {name: 'Show another'}).click();
  await until('the address has it no more', () => page.url(), (url) => !url.includes(GONE));

  // What is being written as somebody else deletes its run can still be copied.
  const {id: brought} = await (await fetch(`${tether.url}api/runs?name=another.wpilog`, {method: 'POST', body: readFileSync(log)})).json();
  await page.evaluate((hash) => (location.hash = hash), `runs?id=${brought}`);
  await page.getByRole('textbox', {name: 'Note'}).fill('half a note');
  assert.ok((await fetch(`${tether.url}api/runs/${brought}`, {method: 'DELETE'})).ok);
  await page.getByRole('heading', {name: `There is no kept run ${brought} here`}).waitFor();
  assert.equal(await page.getByRole('textbox', {name: 'Note, not saved:'}).inputValue(), 'half a note');
  await page.getByRole('button', {name: 'Throw that away, and show another run'}).click();
  await page.getByRole('textbox', {name: 'Name of this run'}).waitFor();

  // The log of another program is plotted; what can't be done with it is said.
  await page.getByLabel('Open a log').setInputFiles({name: 'practice.wpilog', mimeType: 'application/octet-stream', buffer: readFileSync(join(root, 'src/record/foreign_seeds/good'))});
  await page.locator('.run-foreign', {hasText: /Recorded by AdvantageKit\..* Left out: 1 entry of other types \(struct:Pose2d\)\./}).waitFor();
  for (const refused of await page.getByRole('button', {name: 'Its log has no model and no inputs: another program wrote it'}).all()) assert.ok(await refused.isDisabled());
  await page.getByRole('button', {name: 'Plot its signals'}).click();
  await plot(page, ['Arm/angle']);
  await until('it is played to its end, where its last value is', () => shownValue(page, 'Arm/angle'), (value) => value === -0.25);
  assert.equal(await page.getByText('Fork here').count(), 0);
  await page.getByRole('link', {name: 'World'}).click();
  await page.getByText('Another program recorded this run').waitFor();
  assert.deepEqual(troubles.filter((text) => !BETWEEN_WORLDS.test(text) && !/status of 404/.test(text)), []);
});

test('kept runs', async (t) => {
  const state = stateFolder(t);
  const log = record(state, '2026-01-01T10-00-00 first', 20, 2.9);
  record(state, '2026-01-02T10-00-00 second', 10);

  await t.test('one is raced', async (t) => {
    const tether = await startTether(t, 'concept-symmetric', {...WIRE, 'record.on': 'false'}, {state});
    const {page, context, troubles} = await openPage(browser, tether.url, {hash: 'runs'});
    const cards = page.getByRole('navigation', {name: 'Runs'}).locator('.run-card');
    await until('both are listed', () => cards.count(), (count) => count === 2);
    await cards.last().click();
    await page.getByRole('button', {name: 'Race it'}).click();
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

    // What is plotted is what the log has, also of what was not played.
    await page.keyboard.press('2');
    await plot(page, ['chassis.x']);
    const shown = async () => {
      const [table] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', {name: 'What is shown as CSV'}).click()]);
      return readFileSync(await table.path(), 'utf8').trim().split('\r\n').slice(1).map((line) => line.split(',').map(Number));
    };
    // Stretches come one after the other, first as the least and greatest of their parts.
    const gaps = (rows) => rows.filter(([time, x], i) => i > 0 && (x === 0 || time - rows[i - 1][0] >= 0.011));
    const stretch = async () => {
      const rows = await shown();
      return {rows: rows.length, gaps: gaps(rows)};
    };
    await until('the stretch around the moment is there, without a gap', stretch, ({rows, gaps}) => rows > 1500 && !gaps.length);
    assert.deepEqual(troubles, []);
    await context.close();
  });

  await t.test('its time line is looked at closer, by wheel, keys and fingers', async (t) => {
    const tether = await startTether(t, 'concept-symmetric', {...WIRE, 'record.on': 'false'}, {state});
    const run = encodeURIComponent('2026-01-01T10-00-00 first.wpilog');
    const {page, context, troubles} = await openPage(browser, tether.url, {hash: `wires?run=${run}&t=5`, width: 844, height: 390, phone: true});
    const slider = page.getByRole('slider', {name: 'Time of the run'});
    await until('the run is known', () => slider.getAttribute('max'), (max) => Math.round(max) === 20);
    const shown = () => slider.evaluate(({min, max}) => [Number(min), Number(max)]);
    const {x, y, width, height} = await slider.boundingBox();
    const at = (part) => [x + part * width, y + height / 2];
    await page.mouse.move(...at(0.25));
    await page.mouse.wheel(0, -600);
    const [from, to] = await until('the wheel takes one closer', shown, ([from, to]) => to - from < 5);
    assert.ok(Math.abs(from + 0.25 * (to - from) - 5) < 0.1, 'around the pointer');
    assert.ok(Math.abs((await timeOf(page)) - 5) < 1e-3, 'the moment stays');
    await page.mouse.wheel(200, 0);
    await until('along', shown, ([begin, end]) => begin > from + 0.1 && Math.abs(end - begin - (to - from)) < 0.01);
    const seen = await shown();
    const stretch = (url) => /[?&]bar=([\d.]+),[\d.]+/.exec(url)?.[1];
    await until('the address has it', () => page.url(), (url) => Math.abs(Number(stretch(url)) - seen[0]) < 0.02);
    await page.reload();
    await until('a reload changes nothing', shown, ([begin, end]) => Math.abs(begin - seen[0]) < 0.02 && Math.abs(end - seen[1]) < 0.02);

    await page.keyboard.press(']'); // to the mode that begins at 15 s
    await until('the stretch goes where the hand goes', shown, ([begin, end]) => begin <= 15 && end >= 15);
    await page.keyboard.press('-');
    await until('a key takes one farther', shown, ([begin, end]) => end - begin > 1.9 * (to - from));
    await page.getByRole('button', {name: 'Show the whole run'}).click();
    await until('the whole run', shown, ([begin, end]) => begin === 0 && end > 19.9);
    await page.keyboard.press('+');
    await until('closer', shown, ([begin, end]) => end - begin < 11);
    await slider.dblclick();
    await until('a double click shows the whole run', shown, ([begin, end]) => begin === 0 && end > 19.9);

    const before = await timeOf(page);
    const touch = await context.newCDPSession(page);
    const fingers = (type, ...parts) => touch.send('Input.dispatchTouchEvent', {type, touchPoints: parts.map((part, id) => ({x: at(part)[0], y: at(part)[1], id}))});
    await fingers('touchStart', 0.4);
    await fingers('touchStart', 0.4, 0.6);
    for (const apart of [0.15, 0.2, 0.25, 0.3, 0.35, 0.4]) await fingers('touchMove', 0.5 - apart, 0.5 + apart);
    await fingers('touchEnd');
    const [least, most] = await until('two fingers take one closer', shown, ([begin, end]) => end - begin < 5.5);
    assert.ok(Math.abs((least + most) / 2 - 10) < 1, `around what is between them: ${least} … ${most}`);
    assert.ok(Math.abs((await timeOf(page)) - before) < 0.01, 'and move nothing else');
    await page.goto(`${tether.url}#wires?run=${run}&t=2&bar=1,3`);
    await until('an address from somebody else', shown, ([begin, end]) => begin === 1 && end === 3);
    assert.deepEqual(troubles, []);
    await context.close();
  });

  await t.test('one is played beside the world, forwards, backwards, in a loop', async (t) => {
    const tether = await startTether(t, 'concept-symmetric', {...WIRE, 'record.on': 'false'}, {state});
    const {page, context, troubles} = await openPage(browser, tether.url, {hash: `world?run=${encodeURIComponent('2026-01-01T10-00-00 first.wpilog')}&t=4`});
    await page.locator('.canvas[data-ready]').waitFor();
    await until('the moment of the address', () => timeOf(page), (time) => time === 4);
    // The bands of the match: 15 s of autonomous, a pause of 3 s, teleop.
    const bands = page.locator('.timebar-bands i');
    assert.deepEqual(await bands.evaluateAll((all) => all.map((band) => [band.className, Math.round(Number.parseFloat(band.style.left))])), [['mode-autonomous', 0], ['mode-disabled', 75], ['mode-teleop', 90]]);
    const moves = async (what, holds) => {
      let last = await timeOf(page);
      await until(what, async () => {
        const [before, now] = [last, (last = await timeOf(page))];
        return now - before;
      }, holds);
    };
    await page.keyboard.press('l');
    await moves('it is played', (step) => step > 0);
    await page.keyboard.press('j');
    await moves('and backwards', (step) => step < 0);
    await page.keyboard.press('k');
    const rest = await timeOf(page);
    await page.keyboard.press('Shift+ArrowRight');
    await until('ten seconds on', () => timeOf(page), (time) => Math.abs(time - rest - 10) < 0.01);
    await page.keyboard.press('ArrowLeft');
    await until('one back', () => timeOf(page), (time) => Math.abs(time - rest - 9) < 0.01);
    await page.keyboard.press('b');
    const flag = page.locator('.flag.bookmark');
    await flag.waitFor();
    await page.getByRole('textbox', {name: 'Name of this bookmark'}).fill('before the turn');
    await page.getByRole('textbox', {name: 'Name of this bookmark'}).press('Enter');
    await until('the flag tells its name', () => flag.getAttribute('title'), (title) => title?.includes('before the turn'));
    await page.keyboard.press('Home');
    await flag.click();
    await until('the bookmark leads back', () => timeOf(page), (time) => Math.abs(time - rest - 9) < 0.01);
    // Whoever gets the address, or reloads, sees the same.
    await until('the address has it', () => page.url(), (url) => Math.abs(Number(/[?&]t=([\d.]+)/.exec(url)?.[1]) - rest - 9) < 0.01);
    await page.reload();
    await page.locator('.canvas[data-ready]').waitFor();
    await until('the same moment', () => timeOf(page), (time) => Math.abs(time - rest - 9) < 0.01);
    await until('and the bookmark', () => flag.count(), (count) => count === 1);
    await page.getByRole('button', {name: 'Loop'}).click();
    await page.getByRole('combobox', {name: 'Speed of the recording'}).selectOption('10');
    await page.getByRole('button', {name: 'Play the recording'}).click();
    await moves('after its end it begins again', (step) => step < -5);
    await page.getByRole('button', {name: 'Back to LIVE'}).click();
    await page.getByRole('button', {name: 'LIVE', exact: true}).waitFor();
    await until('nothing of it is left in the address', () => page.url(), (url) => !url.includes('run='));
    assert.deepEqual(troubles, []);
    await context.close();
  });
});
