// Twenty traces at 100 Hz for hours: what the page keeps is bounded, and it is drawn as smoothly as at the beginning.
// The stream between the real program and the page is replaced by hours of samples, as fast as the page takes them.
import {execFileSync, spawn} from 'node:child_process';
import dgram from 'node:dgram';
import {once} from 'node:events';
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {assert, atEnd, openBrowser, openPage, program, root, set, startTether, stateFolder, until} from './harness.mjs';

const TRACES = 20;
const RATE = 100; // Hz
const HOUR = 3600; // s
/** In one message, s. */
const CHUNK = 60;
/** s shown. */
const SPANS = [20, 3600];

/** Samples as docs/web.md has them. */
function samples(number, from, seconds = CHUNK) {
  const rows = Math.round(seconds * RATE);
  const bytes = Buffer.alloc(16 + 8 * rows * (1 + TRACES));
  bytes.writeUInt8(2, 0);
  bytes.writeUInt16LE(TRACES, 2);
  bytes.writeUInt32LE(number, 4);
  bytes.writeUInt32LE(rows, 8);
  for (let i = 0, at = 16; i < rows; i++) {
    const time = from + i / RATE;
    at = bytes.writeDoubleLE(time, at);
    for (let k = 0; k < TRACES; k++) at = bytes.writeDoubleLE(Math.sin(time * (1 + k / 7)) + 0.1 * Math.random(), at);
  }
  return bytes;
}

/** Stands between page and program: text passes, samples are ours. Only a subscription to all the traces counts. */
async function replaceSamples(page) {
  const state = {number: 0, socket: null, time: 0};
  await page.routeWebSocket(/\/live/, (socket) => {
    const server = socket.connectToServer();
    state.socket = socket;
    server.onMessage((message) => typeof message === 'string' && socket.send(message));
    socket.onMessage((message) => {
      const request = JSON.parse(message);
      if (request.type === 'subscribe' && request.signals.length === TRACES) state.number = request.number;
      if (request.type !== 'subscribe') server.send(message);
    });
  });
  return state;
}

/** ms between a page's frames in `seconds`. */
function gaps(page, seconds) {
  return page.evaluate(
    (end) =>
      new Promise((resolve) => {
        const found = [];
        let last = performance.now();
        const first = last;
        const frame = (now) => {
          found.push(now - last);
          last = now;
          if (now - first < 1000 * end) requestAnimationFrame(frame);
          else resolve(found.slice(1).sort((a, b) => a - b));
        };
        requestAnimationFrame(frame);
      }),
    seconds,
  );
}

const WATCHED = 5; // s
/** s between messages while the page is watched. */
const STEP = 0.02;

/** How smooth the page is, and what it costs, while samples come in time and `span` s of them are shown. */
async function watch({page, session, stream}, span) {
  await page.getByRole('combobox', {name: 'Time shown'}).selectOption(String(span));
  const busy = async () => (await session.send('Performance.getMetrics')).metrics.find(({name}) => name === 'TaskDuration').value;
  const start = performance.now();
  const from = stream.time;
  const timer = setInterval(() => {
    for (; stream.time < from + (performance.now() - start) / 1000; stream.time += STEP) stream.socket.send(samples(stream.number, stream.time, STEP));
  }, 1000 * STEP);
  const before = await busy();
  const found = await gaps(page, WATCHED);
  const share = ((await busy()) - before) / WATCHED;
  clearInterval(timer);
  return `${(found.length / WATCHED).toFixed(1)} frames/s, 99 % of gaps below ${found[Math.floor(0.99 * found.length)].toFixed(0)} ms, its thread busy ${(100 * share).toFixed(0)} %`;
}

/** MB of the page's heap after its garbage was collected. */
async function heap(session) {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Performance.getMetrics')).metrics.find(({name}) => name === 'JSHeapUsedSize').value / 1e6;
}

