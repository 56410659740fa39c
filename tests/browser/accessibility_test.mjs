// axe-core on every page, in both themes, at a desk and on a phone; nothing cut off there; and the way through each page with keys alone.
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {assert, openBrowser, openPage, root, startTether, stateFolder, until} from './harness.mjs';
import {makeSweep} from './sweep.mjs';

const AXE = readFileSync(join(root, 'web/node_modules/axe-core/axe.min.js'), 'utf8');
const PAGES = {world: 'World', signals: 'Signals', wires: 'Wires', drive: 'Drive', telemetry: 'Telemetry', runs: 'Runs', sweeps: 'Sweeps', trials: 'Trials', build: 'Build'};
/** px that a finger needs. */
const FINGER = 34;

async function goTo(page, hash) {
  await page.evaluate((to) => (location.hash = to), hash);
  await page.getByRole('main', {name: PAGES[hash]}).waitFor();
  await page.locator('.loading').waitFor({state: 'detached'});
}

/** Serious findings of axe on the page as it is. Themes differ in colours only, so the second need not be asked the rest. */
function examine(page, colourOnly) {
  return page.evaluate(async (rules) => {
    const {violations} = await window.axe.run(document, {resultTypes: ['violations'], ...rules});
    return violations
      .filter(({impact}) => impact === 'serious' || impact === 'critical')
      .map(({id, nodes}) => `${id}: ${nodes.map(({html}) => html.slice(0, 160)).slice(0, 3).join(' | ')}`);
  }, colourOnly ? {runOnly: ['color-contrast']} : {});
}

/** What leaves a phone's screen sideways without standing in something that scrolls, what cuts off its content, and what is too
 *  small for a finger. */
function misfits(page) {
  return page.evaluate((finger) => {
    const scrolls = (element) => element && (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    const seen = [...document.querySelectorAll('.topbar *, .rail *, main *')].filter((element) => element.checkVisibility() && element.closest('.labels, canvas, .visually-hidden, thead') === null);
    const wide = seen.filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5 && !scrolls(element.parentElement));
    const hidden = seen.filter((element) => element.matches('.panel, .scroll, .panel-body') && element.scrollHeight > element.clientHeight + 1 && (element.clientHeight < 60 || element.matches('.panel')));
    const small = seen.filter((element) => element.matches('button:not(.timeline *, .flag), select, summary') && element.getBoundingClientRect().height < finger);
    const tell = (what, list) => list.map((element) => `${what}: ${element.outerHTML.slice(0, 120)}`);
    return [...tell('leaves the screen', wide), ...tell('hides what is in it', hidden), ...tell('too small', small)];
  }, FINGER);
}

/** What stands below the page, or the links to others, where nothing scrolls to it. */
function unreachable(page) {
  return page.evaluate(() => {
    const view = document.querySelector('main .view').getBoundingClientRect();
    const scrolls = (element) => element !== null && (/auto|scroll/.test(getComputedStyle(element).overflowY) || scrolls(element.parentElement));
    const seen = [...document.querySelectorAll('main .view :is(button, input, select, a, summary)')].filter((element) => element.checkVisibility() && !element.matches('.visually-hidden, .visually-hidden *'));
    const below = seen.filter((element) => element.getBoundingClientRect().bottom > view.bottom + 1 && !scrolls(element.parentElement));
    const links = [...document.querySelectorAll('.rail a')].filter((element) => element.getBoundingClientRect().bottom > innerHeight + 0.5);
    return [...below, ...links].map((element) => element.outerHTML.slice(0, 120));
  });
}

/** Walks through the page with Tab alone; tells what it does not reach, and where no ring shows the focus. */
async function walk(page) {
  const count = await page.evaluate(() => {
    const stops = 'a[href], button, input, select, textarea, summary, [tabindex]';
    // Of a group of radio buttons the keys reach one; arrows go on from there. A closed list is opened at its summary.
    const reachable = (element) =>
      !element.disabled && element.tabIndex >= 0 && element.checkVisibility({visibilityProperty: true}) && !element.matches('.skip, [role=treeitem], [type=radio]:not(:checked)');
    window.expected = new Set([...document.querySelectorAll(stops)].filter(reachable));
    window.reached = new Set();
    window.ringless = [];
    document.activeElement.blur();
    window.watch ??= ({target}) => {
      window.reached.add(target);
      const shown = target.type === 'radio' ? target.nextElementSibling : target;
      if (getComputedStyle(shown).outlineStyle === 'none') window.ringless.push(target.outerHTML.slice(0, 120));
    };
    addEventListener('focusin', window.watch); // once, however often it is added
    // A field of a date and a time has a stop for each part of them, and for its calendar.
    return window.expected.size + 8 * document.querySelectorAll('[type=datetime-local]').length;
  });
  for (let i = 0; i < count + 8; i++) await page.keyboard.press('Tab');
  return page.evaluate(() => ({
    missed: [...window.expected].filter((element) => element.isConnected && !window.reached.has(element)).map((element) => element.outerHTML.slice(0, 120)),
    ringless: window.ringless,
  }));
}

