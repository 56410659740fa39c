// Devices as tiles; one of them over clock time, its table and its files, whole; names and handling edited in place; markup in a name
// stays text.
import {readFileSync} from 'node:fs';
import {after, test} from 'node:test';
import {join} from 'node:path';
import {assert, atEnd, openBrowser, openPage, startTether, stateFolder, until} from './harness.mjs';

const browser = await openBrowser({after});
const MARKUP = '<img src=x onerror=alert(1)> & "Co"';

test('names are edited in place and found in the XML', async (t) => {
  const state = stateFolder(t);
  const tether = await startTether(t, 'robocar', {'wires.sharp-json.bind': '127.0.0.1:0', 'telemetry.listen': '127.0.0.1:0', 'telemetry.store': `sqlite:${join(state, 'telemetry.db')}`}, {state});
  const {page, troubles} = await openPage(browser, tether.url, {hash: 'telemetry'});
  await page.getByRole('radio', {name: 'Names and handling'}).check();
  const device = page.getByRole('textbox', {name: /^Name of /}).first();
  await device.fill(MARKUP);
  await device.press('Enter');
  const attribute = page.locator('.attributes').getByRole('textbox', {name: 'Name of State.left_drive.position', exact: true});
  await attribute.fill('Speed <b>');
  await attribute.press('Enter');
  const xml = await until('the names are in the XML', async () => (await fetch(`${tether.url}telemetry.xml?from=-60%20s`)).text(), (text) => text.includes('&lt;img') && text.includes('Speed &lt;b'));
  assert.ok(!xml.includes('<img'));
  await page.getByRole('radio', {name: 'Devices', exact: true}).check();
  await page.locator('.tile-name', {hasText: MARKUP}).waitFor();
  await page.locator('.tile dt', {hasText: 'Speed <b>'}).first().waitFor();
  await post(tether.url, "<MESSAGE id='left,right\\' time='1'><Odd time='0'><d n='17.25'/></Odd></MESSAGE>");
  const odd = page.locator('.tile', {hasText: 'left,right\\'});
  await odd.locator('dd', {hasText: '17.25'}).waitFor();
  assert.equal(await page.locator('main img').count(), 0);
  await t.test('handling too, and a wrong number is refused', async () => {
    await page.getByRole('radio', {name: 'Names and handling'}).check();
    const first = await page.getByRole('textbox', {name: /^Scale of /}).first().getAttribute('aria-label');
    const attribute = first.replace('Scale of ', ''); // the list grows while robots send
    const scale = page.getByRole('textbox', {name: first, exact: true});
    const stored = async () => (await (await fetch(`${tether.url}telemetry/attributes`)).json()).find((each) => each.attribute === attribute).scale;
    await scale.fill('2.5');
    await scale.press('Enter');
    await until('the program has it', stored, (value) => value === 2.5);
    await scale.fill('nonsense');
    await scale.press('Enter');
    await page.getByText("'nonsense' is no number").waitFor();
    await until('the old value is back', () => scale.inputValue(), (value) => value === '2.5');
  });
  await t.test('what nothing is stored of can be removed, one by one and all together', async () => {
    const put = (path) => fetch(`${tether.url}telemetry/${path}`, {method: 'PUT', body: '{}'});
    const known = async () => (await (await fetch(`${tether.url}telemetry/attributes`)).json()).map((each) => each.attribute);
    for (const name of ['S.d.typo', 'S.d.other', 'S.d.third']) await put(`attributes/${name}`);
    await put('devices/NOBODY');
    await page.getByRole('button', {name: 'Remove S.d.typo, of which nothing is stored'}).click();
    await until('it is gone', known, (names) => !names.includes('S.d.typo') && names.includes('S.d.other'));
    await page.getByRole('button', {name: 'Remove NOBODY, of which nothing is stored'}).click();
    await page.getByText('NOBODY is removed').waitFor();
    await page.getByRole('button', {name: 'Remove attributes of which nothing is stored'}).click();
    const left = await until('all are gone', known, (names) => !names.some((name) => name.startsWith('S.d.')));
    assert.ok(left.length > 0, 'what is stored stays');
    assert.equal(await page.getByRole('cell', {name: 'NOBODY'}).count(), 0);
  });
  assert.deepEqual(troubles, []);
});

const setOf = (time, robot, n) => `<Output time='${time}'><drive velocity='${robot + n / 1e5}' mode='${n % 2 ? 'auto' : 'teleop'}'/></Output>`;

async function post(url, body) {
  assert.equal((await fetch(`${url}telemetry`, {method: 'POST', body})).status, 200);
}