test('two hours of twenty traces', async (t) => {
  const tether = await startTether(t, 'frc2011', {'wires.float-udp.bind': '127.0.0.1:0'});
  const browser = await openBrowser(t, {webgl: false});
  const context = await browser.newContext({viewport: {width: 1280, height: 720}});
  const page = await context.newPage();
  const stream = await replaceSamples(page);
  await page.goto(`${tether.url}#signals`);
  await page.getByRole('searchbox', {name: 'Search signals'}).fill('.');
  const rows = page.locator('[data-signal]');
  await rows.nth(TRACES - 1).waitFor();
  const names = await rows.evaluateAll((all) => all.map((row) => row.dataset.signal));
  await page.evaluate((plots) => localStorage.setItem('tether.plots', plots), JSON.stringify([{id: 1, names: names.slice(0, 10)}, {id: 2, names: names.slice(10, TRACES)}]));
  await page.reload();
  await until('the page asks for its traces', () => stream.number);
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');

  const heaps = {};
  for (const [after, end] of [['a minute', 60], ['an hour', HOUR], ['two hours', 2 * HOUR]]) {
    for (; stream.time < end; stream.time += CHUNK) {
      stream.socket.send(samples(stream.number, stream.time));
      await page.evaluate(() => 0); // not faster than the page takes them
    }
    heaps[after] = await heap(session);
    t.diagnostic(`after ${after}: ${heaps[after].toFixed(1)} MB of heap`);
    for (const span of SPANS) t.diagnostic(`after ${after}, ${span} s shown: ${await watch({page, session, stream}, span)}`);
  }
  const shown = await page.locator('.legend-value').first().getAttribute('data-raw');
  assert.ok(Number.isFinite(Number(shown)), shown);
  // An hour is what is kept: twenty traces of 360 000 samples of 16 bytes, in arrays outside this heap or inside.
  assert.ok(heaps['two hours'] < heaps['an hour'] + 10, JSON.stringify(heaps));
});

const WIRE = {'wires.float-udp.bind': '127.0.0.1:0'};
const PLOTS = 20;
/** ms that a hand may wait for an hour of twenty signals. A seek should take 150 ms at most; it is told, since drawing takes most of it. */
const HOUR_MS = 300;
const SEEKS = 20;

async function freeAddress() {
  const socket = dgram.createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const {port} = socket.address();
  socket.close();
  return `127.0.0.1:${port}`;
}

/** A log of an hour in the folder of runs, made of some seconds of a robot that is driven; 20 samples a second. Tells its name. */
async function recordHour(t, state) {
  const folder = join(state, 'tether/runs');
  const short = join(state, 'short.wpilog');
  mkdirSync(folder, {recursive: true});
  const [bind, peer] = [await freeAddress(), await freeAddress()];
  const driver = spawn('python3', ['-u', join(root, 'clients/python/frc2011_driver.py'), bind, peer], {stdio: 'ignore'});
  atEnd(t, () => driver.kill());
  execFileSync(program, ['run', 'frc2011', '--duration', '30', '--record', short, '--no-web', ...set({'wires.float-udp.bind': bind, 'wires.float-udp.peer': peer, 'record.period': '50 ms'})], {cwd: root, env: {...process.env, XDG_STATE_HOME: state}, stdio: 'ignore'});
  driver.kill();
  const make = 'import sys; sys.path[:0] = sys.argv[3:]; from recording import make_hour; make_hour(*sys.argv[1:3])';
  execFileSync('python3', ['-c', make, short, join(folder, 'hour.wpilog'), join(root, 'bench'), join(root, 'tests')]);
  return 'hour.wpilog';
}

