// Twenty traces at 100 Hz for hours: what the page keeps is bounded, and drawing costs what it cost at the beginning.
// The stream between the real program and the page is replaced by hours of samples, as fast as the page takes them.
import {test} from 'node:test';
import {assert, openBrowser, startTether, until} from './harness.mjs';

const TRACES = 20;
const RATE = 100; // Hz
const HOUR = 3600; // s
/** In one message, s. */
const CHUNK = 60;

/** Samples as docs/web.md has them. */
function samples(number, from) {
  const rows = CHUNK * RATE;
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
  const state = {number: 0, socket: null};
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

async function measure(session, page) {
  const figures = async () => Object.fromEntries((await session.send('Performance.getMetrics')).metrics.map(({name, value}) => [name, value]));
  await session.send('HeapProfiler.collectGarbage');
  const before = await figures();
  await page.waitForTimeout(3000);
  const after = await figures();
  return {heap: before.JSHeapUsedSize / 1e6, busy: (after.TaskDuration - before.TaskDuration) / 3};
}

test('two hours of twenty traces', async (t) => {
  const tether = await startTether(t, 'frc2011', {'wires.float-udp.bind': '127.0.0.1:0'});
  const browser = await openBrowser(t);
  const context = await browser.newContext({viewport: {width: 1280, height: 720}});
  const page = await context.newPage();
  const stream = await replaceSamples(page);
  await page.addInitScript(() => localStorage.setItem('tether.span', '3600'));
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

  let now = 0;
  const feed = async (end) => {
    for (; now < end; now += CHUNK) {
      stream.socket.send(samples(stream.number, now));
      await page.evaluate(() => 0); // not faster than the page takes them
    }
    return measure(session, page);
  };
  const figures = {'a minute': await feed(60), 'an hour': await feed(HOUR), 'two hours': await feed(2 * HOUR)};
  for (const [after, {heap, busy}] of Object.entries(figures)) t.diagnostic(`after ${after}: ${heap.toFixed(1)} MB of heap, the page's thread busy ${(100 * busy).toFixed(1)} % while an hour is shown`);
  const shown = await page.locator('.legend-value').first().getAttribute('data-raw');
  assert.ok(Number.isFinite(Number(shown)), shown);
  // An hour is what is kept: twenty traces of 360 000 samples of 16 bytes, in arrays outside this heap or inside.
  assert.ok(figures['two hours'].heap < figures['an hour'].heap + 10, JSON.stringify(figures));
});
