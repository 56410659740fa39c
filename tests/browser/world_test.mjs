// The World page: it comes up clean, shows motion, and all pages share one hand on the clock.
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {assert, openBrowser, openPage, startTether, stateFolder, until} from './harness.mjs';

const SCENE = {'wires.float-udp.bind': '127.0.0.1:0'};

/** How many pixels of two screenshots differ, counted in a page of its own. */
async function difference(context, before, after) {
  const page = await context.newPage();
  const count = await page.evaluate(
    async (images) => {
      const [a, b] = await Promise.all(
        images.map(async (text) => {
          const image = new Image();
          image.src = `data:image/png;base64,${text}`;
          await image.decode();
          const canvas = new OffscreenCanvas(image.width, image.height);
          const drawing = canvas.getContext('2d');
          drawing.drawImage(image, 0, 0);
          return drawing.getImageData(0, 0, image.width, image.height).data;
        }),
      );
      let differing = 0;
      for (let i = 0; i < a.length; i += 4) {
        if (Math.abs(a[i] - b[i]) + Math.abs(a[i + 1] - b[i + 1]) + Math.abs(a[i + 2] - b[i + 2]) > 24) differing++;
      }
      return differing;
    },
    [before.toString('base64'), after.toString('base64')],
  );
  await page.close();
  return count;
}

const clockOf = (page) => page.locator('.figure').first().getAttribute('title').then((title) => Number(title?.replace(/\D/g, '')));

test('the world comes up, moves when it is driven, and obeys', async (t) => {
  const tether = await startTether(t, 'frc2011', SCENE);
  const browser = await openBrowser(t);
  const began = Date.now();
  const {page, context, troubles} = await openPage(browser, tether.url);
  await page.locator('.canvas[data-ready]').waitFor();
  t.diagnostic(`first robot on screen after ${Date.now() - began} ms`);

  await t.test('pause, step and resume are what they say', async () => {
    await page.getByRole('button', {name: 'Pause'}).click();
    await page.getByRole('button', {name: 'Resume'}).waitFor();
    const paused = await until('the clock stands', async () => [await clockOf(page), await page.waitForTimeout(500), await clockOf(page)], ([a, , b]) => a === b);
    await page.getByRole('button', {name: 'Step one tick'}).click();
    await until('one tick', () => clockOf(page), (step) => step === paused[0] + 30);
    await page.getByRole('button', {name: 'Resume'}).click();
    await until('it goes on', () => clockOf(page), (step) => step > paused[0] + 30);
  });

  await t.test('the robot moves on the screen when it is driven, and not when it is not', async () => {
    await page.getByRole('radio', {name: 'Top'}).check();
    await page.getByRole('button', {name: 'Overlays'}).click();
    await page.getByLabel('Names').uncheck();
    await page.getByRole('button', {name: 'Overlays'}).click();
    const clip = {x: 100, y: 120, width: 1000, height: 520};
    await until('nothing moves', async () => {
      const [a, b] = [await page.screenshot({clip}), (await page.waitForTimeout(700), await page.screenshot({clip}))];
      return difference(context, a, b);
    }, (count) => count < 20);
    const before = await page.screenshot({clip});
    await page.evaluate(() => (location.hash = 'drive'));
    await page.getByRole('button', {name: 'Start driving'}).click();
    await page.keyboard.down('KeyW');
    await page.waitForTimeout(1500);
    await page.keyboard.up('KeyW');
    await page.evaluate(() => (location.hash = 'world'));
    await page.locator('.canvas[data-ready]').waitFor();
    await until('the picture changed', async () => difference(context, before, await page.screenshot({clip})), (count) => count > 200);
  });

  await t.test('reset puts the clock back, emergency stop is shown to every page', async () => {
    await page.keyboard.press('Shift+R');
    await until('the clock went back', () => clockOf(page), (step) => step < 9000);
    const second = await openPage(browser, tether.url, {hash: 'signals'});
    const stopped = second.page.getByText('Emergency stop: all commands are held');
    await countArmed(page);
    await page.keyboard.press('Backspace');
    await until('armed', () => page.evaluate(() => window.armed), (times) => times === 1);
    await page.getByRole('button', {name: 'E-stop'}).waitFor(); // too late for the second press
    assert.equal(await stopped.count(), 0);
    await until('pressed twice', async () => {
      await page.keyboard.press('Backspace');
      await page.keyboard.press('Backspace'); // on a busy machine too late, too
      await stopped.waitFor({timeout: 3000}).catch(() => {});
      return stopped.count();
    }, (count) => count > 0);
    await second.page.getByRole('button', {name: 'Release'}).first().click();
    await stopped.waitFor({state: 'detached'});
    // Held, it repeats; let go too early, it stops nothing.
    await countArmed(page);
    await page.keyboard.down('Backspace');
    await page.keyboard.up('Backspace');
    await until('armed', () => page.evaluate(() => window.armed), (times) => times === 1);
    await page.getByRole('button', {name: 'E-stop'}).waitFor();
    assert.equal(await stopped.count(), 0);
    await page.keyboard.down('Backspace');
    await until('the key that is held stops', async () => {
      await page.keyboard.down('Backspace'); // as a keyboard repeats
      return stopped.count();
    }, (count) => count > 0);
    await page.keyboard.up('Backspace');
    await second.page.getByRole('button', {name: 'Release'}).first().click();
    await page.getByText('Emergency stop: all commands are held').waitFor({state: 'detached'});
    assert.deepEqual(second.troubles, []);
    await second.context.close();
  });

  await t.test('the driver looks from where his station stands', async () => {
    await page.getByRole('radio', {name: 'Driver'}).check();
    await page.getByRole('button', {name: 'Nearer'}).click();
    await page.getByRole('button', {name: 'Farther'}).click(); // and the address says where that is
    await until('at the red wall', () => page.evaluate(() => new URLSearchParams(location.hash.split('?')[1]).get('look')), (look) => look?.startsWith('9.4,2.28,1.7,'));
    await page.getByRole('radio', {name: 'Top'}).check();
  });

  await t.test('Escape and a press anywhere else close what is open, and stop nothing', async () => {
    const overlays = page.getByRole('region', {name: 'Overlays'});
    const toggle = page.getByRole('button', {name: 'Overlays'});
    for (const leave of [() => page.keyboard.press('Escape'), () => page.mouse.click(900, 600), () => toggle.click()]) {
      await toggle.click();
      await overlays.waitFor();
      await leave();
      await overlays.waitFor({state: 'detached'});
    }
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('button', {name: 'E-stop'}).getAttribute('aria-pressed'), 'false');
  });

  assert.deepEqual(troubles, []);
});

