// What a model has beside shapes and colours is drawn: textures, the rays of range finders, and nothing that is hidden.
import {join} from 'node:path';
import {test} from 'node:test';
import {assert, countPixels, openBrowser, openPage, root, startTether, until} from './harness.mjs';

test('textures and rays are drawn, hidden shapes are not', async (t) => {
  const tether = await startTether(t, join(root, 'tests/browser/looks.yaml'));
  const browser = await openBrowser(t);
  const {page, context, troubles} = await openPage(browser, tether.url, {width: 900, height: 600});
  await page.locator('.canvas[data-ready]').waitFor();
  await page.getByRole('radio', {name: 'Follow'}).check();
  const count = async (colour) => countPixels(context, await page.locator('.canvas').screenshot(), colour);
  // The box itself is white: only its texture is magenta. A yellow sphere around it would hide everything, were it drawn.
  await until('the cube texture is there', () => count({r: [150, 256], g: [0, 60], b: [150, 256]}), (pixels) => pixels > 500);
  await until('the ray is there', () => count({r: [60, 190], g: [140, 256], b: [60, 190]}), (pixels) => pixels > 10);
  assert.equal(await count({r: [180, 256], g: [180, 256], b: [0, 60]}), 0);
  assert.deepEqual(troubles, []);
});
