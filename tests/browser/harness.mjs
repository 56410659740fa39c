// harness.mjs: the real program and a real browser for the tests of the pages.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {cpus, loadavg, tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';

export const root = process.env.TETHER_SOURCE_DIR ?? fileURLToPath(new URL('../..', import.meta.url));
const require = createRequire(join(root, 'web/'));
const {chromium} = require('playwright-core');
export const program = process.env.TETHER ?? join(root, 'build/tether');
const CHROMIUM = '/usr/bin/chromium-headless-shell';
const FLAGS = [
  '--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
  '--disable-sync',
];
// The processor draws WebGL alone, and puts pages together its own way, which costs half of what it costs through WebGL's.
const SOFTWARE_WEBGL = ['--disable-gpu-compositing', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];
const READS_BACK = /GPU stall due to ReadPixels/; // which it says of itself
/** For what takes this long on a machine that does other things besides, ms; longer where more than two processes want each core. */
export const PATIENCE = 60000 * Math.min(Math.max(1, loadavg()[0] / cpus().length / 2), 4);

if (!existsSync(CHROMIUM)) {
  console.error('skipped: no chromium-headless-shell (script/setup --test installs it)');
  process.exit(77);
}

const endings = new WeakMap(); // of a test -> what is to be done at its end

/** Does something at a test's end, the last first: a program ends before the folder that it writes into goes. node:test has
 * it the other way round, and leaves out what follows a failure, a program that runs for ever. */
export function atEnd(t, act) {
  const acts = endings.get(t) ?? [];
  acts.push(act);
  if (endings.has(t)) return;
  endings.set(t, acts);
  t.after(async () => {
    const failures = [];
    while (acts.length > 0) {
      try {
        await acts.pop()();
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length > 0) throw failures[0];
  });
}

/** Runs of one test keep their state apart from the user's. */
export function stateFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'tether-browser-'));
  atEnd(t, () => rmSync(folder, {recursive: true, force: true}));
  return folder;
}

/** Starts the program with arguments; resolves once it says that it is ready. */
export async function start(t, args, state = stateFolder(t)) {
  const child = spawn(program, args, {cwd: root, env: {...process.env, XDG_STATE_HOME: state}, stdio: ['ignore', 'ignore', 'pipe']});
  const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  const said = [];
  const ready = new Promise((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      said.push(line);
      if (line.startsWith('ready ')) resolve(line);
    });
    ended.then((code) => reject(new Error(`tether ended with ${code}: ${said.join('\n')}`)));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    return ended;
  };
  atEnd(t, stop);
  const line = await ready;
  const addresses = Object.fromEntries(line.split(' ').slice(1).map((part) => part.split(/=(.*)/s).slice(0, 2)));
  return {addresses, stop, ended, said, pid: child.pid};
}

/** --set for each of {path: value}. */
export const set = (settings) => Object.entries(settings).flatMap(([path, value]) => ['--set', `${path}=${value}`]);

/** Starts a scene, or what `command` takes in place of one, with its pages. */
export async function startTether(t, scene, settings = {}, {state = stateFolder(t), command = 'run'} = {}) {
  const started = await start(t, [command, ...(scene ? [scene] : []), ...set({'web.listen': '127.0.0.1:0', ...settings})], state);
  return {...started, url: `${started.addresses.web}/`};
}

/** What a page remembers from before: a coarse picture, since a processor draws it here. */
const COARSE = "localStorage.getItem('tether.quality') ?? localStorage.setItem('tether.quality', '\"fast\"')";

/** Pages draw every CALM_MS: a processor that draws sixty times a second has nothing left for what is tested. */
const CALM_MS = 120;
const CALM = `(() => {
  const draw = requestAnimationFrame.bind(window);
  let waiting = new Map(), number = 0;
  window.requestAnimationFrame = (callback) => (waiting.set(++number, callback), number);
  window.cancelAnimationFrame = (asked) => waiting.delete(asked);
  setInterval(() => waiting.size > 0 && draw((now) => {
    const due = waiting;
    waiting = new Map();
    for (const callback of due.values()) callback(now);
  }), ${CALM_MS});
})()`;

