// axe-core on every page, in both themes, and the way through the page with keys alone.
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {assert, openBrowser, openPage, root, startTether} from './harness.mjs';

const AXE = readFileSync(join(root, 'web/node_modules/axe-core/axe.min.js'), 'utf8');
const PAGES = {world: 'World', signals: 'Signals', wires: 'Wires', drive: 'Drive', telemetry: 'Telemetry', runs: 'Runs', trials: 'Trials'};

/** Serious findings of axe on the page as it is. Themes differ in colours only, so the second need not be asked the rest. */
function examine(page, colourOnly) {
  return page.evaluate(async (rules) => {
    const {violations} = await window.axe.run(document, {resultTypes: ['violations'], ...rules});
    return violations
      .filter(({impact}) => impact === 'serious' || impact === 'critical')
      .map(({id, nodes}) => `${id}: ${nodes.map(({html}) => html.slice(0, 160)).slice(0, 3).join(' | ')}`);
  }, colourOnly ? {runOnly: ['color-contrast']} : {});
}

test('no serious findings on any page', async (t) => {
  const tether = await startTether(t, 'frc2011', {'wires.float-udp.bind': '127.0.0.1:0'});
  const browser = await openBrowser(t);
  for (const theme of ['dark', 'light']) {
    const {page, context} = await openPage(browser, tether.url, {theme, script: AXE});
    for (const [hash, title] of Object.entries(PAGES)) {
      await page.evaluate((to) => (location.hash = to), hash);
      await page.getByRole('main', {name: title}).waitFor();
      await page.locator('.loading').waitFor({state: 'detached'});
      assert.deepEqual(await examine(page, theme === 'light'), [], `${hash}, ${theme}`);
    }
    await context.close();
  }

  await t.test('every control can be reached with Tab and shows where the focus is', async () => {
    const {page, context} = await openPage(browser, tether.url);
    const reached = new Set();
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press('Tab');
      const focus = await page.evaluate(() => {
        const element = document.activeElement;
        const ring = getComputedStyle(element.nextElementSibling && element.type === 'radio' ? element.nextElementSibling : element).outlineStyle;
        return {name: element.getAttribute('aria-label') ?? element.textContent, ring};
      });
      if (focus.name !== null) {
        reached.add(focus.name.trim());
        if (focus.name.trim() && focus.name.length < 60) assert.notEqual(focus.ring, 'none', focus.name);
      }
    }
    for (const name of ['Pause', 'E-stop', 'Signals', 'Overlays']) assert.ok(reached.has(name), `${name} among ${[...reached].join(', ')}`);
    await page.keyboard.press('?');
    await page.getByRole('dialog', {name: 'Shortcuts'}).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', {name: 'Shortcuts'}).waitFor({state: 'detached'});
    await context.close();
  });
});