/** In the page: ms from an act until all that `event` tells of has been drawn as it is wanted. */
const MEASURE = () => {
  window.measure = (act, event, count, holds) =>
    new Promise((resolve) => {
      const drawn = new Set();
      const begin = performance.now();
      const hear = ({target, detail}) => {
        if (!holds(detail)) return;
        drawn.add(target);
        if (drawn.size < count) return;
        removeEventListener(event, hear, true);
        requestAnimationFrame(() => resolve(performance.now() - begin));
      };
      addEventListener(event, hear, true);
      act();
    });
  window.seekTo = (time) => {
    const line = document.querySelector('.timebar-track input');
    line.value = String(time);
    line.dispatchEvent(new Event('input', {bubbles: true}));
    return line.valueAsNumber;
  };
};

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const told = (list) => `median ${median(list).toFixed(0)} ms, slowest ${Math.max(...list).toFixed(0)} ms of ${list.length}`;
/** Anywhere in an hour, never twice the same place. */
const places = Array.from({length: SEEKS}, (_, i) => Math.round(1000 * ((i * 0.618034 + 0.07) % 1) * (HOUR - 60)) / 1000);

test('an hour\'s log: twenty signals of all of it, and any moment of it with twenty plots', async (t) => {
  const state = stateFolder(t);
  const run = await recordHour(t, state);
  const tether = await startTether(t, 'concept-symmetric', {...WIRE, 'record.on': 'false'}, {state});
  const {signals} = await (await fetch(`${tether.url}api/runs/${run}`)).json();
  const names = signals.map(({name}) => name).filter((name) => /^(left_wheel|right_wheel|arm|wrist|chassis)\./.test(name)).slice(0, PLOTS);
  assert.equal(names.length, PLOTS);
  const plots = JSON.stringify(names.map((name, i) => ({id: i + 1, traces: [{name, colour: 1 + (i % 20)}]})));
  const at = async (hash) => openPage(await openBrowser(t, {webgl: hash === 'world'}), tether.url, {calm: false, hash: `${hash}?run=${run}&t=1800`, script: `localStorage.setItem('tether.plots', ${JSON.stringify(plots)}); (${MEASURE})()`});

  const hours = [];
  let signalsPage;
  for (let i = 0; i < 4; i++) {
    await signalsPage?.context.close();
    signalsPage = await at('signals');
    await until('twenty plots', () => signalsPage.page.locator('.plot').count(), (count) => count === PLOTS);
    hours.push(await signalsPage.page.evaluate((count) => {
      const select = document.querySelector('select[aria-label="Time shown"]');
      select.value = '3600';
      return window.measure(() => select.dispatchEvent(new Event('change', {bubbles: true})), 'plotted', count, ({from, to, whole}) => whole && to - from > 3500);
    }, PLOTS));
  }
  t.diagnostic(`an hour × ${PLOTS} signals from the click: first ${hours[0].toFixed(0)} ms, then ${told(hours.slice(1))}`);
  const {page, context, troubles} = signalsPage;
  await page.getByRole('combobox', {name: 'Time shown'}).selectOption('20');
  const seekAll = async (of, event, count) => {
    const found = [];
    for (const place of places) {
      found.push(await of.evaluate(([time, what, many]) => {
        let wanted;
        return window.measure(() => (wanted = window.seekTo(time)), what, many, (detail) => (typeof detail === 'number' ? Math.abs(detail - wanted) < 1e-3 : detail.whole && Math.abs(detail.moment - wanted) < 1e-3));
      }, [place, event, count]));
    }
    return found;
  };
  const plotted = await seekAll(page, 'plotted', PLOTS);
  t.diagnostic(`a seek with ${PLOTS} plots: ${told(plotted)}`);
  assert.deepEqual(troubles, []);
  await context.close();

  const world = await at('world');
  await world.page.locator('.canvas[data-ready]').waitFor();
  const pictured = await seekAll(world.page, 'drawn', 1);
  t.diagnostic(`a seek with the picture: ${told(pictured)}`);
  assert.deepEqual(world.troubles, []);
  assert.ok(median(hours) <= HOUR_MS, told(hours));
});
