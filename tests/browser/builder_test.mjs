// The page Build: one's own robot from its URDF onto a field, its wire in one's own order, the client that is made for it, and away.
import {spawn} from 'node:child_process';
import {createSocket} from 'node:dgram';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {assert, atEnd, openBrowser, openPage, root, startTether, stateFolder, until} from './harness.mjs';

const CART = join(root, 'tests/browser/cart');

/** A port of UDP that is free now. */
async function freePort() {
  const socket = createSocket('udp4');
  await new Promise((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const {port} = socket.address();
  await new Promise((resolve) => socket.close(resolve));
  return port;
}

/** Drops files as a hand does. */
async function drop(page, zone, files) {
  const transfer = await page.evaluateHandle((list) => {
    const data = new DataTransfer();
    for (const [name, text] of list) data.items.add(new File([text], name));
    return data;
  }, files.map((path) => [path.split('/').pop(), readFileSync(join(CART, path), 'utf8')]));
  await zone.dispatchEvent('drop', {dataTransfer: transfer});
}

const textOf = (page) => page.locator('.editor').evaluate((host) => [...host.shadowRoot.querySelectorAll('.cm-line')].map((line) => line.textContent).join('\n'));
const entries = (page, array) => page.getByRole('region', {name: array}).locator('.order-row').evaluateAll((rows) => rows.map((row) => row.dataset.entry));

test("one's own robot is put on the field and driven from the client that is made for it", async (t) => {
  const state = stateFolder(t);
  process.env.XDG_DATA_HOME = join(state, 'data');
  const tether = await startTether(t, join(root, 'tests/scenes/good/one.yaml'), {}, {state});
  const browser = await openBrowser(t);
  const {page, troubles} = await openPage(browser, tether.url, {hash: 'wires', width: 1440, height: 900});
  const [bind, peer] = [await freePort(), await freePort()];

  await t.test('from any page, by the name of the scene', async () => {
    await page.locator('.scene-name').click();
    await until('one can type what is searched for', () => page.evaluate(() => document.activeElement.getAttribute('aria-label')), (label) => label === 'Search scenes');
    await page.getByRole('dialog', {name: 'Scenes'}).getByRole('link', {name: 'New robot or scene'}).click();
    await page.getByRole('main', {name: 'Build'}).waitFor();
  });

  await t.test('a model and its mesh are dropped, and seen', async () => {
    await drop(page, page.getByRole('group', {name: 'Model and meshes'}), ['cart.urdf']);
    await page.getByText('A file is missing').waitFor();
    await drop(page, page.getByRole('group', {name: 'More files of the model'}), ['meshes/hull.obj']);
    await page.getByText('A file is missing').waitFor({state: 'detached'});
    await page.locator('.preview .canvas[data-ready]').waitFor();
  });

  await t.test('what deserves a look is said with its line, and leads there', async () => {
    const problems = page.getByRole('region', {name: 'Problems'});
    await problems.getByText(/inertia/).first().click();
    assert.match(await problems.getByText(/inertia/).first().textContent(), /cart\.urdf:\d+/);
    await until('the editor is at the wheel', () => page.locator('.editor').evaluate((host) => host.shadowRoot.querySelector('.cm-activeLine')?.textContent), (line) => /right_wheel_link/.test(line ?? ''));
    await problems.getByText(/base is fixed/).waitFor();
    await page.getByRole('radio', {name: 'Moves freely'}).check({force: true});
    await problems.getByText(/base is fixed/).waitFor({state: 'detached'});
  });

  await t.test('the editor comes late, and takes the focus from nobody who types', async () => {
    const other = await page.context().newPage();
    const held = [];
    await other.route(/\/editor-\w+\.js$/, (route) => held.push(route));
    await other.goto(page.url());
    await until('the editor is asked for', () => held.length);
    await other.getByRole('region', {name: 'Problems'}).getByText(/inertia/).first().click();
    const name = other.getByRole('textbox', {name: 'Name'});
    await name.focus();
    for (const route of held.splice(0)) await route.continue();
    const line = () => other.locator('.editor').evaluate((host) => host.shadowRoot?.querySelector('.cm-activeLine')?.textContent);
    await until('it is where the problem is', line, (text) => /right_wheel_link/.test(text ?? ''));
    assert.ok(await name.evaluate((input) => document.activeElement === input), 'whoever types goes on');
    // On a narrow screen what leads to a file shows the files.
    await other.setViewportSize({width: 768, height: 900});
    await other.getByRole('radio', {name: 'Steps', exact: true}).check({force: true});
    await other.getByRole('button', {name: 'cart.urdf'}).first().click();
    await other.locator('.editor').waitFor();
    await until('one can type there', () => other.evaluate(() => document.activeElement.className), (text) => text === 'editor');
    await other.close();
  });

  await t.test('a field, and a place on it', async () => {
    await page.getByRole('button', {name: /Field and place/}).first().click();
    await page.getByRole('radio', {name: 'frc2011'}).check({force: true});
    await page.getByText('Kept').waitFor();
    await page.getByRole('button', {name: 'Place it on the picture'}).click();
    await page.locator('.preview canvas').click();
    await until('it is where the click was', () => page.getByLabel('y of cart').inputValue(), (text) => /^-?[\d.]+ m$/.test(text));
    for (const [axis, text] of [['x', '1.8 m'], ['y', '1.9 m']]) {
      await page.getByLabel(`${axis} of cart`).fill(text);
      await page.getByLabel(`${axis} of cart`).press('Enter');
    }
    // What is being typed is there again when the page is.
    await page.getByLabel('Heading of cart').fill('1 rev');
    await page.reload();
    await until('it is there again', () => page.getByLabel('Heading of cart').inputValue(), (text) => text === '1 rev');
    await page.getByRole('button', {name: 'Turn by 90°'}).click();
    await page.locator('.file-tab').first().click();
    await until('it stands in the file', () => textOf(page), (text) => /arena: frc2011/.test(text) && /x: 1.8 m, y: 1.9 m, heading: 90 deg/.test(text));
  });

  await t.test('the file is written by hand, and errors stand where they are', async () => {
    const problems = page.getByRole('region', {name: 'Problems'});
    await page.locator('.editor .cm-content').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('duration: soon');
    await problems.getByText(/cart\.yaml:\d+/).waitFor();
    await page.locator('.cm-activeLineGutter .cm-lint-marker-error').waitFor();
    for (let i = 0; i < 4; i++) await page.keyboard.press('Backspace');
    await page.keyboard.type('10 min');
    await problems.getByText(/cart\.yaml:\d+/).waitFor({state: 'detached'});
    assert.match(await textOf(page), /\nduration: 10 min/);
  });

  await t.test('signals and commands are dragged into the order of the wire', async () => {
    await page.locator('.step', {hasText: 'Wire'}).click();
    await page.getByRole('button', {name: 'Add this wire'}).click();
    for (const [key, port] of [['bind', bind], ['peer', peer]]) {
      await page.getByLabel(`${key} of the wire`).fill(`127.0.0.1:${port}`);
      await page.getByLabel(`${key} of the wire`).press('Enter');
    }
    await page.getByText('Kept').waitFor();
    const to = page.getByRole('region', {name: 'To the controller'});
    await page.locator('[data-name="left_wheel.velocity"]').dragTo(to);
    await page.locator('[data-name="base_link.y"]').dragTo(to.locator('[data-entry="time"]'), {targetPosition: {x: 40, y: 2}});
    await until('in the order of the hand', () => entries(page, 'To the controller'), (list) => list.join() === 'base_link.y,time,left_wheel.velocity');
    await to.locator('[data-entry="base_link.y"] .order-handle').dragTo(to.locator('[data-entry="left_wheel.velocity"]'), {targetPosition: {x: 60, y: 28}});
    const scale = to.getByLabel('Scale of 2 of To the controller: left_wheel.velocity');
    await scale.fill('0.5');
    await scale.press('Enter');
    await page.getByRole('radio', {name: 'Commands from it'}).check({force: true});
    const from = page.getByRole('region', {name: 'From the controller'});
    for (const name of ['left_wheel.velocity', 'right_wheel.velocity']) await page.locator(`[data-name="${name}"]`).dragTo(from);
    await until('all are there', () => entries(page, 'From the controller'), (list) => list.join() === 'stamp,left_wheel.velocity,right_wheel.velocity');
    await from.getByRole('button', {name: 'Sign of 3 of From the controller: right_wheel.velocity'}).click();
    await from.locator('[data-entry="right_wheel.velocity"] .order-handle').focus();
    await page.keyboard.press('Alt+ArrowUp');
    // The focus goes with the row at once, before any picture: whoever goes on types where he is.
    const pressed = (key) =>
      from.locator('[data-entry="right_wheel.velocity"] .order-handle').evaluate(async (handle, arrow) => {
        const [draw, held] = [window.requestAnimationFrame, []];
        window.requestAnimationFrame = (call) => (held.push(call), 0);
        handle.focus();
        handle.dispatchEvent(new KeyboardEvent('keydown', {key: arrow, altKey: true, bubbles: true, cancelable: true}));
        await new Promise((resolve) => setTimeout(resolve));
        window.requestAnimationFrame = draw;
        held.forEach((call) => draw(call));
        return document.activeElement.getAttribute('aria-label');
      }, key);
    assert.equal(await pressed('ArrowDown'), 'Move 3 of From the controller: right_wheel.velocity');
    assert.equal(await pressed('ArrowUp'), 'Move 2 of From the controller: right_wheel.velocity');
    await page.setViewportSize({width: 1280, height: 720});
    const cut = await page.locator('.pool-name, .order-name').evaluateAll((all) => all.filter((name) => name.scrollWidth > name.clientWidth + 1).map((name) => name.textContent));
    assert.deepEqual(cut, [], 'names stand there whole');
    await page.setViewportSize({width: 1440, height: 900});
    await until('as the file has it', () => textOf(page), (text) =>
      /sensors:\s+- \{name: time\}\s+- \{name: left_wheel.velocity, scale: 0.5\}\s+- \{name: base_link.y\}\s+commands:\s+- \{name: stamp\}\s+- \{name: right_wheel.velocity, scale: -1\}\s+- \{name: left_wheel.velocity\}/.test(text));
  });

  const client = join(state, 'client.py');
  await t.test('a client is made for this order', async () => {
    await page.locator('.step', {hasText: 'Client and run'}).click();
    for (const [language, sign] of [['Java', 'class '], ['C', '#include <stdio.h>'], ['C++', '#include <array>'], ['Python', 'def control']]) {
      await page.getByRole('radio', {name: language, exact: true}).check({force: true});
      await page.locator('.client-text', {hasText: sign}).waitFor();
    }
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', {name: 'Download the client'}).click()]);
    const text = readFileSync(await download.path(), 'utf8');
    assert.match(text, /time = numbers\[0\][^]*left_wheel_velocity = numbers\[1\][^]*base_link_y = numbers\[2\]/);
    // What its author does with it: both wheels forward; the right one's sign is turned on the wire.
    const written = text.replace(/( *)# Your program: .*/, '$1commands.left_wheel_velocity = 6.0\n$1commands.right_wheel_velocity = -6.0');
    assert.notEqual(written, text);
    writeFileSync(client, written);
  });

  await t.test('it is saved as files', async () => {
    await page.getByLabel('Name of the scene').fill('my-cart');
    await page.reload();
    await until('the name is there again', () => page.getByLabel('Name of the scene').inputValue(), (text) => text === 'my-cart');
    await page.getByRole('button', {name: 'Save', exact: true}).click();
    await page.getByText(/^Saved:/).waitFor();
    const file = await page.locator('.saved code').first().textContent();
    assert.ok(file.startsWith(join(state, 'data/tether/scenes/my-cart/')), file);
    assert.match(readFileSync(file, 'utf8'), /robots:\n {2}- \{robot: robot.yaml/);
  });

  await t.test('it runs, and the client drives it', async () => {
    await page.getByRole('button', {name: 'Run', exact: true}).click();
    await until('the scene is the cart', () => page.locator('.scene h1').textContent(), (name) => name === 'cart');
    await page.getByRole('main', {name: 'World'}).waitFor();
    await page.locator('.canvas[data-ready]').waitFor();
    const child = spawn('python3', ['-u', client], {stdio: ['ignore', 'pipe', 'inherit']});
    atEnd(t, () => child.kill());
    let said = '';
    child.stdout.on('data', (data) => (said += data));
    await until('it drives along its heading', () => Number([...said.matchAll(/base_link\.y (\S+)/g)].pop()?.[1]), (y) => y > 2.3);
  });

  await t.test('a model that cannot be read is said so, and can be replaced', async () => {
    await page.evaluate(() => (location.hash = 'build'));
    const zone = page.getByRole('group', {name: 'Model and meshes'});
    const broken = await page.evaluateHandle(() => {
      const data = new DataTransfer();
      data.items.add(new File(['<robot name="cart"><link name="base">'], 'cart.urdf'));
      return data;
    });
    await zone.dispatchEvent('drop', {dataTransfer: broken});
    await page.getByRole('region', {name: 'Problems'}).locator('.problem.error').waitFor();
    const message = page.getByRole('heading', {name: 'Nothing to show yet'});
    await message.waitFor();
    const [text, picture] = [await message.boundingBox(), await page.locator('.preview').boundingBox()];
    assert.ok(text.y + text.height < picture.y + picture.height, 'it stands where the picture would be');
    assert.match(await page.locator('.problem').first().getAttribute('class'), /error/, 'what keeps it from running comes first');
    await page.locator('.step', {hasText: 'Wire'}).click();
    await page.getByRole('button', {name: 'Add this wire'}).click();
    await page.locator('[data-entry="time"]').waitFor();
    await page.getByText('Names are offered once no problem is an error.').waitFor();
    assert.equal(await page.locator('.order-row.unknown').count(), 0, 'of no name it is said that there is none');
    await page.locator('.step', {hasText: 'Robot'}).click();
    await drop(page, page.getByRole('group', {name: 'More files of the model'}), ['cart.urdf', 'meshes/hull.obj']);
    await message.waitFor({state: 'detached'});
    await page.evaluate(() => (location.hash = 'world'));
    await page.getByRole('main', {name: 'World'}).waitFor();
  });

  await t.test('a scene that is there opens as it is written', async () => {
    await page.locator('.scene-name').click();
    await page.getByRole('link', {name: 'Change gripper'}).click();
    await page.locator('.steps').waitFor();
    // The address may be told of the draft later than the page shows it.
    const draft = await until('the address of the draft', () => page.evaluate(() => new URLSearchParams(location.hash.split('?')[1]).get('draft')));
    const file = await (await fetch(`${tether.url}api/drafts/${draft}/files/gripper.yaml`)).text();
    // With its robot and arena, which the draft has files of.
    const there = readFileSync(join(root, 'scenes/gripper.yaml'), 'utf8').replace('arena: gripper', 'arena: arenas/gripper/arena.yaml').replace('robot: gripper', 'robot: robots/gripper/robot.yaml');
    assert.equal(file, there);
    await page.locator('.step', {hasText: 'Wire'}).click();
    await page.getByRole('button', {name: 'lockstep-tcp', exact: true}).waitFor();
    await page.locator('.step', {hasText: 'Client and run'}).click();
    const name = page.getByLabel('Name of the scene');
    await until('a copy gets a name of its own', () => name.inputValue(), (text) => text === 'gripper-2');
    await name.fill('gripper');
    await page.getByRole('button', {name: 'Save', exact: true}).click();
    await page.getByText(/^A scene gripper comes with Tether\. Yours would take its name/).waitFor();
  });

  await t.test('the way back leads to the list where a scene or a draft was chosen', async () => {
    const list = page.getByRole('heading', {name: 'Open a scene'});
    await page.getByRole('button', {name: 'All scenes and drafts'}).click();
    for (const chosen of [page.locator('.scene-card').first(), page.locator('.draft-row .link').first()]) {
      await chosen.click();
      await page.locator('.steps').waitFor();
      await page.goBack();
      await list.waitFor();
    }
    await page.goForward();
    await page.locator('.steps').waitFor();
    await page.getByRole('button', {name: 'All scenes and drafts'}).click();
    await list.waitFor();
    await page.goBack();
    await page.locator('.steps').waitFor();
    // What is being typed meanwhile is taken.
    const name = page.getByRole('textbox', {name: 'Name', exact: true});
    await name.fill('typed');
    await page.goForward();
    await list.waitFor();
    await page.goBack();
    await until('it is there', () => name.inputValue(), (text) => text === 'typed');
  });

  await t.test('a scene that was saved is deleted by who confirms it', async () => {
    await page.evaluate(() => (location.hash = 'build'));
    const bin = page.getByRole('button', {name: 'Delete the scene my-cart'});
    await bin.waitFor();
    assert.deepEqual(await page.getByRole('button', {name: /^Delete the scene/}).count(), 1, 'those that come with Tether stay');
    const question = page.getByRole('dialog', {name: 'Delete this scene?'});
    await bin.click();
    await question.getByText(join(state, 'data/tether/scenes/my-cart/')).waitFor();
    await question.getByRole('button', {name: 'Keep it'}).click();
    await question.waitFor({state: 'detached'});
    await bin.click();
    await question.getByRole('button', {name: 'Delete it'}).click();
    await bin.waitFor({state: 'detached'});
    assert.ok(!existsSync(join(state, 'data/tether/scenes/my-cart')));
  });

  await t.test('a draft is deleted by who confirms it, and whoever has it open keeps its texts', async () => {
    await page.evaluate(() => (location.hash = 'build'));
    const bins = page.getByRole('button', {name: 'Delete the draft cart'});
    await bins.first().waitFor();
    const count = await bins.count();
    const question = page.getByRole('dialog', {name: 'Delete this draft?'});
    await bins.last().click();
    await question.getByRole('button', {name: 'Keep it'}).click();
    await question.waitFor({state: 'detached'});
    assert.equal(await bins.count(), count);
    await page.locator('.draft-row .link').first().click();
    await page.locator('.steps').waitFor();
    const draft = await until('the address of the draft', () => page.evaluate(() => new URLSearchParams(location.hash.split('?')[1]).get('draft')));
    assert.equal((await fetch(`${tether.url}api/drafts/${draft}`, {method: 'DELETE'})).status, 200);
    await page.evaluate(() => dispatchEvent(new Event('focus'))); // somebody comes back to this tab
    await page.getByRole('button', {name: 'Save as a new draft'}).click();
    await page.getByText(/^A new draft has/).waitFor();
    await page.getByText('Draft kept').waitFor();
    const made = await until('the address of the new one', () => page.evaluate(() => new URLSearchParams(location.hash.split('?')[1]).get('draft')), (id) => id && id !== draft);
    assert.match(await (await fetch(`${tether.url}api/drafts/${made}/files/cart.yaml`)).text(), /robots:/);
    await page.getByRole('button', {name: 'All scenes and drafts'}).click();
    await bins.first().click();
    await question.getByRole('button', {name: 'Delete it'}).click();
    await until('it is gone', async () => (await fetch(`${tether.url}api/drafts/${made}`)).status, (status) => status === 404);
  });
  // The picture may be asking for a draft that is just being deleted.
  // It asks until the program is there again, which begins anew with the scene that is to run.
  assert.deepEqual(troubles.filter((trouble) => !/api\/access|ERR_CONNECTION_RE(FUSED|SET)|status of 40[49]|^Error: (texture|mesh) \d+: 404/.test(trouble)), []);
});
