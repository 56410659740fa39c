// What a role may not do is disabled, with the reason; what it may, works; values are removed on the page.
import {execFileSync} from 'node:child_process';
import {join} from 'node:path';
import {test} from 'node:test';
import {assert, openBrowser, openPage, program, root, startTether, stateFolder, until} from './harness.mjs';

test('roles', async (t) => {
  const state = stateFolder(t);
  const file = join(state, 'tokens');
  const tokens = Object.fromEntries(
    ['watch', 'drive', 'administer'].map((role) => [role, execFileSync(program, ['token', 'new', role, '--role', role, '--file', file], {stdio: ['ignore', 'pipe', 'ignore']}).toString().trim()]),
  );
  const tether = await startTether(t, join(root, 'tests/scenes/good/one.yaml'), {'telemetry.listen': '127.0.0.1:0', 'telemetry.store': `sqlite:${join(state, 'telemetry.db')}`, 'web.tokens': file}, {state});
  const browser = await openBrowser(t, {webgl: false});
  const open = (role, hash) => openPage(browser, `${tether.url}?token=${tokens[role]}`, {hash});
  const ask = (path, options) => fetch(`${tether.url}${path}`, {...options, headers: {Authorization: `Bearer ${tokens.administer}`}});

  await t.test('who watches is told what he may not do', async () => {
    const {page} = await open('watch', 'drive');
    const reason = page.getByText('This needs a token of the role drive; yours may watch.');
    await reason.waitFor();
    for (const size of [{width: 1280, height: 720}, {width: 1000, height: 720}, {width: 390, height: 844}, {width: 844, height: 390}]) {
      await page.setViewportSize(size);
      const [view, text] = [await page.locator('.drive-view').boundingBox(), await reason.boundingBox()];
      assert.ok(view.height > 200 && text.y > view.y, `the world is seen, with the reason over it: ${JSON.stringify([size, view, text])}`);
    }
    await page.setViewportSize({width: 1280, height: 720});
    for (const name of [/^Pause/, /Reset the world/, /E-stop/, 'Start driving']) assert.ok(await page.getByRole('button', {name}).first().isDisabled(), String(name));
    await page.keyboard.press('Space');
    await page.getByText('this needs a token of the role drive; yours may watch', {exact: true}).waitFor();
    assert.ok(!page.url().includes('token'), page.url());
    await page.getByRole('button', {name: 'Share', exact: true}).click();
    const addresses = await page.locator('.share-address input').evaluateAll((fields) => fields.map(({value}) => value));
    assert.ok(addresses.length > 0 && addresses.every((address) => address.startsWith(`${tether.url}#drive`)), addresses.join(' '));
    await page.keyboard.press('Escape');
    await page.goto(`${tether.url}#signals?t=0.1`);
    assert.ok(await page.getByRole('button', {name: 'This needs a token of the role drive; yours may watch.'}).filter({hasText: 'Fork here'}).isDisabled());
    await page.goto(`${tether.url}#telemetry`);
    await page.getByRole('radio', {name: 'Names and handling'}).check();
    await page.getByText('This needs a token of the role administer; yours may watch.').waitFor();
    assert.ok(await page.getByRole('textbox', {name: /^Name of /}).first().isDisabled());
  });

  await t.test('who drives drives, and removes nothing', async () => {
    const {page} = await open('drive', 'telemetry');
    await page.getByRole('button', {name: /^Pause/}).click();
    await page.getByRole('button', {name: /^Resume/}).click();
    await page.getByRole('radio', {name: 'Names and handling'}).check();
    await page.getByText('This needs a token of the role administer; yours may drive.').waitFor();

    // A run of this scene goes on for him, but where it would be kept is not his.
    await page.goto(`${tether.url}#signals?t=0.1`);
    await page.getByRole('button', {name: /^A new run from this moment/}).click();
    await page.getByRole('textbox', {name: 'Setting'}).fill('record.folder');
    await page.getByRole('textbox', {name: 'Value'}).fill('/tmp');
    await page.getByRole('button', {name: 'Begin the new run'}).click();
    await page.getByText('The fork could not be made: record.folder=/tmp: what concerns the machine takes the role administer; yours may drive').waitFor();
  });

  await t.test('who administers removes the values of a device', async () => {
    const moments = Array.from({length: 50}, (_, i) => `<M time='${i - 1000}'><d n='${i}'/></M>`).join('');
    assert.equal((await ask('telemetry', {method: 'POST', body: `<MESSAGE id='GONE' time='50000'>${moments}</MESSAGE>`})).status, 200);
    const {page, troubles} = await open('administer', 'telemetry');
    await page.getByRole('radio', {name: 'Names and handling'}).check();
    await page.getByRole('button', {name: 'Remove values of GONE…'}).click();
    await page.getByRole('button', {name: 'Remove for good'}).click();
    await page.getByText('50 values of GONE are removed').waitFor();
    await until('nothing is left', async () => (await (await ask('telemetry.json?device=GONE&fields=M.d.n')).json()).records.length, (count) => count === 0);
    assert.deepEqual(troubles, []);
  });

  await t.test('a token that is withdrawn is said, and another one is taken', async () => {
    const {page} = await open('watch', 'telemetry');
    execFileSync(program, ['token', 'remove', 'watch', '--file', file], {stdio: 'ignore'});
    await page.getByText('Your token counts no more').waitFor();
    await page.getByLabel('Token', {exact: true}).fill(tokens.drive);
    await page.getByRole('button', {name: 'Use this token'}).click();
    await page.getByRole('status', {name: 'Connection: Live'}).waitFor();
  });
});
