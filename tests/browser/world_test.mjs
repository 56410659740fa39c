// The World page: it comes up clean, shows motion, and all pages share one hand on the clock.
import {test} from 'node:test';
import {assert, openBrowser, openPage, startTether, until} from './harness.mjs';

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
    await page.keyboard.press('Escape');
    await second.page.getByText('Emergency stop: all commands are held').waitFor();
    await second.page.getByRole('button', {name: 'Release'}).first().click();
    await page.getByText('Emergency stop: all commands are held').waitFor({state: 'detached'});
    assert.deepEqual(second.troubles, []);
    await second.context.close();
  });

  assert.deepEqual(troubles, []);
});
