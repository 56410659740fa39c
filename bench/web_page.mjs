// web_page.mjs: what a real browser measures of the pages: node web_page.mjs ADDRESS first|load|world|plots|device|compare|stay SECONDS; JSON to
// standard output.
import {launch} from '../tests/browser/harness.mjs';

const [address, what, seconds] = process.argv.slice(2);
const TRACES = 20;
const SIZE = {width: 1280, height: 720};

/** Collects in the page when each picture was shown (ms since the epoch), and which moment it showed (s simulated). */
const WATCH = () => {
  window.shown = [];
  window.ticks = [];
  const tick = (now) => {
    window.ticks.push(now);
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  addEventListener('DOMContentLoaded', () =>
    document.addEventListener('drawn', ({detail}) => requestAnimationFrame(() => window.shown.push([detail, performance.timeOrigin + performance.now()])), true),
  );
};

async function open(browser, hash, plots) {
  const context = await browser.newContext({viewport: SIZE});
  const page = await context.newPage();
  await page.addInitScript(WATCH);
  if (plots) await page.addInitScript((kept) => localStorage.setItem('tether.plots', kept), JSON.stringify(plots));
  await page.goto(`${address}/#${hash}`);
  return {context, page};
}

/** Median ms from navigation until the first picture with robots was shown; the first visit warms the browser up. */
async function first(browser) {
  const times = [];
  for (let i = 0; i < 6; i++) {
    const {context, page} = await open(browser, 'world');
    await page.locator('.canvas[data-ready]').waitFor();
    times.push(await page.evaluate(() => performance.getEntriesByName('robots shown')[0].startTime));
    await context.close();
  }
  return {ms: times.slice(1).sort((a, b) => a - b)[2], all: times};
}

/** Bytes that a first visit fetches until robots are shown, as they go over the wire: with heads, without what is opened later. */
async function load(browser) {
  const {page, context} = await open(browser, 'signals'); // none of it is measured: the browser gets ready
  await page.locator('[role=tree] [role=treeitem]').first().waitFor();
  await context.close();
  const fresh = await browser.newContext({viewport: SIZE});
  const visit = await fresh.newPage();
  const session = await fresh.newCDPSession(visit);
  await session.send('Network.enable');
  const files = new Map();
  session.on('Network.requestWillBeSent', ({requestId, request}) => files.set(requestId, {url: request.url, bytes: 0}));
  session.on('Network.loadingFinished', ({requestId, encodedDataLength}) => files.has(requestId) && (files.get(requestId).bytes = encodedDataLength));
  await visit.goto(`${address}/#world`);
  await visit.locator('.canvas[data-ready]').waitFor();
  await fresh.close();
  // What the world consists of is its own affair: the pages' files are counted.
  const pages = [...files.values()].filter(({url}) => !/\/api\//.test(url));
  return {bytes: pages.reduce((sum, {bytes}) => sum + bytes, 0), files: pages.length};
}

/** Median ms from the click on the first device's tile until its plots, its strip and its newest records were shown; the first click
 *  warms the browser up. */
async function device(browser) {
  const {page} = await open(browser, 'telemetry');
  const times = [];
  for (let i = 0; i < 6; i++) {
    await page.locator('.tile a').first().waitFor();
    times.push(
      await page.evaluate(
        () =>
          new Promise((resolve) => {
            const begun = performance.now();
            document.querySelector('.tile a').click();
            const look = () => {
              const there = ['.device-plot', '.brush', '.record-panel td'].every((what) => document.querySelector(what));
              if (!there) requestAnimationFrame(look);
              else requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begun))); // once it was painted
            };
            look();
          }),
      ),
    );
    await page.getByRole('link', {name: 'All devices'}).click();
  }
  return {ms: times.slice(1).sort((a, b) => a - b)[2], all: times};
}

const COMPARED = 8;
const SIGNALS = 4;

/** Median ms from the eighth of eight clicks on runs until each of four plots has a line and a row of values of each; every visit is that
 *  of another browser, which knows nothing of them. The first one's program has not looked into their logs. */