/** Twelve robots tell of twenty minutes until `end`, ms, at 10 Hz each; their clocks show 2,000 s then. One message each: a later one may
 *  be held up longer, and seem to be measured later. */
async function tellHistory(url, end) {
  for (let robot = 1; robot <= 12; robot++) {
    const sets = Array.from({length: 12000}, (_, n) => setOf(2e6 - 1200e3 + 50 + 100 * n, robot, n));
    await post(url, `<MESSAGE id='ROBO${robot}' time='${2e6 + Date.now() - end}'>${sets.join('')}</MESSAGE>`);
  }
}

/** Those of odd numbers go on; resolves to what ends that. */
function goOn(url, end) {
  const timer = setInterval(() => {
    for (let robot = 1; robot <= 12; robot += 2) post(url, `<MESSAGE id='ROBO${robot}' time='${2e6 + Date.now() - end}'>${setOf(0, robot, 0)}</MESSAGE>`).catch(() => {});
  }, 500);
  return () => clearInterval(timer);
}

/** Of the Records: how many there are, and the row that stands at a place once it has come. */
const records = (page) => ({
  total: () => page.locator('.record-panel h2').textContent().then((text) => Number(text.replace(/\D/g, ''))),
  row: (number) => page.locator(`.record-panel tr[aria-rowindex="${number + 1}"]`),
});