/** On the page Telemetry: the first device, with all there is of it. */
async function openDevice(page) {
  await page.locator('.tile a').first().click();
  await page.getByRole('button', {name: 'All there is'}).click();
  await page.locator('.device-plot').first().waitFor();
  await page.getByRole('slider', {name: 'Beginning of what is looked at'}).waitFor();
  await page.locator('.record-panel tbody td').first().waitFor();
}

/** On the page Sweeps: two runs, a selection, the form for another, and parallel coordinates. */
async function chooseMuch(page) {
  await page.evaluate(() => (location.hash = 'sweeps?view=parallel&select=gain:0..1'));
  for (const run of ['2', '3']) await page.getByRole('button', {name: run, exact: true}).click();
  await page.getByRole('button', {name: 'Add a filter or a selection'}).click();
  await page.getByRole('button', {name: 'Race them in 3D'}).waitFor();
  await page.getByRole('img', {name: /^Parallel coordinates/}).waitFor();
}

/** On the page Build: a scene that is there, at the steps that have most in them; then the menu of scenes. */
async function build(page, look) {
  await page.evaluate(() => (location.hash = 'build?scene=frc2011'));
  await page.locator('.steps').waitFor();
  for (const step of ['Field and place', 'Wire', 'Client and run']) {
    await page.locator('.step', {hasText: step}).click();
    await page.locator('.step[aria-current]', {hasText: step}).waitFor();
    await look(step);
  }
  await page.locator('.scene-name').click();
  const menu = page.getByRole('dialog', {name: 'Scenes'});
  await menu.locator('.scene-cards').waitFor();
  await look('the menu of scenes');
  await page.keyboard.press('Escape');
  await menu.waitFor({state: 'detached'}); // as long as it is there, nothing else takes the focus
}

