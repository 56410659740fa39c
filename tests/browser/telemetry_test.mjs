// Names of telemetry are edited in the page and found in the XML; markup in a name stays text.
import {test} from 'node:test';
import {join} from 'node:path';
import {assert, openBrowser, openPage, startTether, stateFolder, until} from './harness.mjs';

const MARKUP = '<img src=x onerror=alert(1)> & "Co"';

test('names are edited in place and found in the XML', async (t) => {
  const state = stateFolder(t);
  const tether = await startTether(t, 'robocar', {'telemetry.listen': '127.0.0.1:0', 'telemetry.store': `sqlite:${join(state, 'telemetry.db')}`}, {state});
  const browser = await openBrowser(t);
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
  await page.getByRole('radio', {name: 'Data', exact: true}).check();
  await page.getByRole('cell', {name: MARKUP}).first().waitFor();
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