/** From now on the page counts how often its emergency stop is armed. It is for a second, in which a busy machine may not look. */
async function countArmed(page) {
  await page.evaluate(() => {
    let was = !!document.querySelector('.estop.armed');
    window.armed = 0;
    window.observer?.disconnect();
    window.observer = new MutationObserver(() => {
      const is = !!document.querySelector('.estop.armed');
      window.armed += is && !was;
      was = is;
    });
    window.observer.observe(document.body, {subtree: true, attributes: true, attributeFilter: ['class']});
  });
}

/** What an address has to hold of the World page. */
const seen = (page) =>
  page.evaluate(() => {
    const keys = new URLSearchParams(location.hash.split('?')[1]);
    return {
      camera: document.querySelector('[aria-label="Camera"] input:checked').nextElementSibling.textContent.trim(),
      robot: document.querySelector('[aria-label="Robot for the camera"]').selectedOptions[0].textContent,
      body: document.querySelector('.selection h2')?.textContent,
      look: keys.get('look'),
      labels: document.querySelector('.labels').hidden,
    };
  });

test('a colleague gets the address of what one sees', async (t) => {
  const tether = await startTether(t, 'frc2011-six', Object.fromEntries([...'123456'].map((_, i) => [`wires[${i}].bind`, '127.0.0.1:0'])));
  const browser = await openBrowser(t);
  const small = {width: 900, height: 560}; // a processor draws
  const mine = await openPage(browser, tether.url, small);
  const {page, context} = mine;
  await page.locator('.canvas[data-ready]').waitFor();
  await page.getByRole('combobox', {name: 'Robot for the camera'}).selectOption({index: 3});
  await page.getByRole('radio', {name: 'Behind'}).check();
  await page.getByRole('button', {name: 'Overlays'}).click();
  await page.getByLabel('Names').uncheck();
  await page.keyboard.press('Escape');
  await page.locator('.canvas').click(); // what stands in the middle: the robot
  await page.locator('.selection h2').waitFor();
  await page.mouse.move(300, 350);
  await page.mouse.down();
  await page.mouse.move(540, 320, {steps: 2});
  await page.mouse.up();
  const told = await until('the address has the way of looking', () => seen(page), ({look}) => look);
  assert.deepEqual({...told, look: '', body: ''}, {camera: 'Behind', robot: (await page.locator('[aria-label="Robot for the camera"] option').nth(3).textContent()), body: '', look: '', labels: true});

  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', {name: 'Share'}).click();
  await page.getByRole('button', {name: 'Copy: Live'}).click();
  await page.getByText('The address is copied').waitFor();
  const address = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(address.startsWith(tether.url), address);

  await t.test('and sees the same', async () => {
    const other = await openPage(browser, tether.url, {...small, hash: address.split('#')[1]});
    await other.page.locator('.canvas[data-ready]').waitFor();
    assert.deepEqual(await seen(other.page), told);
    assert.deepEqual(other.troubles, []);
    await other.context.close();
  });

  await t.test('and the moment that one saw, which is over by then', async () => {
    await page.getByRole('button', {name: 'Share'}).click();
    await page.getByRole('button', {name: 'Copy: This moment'}).click();
    const keys = new URLSearchParams((await page.evaluate(() => navigator.clipboard.readText())).split('?')[1]);
    assert.ok(Number(keys.get('t')) > 0, keys.get('t'));
    const other = await openPage(browser, tether.url, {...small, hash: `world?${keys}`});
    await until('it shows that moment', () => other.page.getByRole('slider', {name: 'Time of the run'}).inputValue(), (value) => Math.abs(Number(value) - Number(keys.get('t'))) < 0.01);
    assert.deepEqual(other.troubles, []);
    await other.context.close();
  });

  await t.test('a reload changes nothing, the way back leads back', async () => {
    await page.getByRole('link', {name: 'Signals'}).click();
    await page.getByRole('main', {name: 'Signals'}).waitFor();
    await page.goBack();
    await page.locator('.canvas[data-ready]').waitFor();
    assert.deepEqual(await seen(page), told);
    await page.reload();
    await page.locator('.canvas[data-ready]').waitFor();
    assert.deepEqual(await seen(page), told);
    await page.getByRole('link', {name: 'Wires'}).click();
    const wire = page.locator('.wire-card').nth(3);
    await wire.click();
    await until('the address names the wire', () => page.evaluate(() => location.hash), (hash) => hash.includes('wire='));
    await page.reload();
    await page.getByRole('status', {name: 'Connection: Live'}).waitFor();
    await until('the same wire is shown', () => wire.getAttribute('aria-current'), (current) => current === 'true');
  });
  assert.deepEqual(mine.troubles, []);
});