/** With WebGL in software, for the World page. Without, as Chromium is on a machine without a graphics card: what does not
 * need WebGL is drawn many times as fast then. */
export function launch({webgl = true} = {}) {
  return chromium.launch({executablePath: CHROMIUM, args: [...FLAGS, ...(webgl ? SOFTWARE_WEBGL : [])]});
}

/** One browser a test file, for one test or, with {after} of node:test, for all; its pages tell of everything that goes wrong in them. */
export async function openBrowser(t, options) {
  const browser = await launch(options);
  atEnd(t, () => browser.close());
  return browser;
}

/** `calm: false`: the page draws as often as it can, for tests of its speed. */
export async function openPage(browser, url, {width = 1280, height = 720, hash = 'world', theme = 'dark', phone = false, script, connection = 'Live', timezone, calm = true} = {}) {
  const context = await browser.newContext({
    viewport: {width, height},
    colorScheme: theme,
    hasTouch: phone,
    timezoneId: timezone,
    isMobile: phone,
    acceptDownloads: true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const troubles = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && !READS_BACK.test(message.text()) && troubles.push(message.text()));
  page.on('pageerror', (error) => troubles.push(error.stack ?? String(error)));
  page.on('requestfailed', (request) => {
    // A picture that leaves the page before it has come is let go.
    const isLetGo = request.resourceType() === 'image' && request.failure()?.errorText === 'net::ERR_ABORTED';
    if (!isLetGo) troubles.push(`failed: ${request.url()}`);
  });
  page.on('request', (request) => {
    const {protocol, host} = new URL(request.url());
    if (protocol.startsWith('http') && host !== new URL(url).host) troubles.push(`leaves the machine: ${request.url()}`);
  });
  if (calm) await page.addInitScript(CALM);
  await page.addInitScript(script ?? '');
  await page.addInitScript(COARSE);
  await page.goto(`${url}#${hash}`);
  await page.getByRole('status', {name: `Connection: ${connection}`}).waitFor();
  return {page, context, troubles};
}

/** A text that is too long to be read, by its beginning and its end. */
const ends = (text = 'undefined') => (text.length > 4000 ? `${text.slice(0, 2000)} … ${text.slice(-2000)}` : text);

/** Waits until `ask` gives what `holds`; fails with what it gave last. */
export async function until(what, ask, holds = Boolean) {
  const end = Date.now() + PATIENCE;
  let value;
  for (;;) {
    value = await ask();
    if (holds(value)) return value;
    if (Date.now() > end) assert.fail(`${what}: still ${ends(JSON.stringify(value))}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** How many pixels of a screenshot lie in a range of colours ({r: [from, below], g: …, b: …}), counted in a page of its own. */
export async function countPixels(context, screenshot, range) {
  const page = await context.newPage();
  const count = await page.evaluate(
    async ([text, {r, g, b}]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${text}`;
      await image.decode();
      const drawing = new OffscreenCanvas(image.width, image.height).getContext('2d');
      drawing.drawImage(image, 0, 0);
      const {data} = drawing.getImageData(0, 0, image.width, image.height);
      const inside = (value, [from, below]) => value >= from && value < below;
      let found = 0;
      for (let i = 0; i < data.length; i += 4) found += inside(data[i], r) && inside(data[i + 1], g) && inside(data[i + 2], b);
      return found;
    },
    [screenshot.toString('base64'), range],
  );
  await page.close();
  return count;
}

/** Names of signals into the first plot, through the tree. */
export async function plot(page, names) {
  const search = page.getByRole('searchbox', {name: 'Search signals'});
  for (const name of names) {
    await search.fill(name);
    await page.locator(`[data-signal="${name}"]`).click();
    await page.locator('.legend-name', {hasText: name}).waitFor();
  }
  await search.fill('');
}

/** The raw value that a plot's legend shows of a signal. */
export async function shownValue(page, name) {
  const row = page.locator('.legend li', {has: page.locator(`.legend-name[title="${name}"]`)});
  return Number(await row.locator('.legend-value').getAttribute('data-raw'));
}

export {assert};
