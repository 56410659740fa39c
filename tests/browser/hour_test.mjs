// Twenty traces at 100 Hz for hours: what the page keeps is bounded, and it is drawn as smoothly as at the beginning.
// The stream between the real program and the page is replaced by hours of samples, as fast as the page takes them.
import {test} from 'node:test';
import {assert, openBrowser, startTether, until} from './harness.mjs';

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