test('twelve devices', async (t) => {
  const state = stateFolder(t);
  const store = `sqlite:${join(state, 'telemetry.db')}`;
  const collect = () => startTether(t, null, {'telemetry.listen': '127.0.0.1:0', 'telemetry.store': store}, {state, command: 'collect'});
  const end = Math.floor(Date.now() / 60e3) * 60e3;
  const before = await collect();
  await tellHistory(before.url, end);
  await before.stop();
  const tether = await collect();
  atEnd(t, goOn(tether.url, end));
  const {page, context, troubles} = await openPage(browser, tether.url, {connection: 'No world', timezone: 'Asia/Tokyo'});
  const {total, row} = records(page);
  let values; // of ROBO8's ten minutes

  await t.test('tiles say who sends, how much, and what last', async () => {
    await page.getByRole('link', {name: 'ROBO7 online'}).waitFor();
    assert.equal(await page.locator('.tile').count(), 12);
    await page.locator('.tile', {hasText: 'ROBO7'}).getByText(/values\/s/).waitFor();
    await page.locator('.tile', {hasText: 'ROBO12'}).getByText('12.12').waitFor();
    await post(tether.url, `<MESSAGE id='ROBO7' time='${2e6 + Date.now() - end}'><Output time='${2e6 + Date.now() - end}'><gyro drift='-1.33e-16'/></Output></MESSAGE>`);
    const drift = page.locator('.tile', {hasText: 'ROBO7'}).locator('div', {hasText: 'gyro.drift'}).locator('dd');
    assert.equal((await drift.textContent()).trim(), '0', 'what rounding left of nothing');
    assert.equal(await drift.getAttribute('title'), '-1.33e-16');
    await page.getByRole('link', {name: 'ROBO8 gone'}).waitFor(); // since the program began
    await page.getByRole('radio', {name: /^gone/}).check();
    await until('those that send are left out', () => page.locator('.tile').count(), (count) => count === 6);
    await page.getByRole('radio', {name: /^all/}).check();
    await page.getByRole('searchbox', {name: 'Search devices'}).fill('robo1');
    await until('what is searched for', () => page.locator('.tile').count(), (count) => count === 4);
    await page.getByRole('searchbox', {name: 'Search devices'}).fill('');
  });

  await t.test('ten minutes of one device out of twelve as CSV, whole', async () => {
    await page.getByRole('link', {name: /^ROBO8/}).click(); // which is silent: all there is of it is shown
    await until('all its records are told', total, (count) => count === 12000);
    const clock = (ms) => new Date(ms + 9 * 3600e3).toISOString().slice(0, 16); // of Tokyo
    await page.getByLabel('from', {exact: true}).fill(clock(end - 900e3));
    await page.getByLabel('to', {exact: true}).fill(clock(end - 300e3));
    await page.keyboard.press('Enter');
    await until('so many of them', total, (count) => count === 6000);
    await page.getByRole('columnheader', {name: /Asia\/Tokyo, UTC\+09:00/}).waitFor();
    await page.getByText('Download', {exact: true}).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', {name: 'CSV'}).click()]);
    assert.match(download.suggestedFilename(), /^ROBO8 \d{4}-\d\d-\d\d \d\d-\d\d-\d\d to .*\.csv$/);
    const lines = readFileSync(await download.path(), 'utf8').trim().split('\r\n');
    assert.equal(lines.length, 6001);
    assert.match(lines[0], /^Device,Time,Output.drive.velocity,Output.drive.mode/);
    const [first, last] = [lines[1], lines[6000]].map((line) => Date.parse(line.split(',')[1]));
    assert.ok(first >= end - 900e3 && first <= end - 899.9e3, 'from the first moment');
    assert.ok(last <= end - 300e3 && last >= end - 300.2e3, 'to the last');
    values = lines.slice(1).map((line) => line.split(',')[2]);
    const counted = values.map((value) => Math.round(1e5 * (Number(value) - 8)));
    assert.deepEqual(counted, counted.map((_, i) => counted[0] + i), 'one after the other, none left out');
    await page.getByText('Download', {exact: true}).click();
  });

  await t.test('a row anywhere in the table', async () => {
    await page.locator('.grid').evaluate((grid) => grid.scrollTo({top: 29 * 3000}));
    await until('the row in the middle', () => row(3001).locator('td').nth(1).textContent({timeout: 1000}).catch(() => ''), (text) => text === values.at(-3001));
    const texts = await page.locator('.record-panel tbody tr:not(.space)').allTextContents();
    await until('all rows in sight', () => page.locator('.record-panel tbody tr:not(.space)').allTextContents(), (all) => all.every((text) => text.length > 10));
    assert.ok(texts.length < 60, 'only those in sight are drawn');
    await page.locator('.grid').evaluate((grid) => grid.scrollTo({top: grid.scrollHeight}));
    await until('the oldest', () => row(6000).locator('td').nth(1).textContent({timeout: 1000}).catch(() => ''), (text) => text === values[0]);
  });

  await t.test('the address has it all: a reload changes nothing', async () => {
    await page.getByRole('checkbox', {name: 'Output.drive.mode'}).check();
    await page.getByRole('checkbox', {name: 'Output.drive.velocity'}).uncheck();
    await until('the table has only what is chosen', () => page.locator('.record-panel th').allTextContents(), (all) => all.length === 2);
    await page.getByText('No field with numbers is chosen').waitFor();
    const hash = await until('the address', () => page.evaluate(() => location.hash), (text) => text.includes('field=') && !text.includes('velocity'));
    await page.reload();
    await until('the same records', total, (count) => count === 6000);
    assert.equal(await page.locator('.record-panel th').count(), 2);
    assert.equal(await page.evaluate(() => location.hash), hash);
    await page.getByRole('button', {name: 'Reset to the usual fields'}).click();
    await page.getByRole('img', {name: /^Output.drive.velocity over time, Asia\/Tokyo/}).waitFor();
  });

  await t.test('what comes meanwhile leaves alone what is typed', async () => {
    await page.getByRole('link', {name: 'All devices'}).click();
    await page.getByRole('link', {name: 'ROBO9 online'}).click();
    await page.getByRole('button', {name: 'The last 1 min', exact: true}).click();
    const from = page.getByLabel('from', {exact: true});
    const before = await from.inputValue();
    await until('the stretch moves on', () => from.inputValue(), (now) => now !== before);
    await from.fill('2026-01-02T03:04:05');
    const newest = await row(1).textContent();
    await until('something came', () => row(1).textContent(), (text) => text !== newest);
    assert.equal(await from.inputValue(), '2026-01-02T03:04:05');
    await page.keyboard.press('Escape');
    assert.notEqual(await from.inputValue(), '2026-01-02T03:04:05');
    const to = await page.getByLabel('to', {exact: true}).inputValue();
    await until('the stretch moves on', () => page.getByLabel('to', {exact: true}).inputValue(), (now) => now !== to);
    await page.getByRole('button', {name: 'Stand still'}).click(); // to leave the field changes nothing
    await page.getByRole('button', {name: 'Follow what comes'}).waitFor();
  });

  await t.test('the strip below says the times of its own days', async () => {
    await page.evaluate(() => {
      const draw = CanvasRenderingContext2D.prototype.fillText;
      window.texts = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
        window.texts.push(text);
        draw.call(this, text, ...more);
      };
    });
    await page.getByRole('button', {name: 'All there is'}).click();
    await page.setViewportSize({width: 2300, height: 720}); // a label a minute, also at the end
    const texts = await until('its labels', () => page.evaluate(() => window.texts), (all) => all.filter((text) => /^\d\d:\d\d$/.test(text)).length > 20);
    assert.deepEqual(texts.filter((text) => /1970/.test(text)), []);
    await page.setViewportSize({width: 1280, height: 720});
  });

  await t.test('the strip below and the plot lead to another stretch', async () => {
    await page.getByRole('button', {name: 'All there is'}).click();
    const strip = page.locator('.brush-strip');
    await until('the window is all there is', () => page.locator('.brush-window').evaluate((element) => element.clientWidth / element.parentElement.clientWidth), (part) => part > 0.95);
    const {x, y, width, height} = await strip.boundingBox();
    const window = await page.locator('.brush-window').boundingBox();
    await page.mouse.move(window.x + window.width, y + height / 2); // its end, to the middle
    await page.mouse.down();
    await page.mouse.move(x + width / 2, y + height / 2, {steps: 4});
    await page.mouse.up();
    const length = () => page.evaluate(() => { const [from, to] = new URLSearchParams(location.hash.split('?')[1]).get('span').split('..').map((moment) => Date.parse(moment)); return to - from; });
    const half = await until('about half of it', () => length().catch(() => NaN), (ms) => ms > 0);
    assert.ok(half > 500e3 && half < 1000e3, `${half} ms`);
    const plot = await page.locator('.device-plot .u-over').first().boundingBox();
    await page.mouse.move(plot.x + plot.width * 0.25, plot.y + 20);
    await page.mouse.down();
    await page.mouse.move(plot.x + plot.width * 0.75, plot.y + 20, {steps: 4});
    await page.mouse.up();
    const part = await until('the part that was drawn', length, (ms) => ms < 0.6 * half);
    assert.ok(Math.abs(part / half - 0.5) < 0.05, `${part} of ${half} ms`);
    await page.getByRole('slider', {name: 'End of what is looked at'}).press('ArrowRight');
    await until('a key makes it longer', length, (ms) => ms > part);
  });

  await t.test('several together', async () => {
    await page.getByText('Compare', {exact: true}).click();
    const offered = () => page.locator('.device-choice .switch').allTextContents();
    assert.deepEqual(await offered(), Array.from({length: 12}, (_, i) => `ROBO${i + 1}`), 'in the order of the tiles');
    await page.getByRole('searchbox', {name: 'Search devices to compare'}).fill('robo1');
    await until('those that are searched for', offered, (names) => names.length === 4);
    await page.getByRole('searchbox', {name: 'Search devices to compare'}).fill('');
    let letGo;
    const held = new Promise((resolve) => (letGo = resolve));
    const slow = async (route) => {
      await held;
      await route.continue().catch(() => {});
    };
    await page.route(/points=1500/, slow);
    await page.getByRole('switch', {name: 'ROBO3', exact: true}).check();
    const loading = page.locator('.device-plots').getByRole('status').getByText('Loading…');
    await loading.waitFor();
    letGo();
    await page.unroute(/points=1500/, slow);
    await loading.waitFor({state: 'hidden'});
    await page.getByRole('heading', {name: /^ROBO3/}).waitFor();
    await until('the table names the device', () => page.locator('.record-panel th').first().textContent(), (text) => text === 'Device');
    await until('a trace each', () => page.locator('.device-fields .swatch').count(), (count) => count === 2);
  });
  assert.deepEqual(troubles, []);
  await context.close();
});

test('a thousand devices', async (t) => {
  const state = stateFolder(t);
  const tether = await startTether(t, null, {'telemetry.listen': '127.0.0.1:0', 'telemetry.store': `sqlite:${join(state, 'telemetry.db')}`}, {state, command: 'collect'});
  const lines = Array.from({length: 1000}, (_, i) => `S,device=D${i} v=${i}.5`).join('\n');
  assert.equal((await fetch(`${tether.url}write?db=x`, {method: 'POST', body: lines})).status, 204);
  const {page, troubles} = await openPage(browser, tether.url, {connection: 'No world'});
  const tiles = page.locator('.tile');
  await until('those that are in sight come first', () => tiles.count(), (count) => count >= 20 && count < 1000);
  await page.getByText(/^\d+ more$/).waitFor();
  await page.getByText(/^\d+ more$/).scrollIntoViewIfNeeded();
  await until('others when they are scrolled to', () => tiles.count(), (count) => count >= 400);
  await page.getByRole('searchbox', {name: 'Search devices'}).fill('D987');
  await tiles.locator('dd', {hasText: '987.5'}).waitFor();
  assert.equal(await tiles.count(), 1);
  assert.deepEqual(troubles, []);
});