/** The greatest step between a pixel and the one below it, in a column of a screenshot: what an edge is. */
const steepest = (page, screenshot, x, from, to) =>
  page.evaluate(
    async ([text, column, top, bottom]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${text}`;
      await image.decode();
      const drawing = new OffscreenCanvas(image.width, image.height).getContext('2d');
      drawing.drawImage(image, 0, 0);
      const {data} = drawing.getImageData(column, top, 1, bottom - top);
      let most = 0;
      for (let i = 4; i < data.length; i += 4) most = Math.max(most, Math.abs(data[i] - data[i - 4]));
      return most;
    },
    [screenshot.toString('base64'), x, from, to],
  );

test('a small robot on an endless floor: followed from near, before a horizon without an edge', async (t) => {
  const state = stateFolder(t);
  writeFileSync(join(state, 'floor.yaml'), 'robots:\n  - {robot: xrp}\n');
  const tether = await startTether(t, join(state, 'floor.yaml'), {}, {state});
  const browser = await openBrowser(t);
  const {page, troubles} = await openPage(browser, tether.url, {width: 800, height: 500, theme: 'light'});
  await page.locator('.canvas[data-ready]').waitFor();
  await page.getByRole('radio', {name: 'Follow'}).check();
  await page.getByRole('button', {name: 'Nearer'}).click();
  const look = await until('the address says where the camera is', () => page.evaluate(() => new URLSearchParams(location.hash.split('?')[1]).get('look')));
  const distance = Math.hypot(...look.split(',').slice(0, 3).map(Number));
  assert.ok(distance > 0.2 && distance < 1.2, `${distance} m from a robot of 20 cm`);

  await page.evaluate(() => (location.hash = 'world?camera=orbit&show=none&look=-6,-3,1.2,0,0,0.9'));
  const edge = await until('it is drawn', async () => steepest(page, await page.screenshot(), 730, 130, 330), (step) => step > 0 && step < 24); // a line of the grid is 12, sky and floor differ by 60
  t.diagnostic(`the steepest step at the horizon: ${edge} of 255`);
  assert.deepEqual(troubles, []);
});