test('every page can be read, hit and reached', async (t) => {
  const state = stateFolder(t);
  makeSweep(state, 6);
  const telemetry = {'telemetry.listen': '127.0.0.1:0', 'telemetry.store': `sqlite:${state}/telemetry.db`};
  const tether = await startTether(t, 'frc2011', {'wires.float-udp.bind': '127.0.0.1:0', ...telemetry}, {state});
  const browser = await openBrowser(t);

  await t.test('at a desk, in the dark, with keys alone', async () => {
    const {page, context} = await openPage(browser, tether.url, {theme: 'dark', script: AXE});
    await page.getByRole('button', {name: 'Pause'}).click(); // so that no list moves while it is walked through
    for (const hash of Object.keys(PAGES)) {
      await goTo(page, hash);
      assert.deepEqual(await examine(page, false), [], hash);
      assert.deepEqual(await walk(page), {missed: [], ringless: []}, hash);
      if (hash === 'telemetry') {
        await openDevice(page);
        assert.deepEqual(await examine(page, false), [], 'a device');
        assert.deepEqual(await walk(page), {missed: [], ringless: []}, 'a device');
      }
      if (hash === 'sweeps') {
        await chooseMuch(page);
        assert.deepEqual(await examine(page, false), [], 'two runs and a selection');
        assert.deepEqual(await walk(page), {missed: [], ringless: []}, 'two runs and a selection');
      }
      if (hash === 'build') {
        await build(page, async (what) => {
          assert.deepEqual(await examine(page, false), [], what);
          if (what !== 'the menu of scenes') assert.deepEqual(await walk(page), {missed: [], ringless: []}, what);
        });
      }
      if (hash !== 'drive') continue;
      await page.getByRole('radio', {name: 'Driver station'}).check();
      assert.deepEqual(await examine(page, false), [], 'the driver station');
      assert.deepEqual(await walk(page), {missed: [], ringless: []}, 'the driver station');
    }
    const focused = () => page.evaluate(() => document.activeElement.outerHTML.slice(0, 160));
    await page.getByRole('button', {name: 'Shortcuts and help'}).focus();
    assert.match(await focused(), /"Shortcuts and help"/);
    await page.keyboard.press('?');
    await page.getByRole('dialog', {name: 'Shortcuts'}).waitFor();
    const keys = await page.getByRole('dialog', {name: 'Shortcuts'}).locator('kbd').allTextContents();
    assert.ok(keys.includes('+') && keys.every((key) => key), keys.join(' '));
    for (let i = 0; i < 6; i++) {
      await page.keyboard.press('Tab');
      assert.ok(await page.evaluate(() => document.activeElement === document.body || document.activeElement.closest('dialog') !== null), 'the focus left the dialog');
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', {name: 'Shortcuts'}).waitFor({state: 'detached'});
    await until('the focus is back where it was', focused, (html) => html.includes('"Shortcuts and help"'));
    await context.close();
  });

  await t.test('on a phone, in the light, with a finger', async () => {
    const {page, context, troubles} = await openPage(browser, tether.url, {theme: 'light', script: AXE, width: 390, height: 844, phone: true});
    for (const [hash, title] of Object.entries(PAGES)) {
      await page.getByRole('link', {name: title, exact: true}).tap();
      await goTo(page, hash);
      assert.deepEqual(await examine(page, true), [], hash);
      assert.deepEqual(await misfits(page), [], hash);
      if (hash === 'telemetry') {
        await openDevice(page);
        assert.deepEqual(await examine(page, true), [], 'a device');
        assert.deepEqual(await misfits(page), [], 'a device');
      }
      if (hash === 'sweeps') {
        await chooseMuch(page);
        assert.deepEqual(await examine(page, true), [], 'two runs and a selection');
        assert.deepEqual(await misfits(page), [], 'two runs and a selection');
      }
      if (hash === 'build') {
        await build(page, async (what) => {
          assert.deepEqual(await examine(page, true), [], what);
          assert.deepEqual(await misfits(page), [], what);
        });
      }
      if (hash !== 'drive') continue;
      await page.getByRole('radio', {name: 'Driver station'}).check();
      assert.deepEqual(await examine(page, true), [], 'the driver station');
      assert.deepEqual(await misfits(page), [], 'the driver station');
      await page.getByRole('radio', {name: 'Robot', exact: true}).check();
    }
    // On narrower phones, too, the figures stand in the bar; on a short one the sticks above the time line.
    await goTo(page, 'drive');
    for (const [width, height, figures] of [[320, 568, 2], [360, 740, 3], [375, 667, 3], [430, 932, 3]]) {
      await page.setViewportSize({width, height});
      const found = await page.evaluate(() => {
        const boxOf = (what) => document.querySelector(what).getBoundingClientRect();
        const [bar, row, pad, line] = ['.topbar', '.figures', '.pad', '.timebar'].map(boxOf);
        const inside = [...document.querySelectorAll('.figure:not(.extra)')].map((each) => each.getBoundingClientRect()).filter((each) => each.bottom <= row.bottom + 0.5 && each.left >= row.left - 0.5);
        return {figures: inside.length, below: row.bottom > bar.bottom, pad: [pad.top - boxOf('.drive-view').top, line.top - pad.bottom].map(Math.round)};
      });
      assert.deepEqual([found.figures, found.below], [figures, false], `${width} px: ${JSON.stringify(found)}`);
      assert.ok(found.pad.every((room) => room >= 0), `sticks on ${width} × ${height}: ${JSON.stringify(found)}`);
    }
    assert.deepEqual(troubles, []);
    await context.close();
  });

  await t.test('on a phone that lies on its side', async () => {
    const {page, context, troubles} = await openPage(browser, tether.url, {width: 844, height: 390, phone: true});
    for (const [hash, title] of Object.entries(PAGES)) {
      await page.getByRole('link', {name: title, exact: true}).tap();
      await goTo(page, hash);
      assert.deepEqual([await misfits(page), await unreachable(page)], [[], []], hash);
      if (hash === 'world') {
        await page.getByRole('button', {name: 'Overlays'}).tap();
        await page.getByRole('region', {name: 'Overlays'}).waitFor();
        assert.deepEqual([await misfits(page), await unreachable(page)], [[], []], 'overlays');
        await page.keyboard.press('Escape');
      }
      if (hash === 'drive') {
        const [view, stick] = [await page.locator('main .view').boundingBox(), await page.locator('.stick').first().boundingBox()];
        assert.ok(stick.y + stick.height <= view.y + view.height, 'sticks lie under the thumbs');
      }
      if (hash === 'signals') {
        const [tree, plot] = [await page.locator('.tree').boundingBox(), await page.locator('.plot-canvas').first().boundingBox()];
        assert.ok(plot.x >= tree.x + tree.width, 'plots stand beside the tree');
      }
      if (hash === 'build') {
        await build(page, async (what) => {
          assert.deepEqual([await misfits(page), await unreachable(page)], [[], []], what);
          if (what === 'the menu of scenes') return;
          // What stands in a step may come from the server, after its frame.
          await until(`px that ${what} has`, async () => (await page.locator('.build-step').boundingBox()).height, (height) => height > 200);
        });
      }
    }
    // The form of a filter and the menu of scenes stand on the screen whole.
    await goTo(page, 'sweeps');
    await page.getByRole('button', {name: 'Add a filter or a selection'}).tap();
    const form = await page.locator('.condition-form').boundingBox();
    assert.ok(form.x >= 0 && form.x + form.width <= 844, JSON.stringify(form));
    assert.deepEqual(troubles, []);
    await context.close();
  });

  await t.test('a dialog on a phone keeps what is in it', async () => {
    const {page, context} = await openPage(browser, tether.url, {width: 390, height: 844, phone: true});
    await page.locator('.scene-name').click();
    const menu = page.getByRole('dialog', {name: 'Scenes'});
    await menu.locator('.scene-cards').waitFor();
    const outside = await menu.evaluate((dialog) => {
      const right = dialog.getBoundingClientRect().right;
      return [...dialog.querySelectorAll('button, a, input')].filter((element) => element.getBoundingClientRect().right > right).map((element) => element.outerHTML.slice(0, 120));
    });
    assert.deepEqual(outside, []);
    await context.close();
  });
});