async function compare(browser) {
  const runs = (await (await fetch(`${address}/api/runs`)).json()).filter(({recording}) => !recording).slice(0, COMPARED);
  const {signals} = await (await fetch(`${address}/api/runs/${runs[0].id}`)).json();
  const names = signals.map(({name}) => name).filter((name) => /\.(position|velocity|x|y)$/.test(name)).slice(0, SIGNALS);
  if (runs.length < COMPARED || names.length < SIGNALS) throw new Error(`${runs.length} runs with ${names.length} signals`);
  const times = [];
  for (let i = 0; i < 6; i++) {
    const {context, page} = await open(browser, `runs?${new URLSearchParams(names.map((name) => ['signals', name]))}`);
    await page.locator('.run-choose input').nth(COMPARED - 1).waitFor();
    times.push(
      await page.evaluate(
        ([count, plots]) =>
          new Promise((resolve) => {
            const begun = performance.now();
            const boxes = [...document.querySelectorAll('.run-choose input')].slice(0, count);
            boxes.forEach((box) => box.click());
            const look = () => {
              const rows = [...document.querySelectorAll('.compare-plot')].map((plot) => plot.querySelectorAll('tbody tr').length);
              if (rows.length < plots || rows.some((each) => each < count)) requestAnimationFrame(look);
              else requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begun))); // once it was painted
            };
            look();
          }),
        [COMPARED, SIGNALS],
      ),
    );
    await context.close();
  }
  return {ms: times.slice(1).sort((a, b) => a - b)[2], all: times};
}

/** s for which the page's own thread was busy since the session began to count. */
async function mainThread(session) {
  const {metrics} = await session.send('Performance.getMetrics');
  return metrics.find(({name}) => name === 'TaskDuration').value;
}

/** A page that shows `hash` while twenty traces are gathered. */
async function watch(browser, hash) {
  const probe = await open(browser, 'signals');
  await probe.page.locator('[role=tree] [role=treeitem]').first().waitFor();
  await probe.page.getByRole('searchbox', {name: 'Search signals'}).fill('.');
  await probe.page.locator(`[data-signal] >> nth=${TRACES - 1}`).waitFor();
  const names = await probe.page.locator('[data-signal]').evaluateAll((rows) => rows.map((row) => row.dataset.signal));
  await probe.context.close();
  const {context, page} = await open(browser, hash, [{id: 1, names: names.slice(0, TRACES / 2)}, {id: 2, names: names.slice(TRACES / 2, TRACES)}]);
  await page.locator(hash === 'world' ? '.canvas[data-ready]' : '.plot-canvas canvas').first().waitFor();
  await page.waitForTimeout(2000);
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  const before = await mainThread(session);
  await page.evaluate(() => ((window.shown = []), (window.ticks = [])));
  await page.waitForTimeout(1000 * Number(seconds));
  const after = await mainThread(session);
  const {shown, ticks} = await page.evaluate(() => ({shown: window.shown, ticks: window.ticks}));
  const gaps = ticks.slice(1).map((tick, i) => tick - ticks[i]).sort((a, b) => a - b);
  await context.close();
  return {shown, frames: (1000 * (ticks.length - 1)) / (ticks.at(-1) - ticks[0]), gap99: gaps[Math.floor(0.99 * gaps.length)], busy: (after - before) / Number(seconds)};
}

/** A page that is simply there, until standard input ends. */
async function stay(browser) {
  const {page} = await open(browser, 'world');
  await page.locator('.canvas[data-ready]').waitFor();
  console.log('{}');
  for await (const _ of process.stdin);
}

const browser = await launch({webgl: !['plots', 'device', 'compare'].includes(what)});
const result = await {first, load, stay, device, compare, world: () => watch(browser, 'world'), plots: () => watch(browser, 'signals')}[what](browser);
if (result) console.log(JSON.stringify(result));
await browser.close();
