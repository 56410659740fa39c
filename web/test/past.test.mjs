// The past of signals as it comes out of a log: whatever goes wrong on the way, and in whatever order answers come, it is whole in the end.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

/* ---- a browser, its clock, and a program that answers when it is told to ---- */

Object.assign(globalThis, {location: {hash: '', href: 'http://tether.test/'}, history: {replaceState() {}, pushState() {}}, addEventListener() {}, requestAnimationFrame: () => 0, cancelAnimationFrame() {}, localStorage: {getItem: () => null, setItem() {}}});
const {expression, measured, past, plots, route, rows, run, samples: seen, store} = await load({
  expression: 'live/expression.ts', measured: 'pages/signals/measured.ts', past: 'live/past.ts', plots: 'pages/signals/plots.ts', route: 'route.ts', rows: 'live/rows.ts', run: 'live/shown_run.ts',
  samples: 'live/samples.ts', store: 'live/store.ts',
});

const settle = () => new Promise((resolve) => setImmediate(resolve));
let clock = 0; // ms
let timers = [];
let number = 0;
performance.now = () => clock;
globalThis.setTimeout = (call, ms = 0) => (timers.push({at: clock + ms, call, number: ++number}), number);
globalThis.clearTimeout = (asked) => void (timers = timers.filter((timer) => timer.number !== asked));

/** Lets ms pass, and all happen that is due by then. */
async function wait(ms) {
  const end = clock + ms;
  for (;;) {
    await settle();
    const next = timers.filter(({at}) => at <= end).sort((a, b) => a.at - b.at || a.number - b.number)[0];
    if (!next) break;
    timers = timers.filter((timer) => timer !== next);
    clock = Math.max(clock, next.at);
    next.call();
  }
  clock = end;
}

const DURATION = 100; // s
const EVERY = 0.05; // s
let duration, recording, asked;

const json = (value, status = 200) => new Response(JSON.stringify(value), {status});
const MANY = Array.from({length: 100}, (_, i) => `many${i}`);
const details = () => json({signals: ['x', 'y', ...MANY].map((name) => ({name})), duration, recording, name: 'r', scene: 's', started: '', events: [], program: null});

/** Samples whose value is their time, as the program answers. */
function samples(url) {
  const query = new URL(url, location.href).searchParams;
  const times = [];
  for (let i = Math.ceil(Number(query.get('from')) / EVERY); i * EVERY <= Math.min(Number(query.get('to')), duration) + 1e-9; i++) times.push(i * EVERY);
  const bytes = Buffer.alloc(query.getAll('name').length * (8 + 16 * times.length));
  let at = 0;
  for (const _ of query.getAll('name')) {
    at = bytes.writeUInt32LE(times.length, at) + 4;
    for (const time of [...times, ...times]) at = bytes.writeDoubleLE(time, at);
  }
  return new Response(bytes);
}

/** What may become of a question. */
const FATES = {
  answered: ({url, resolve}) => resolve(samples(url)),
  'cut off': ({url, resolve}) => samples(url).arrayBuffer().then((bytes) => resolve(new Response(bytes.slice(0, 21)))),
  lost: ({reject}) => reject(new TypeError('Failed to fetch')),
  refused: ({resolve}) => resolve(json({error: 'too many long answers at the same time'}, 503)),
  unknown: ({resolve}) => resolve(json({error: 'the run has no such signal'}, 404)),
};

let tellDetails = () => details();
globalThis.fetch = (url, {signal} = {}) => {
  if (/\/model$/.test(url)) return Promise.resolve(json({bodies: [], joints: [], robots: [], signals: [], commands: [], shapes: [], meshes: 0}));
  if (!/\/signals\?/.test(url)) return Promise.resolve(tellDetails());
  return new Promise((resolve, reject) => {
    const question = {url, resolve, reject, open: true, names: new URL(url, location.href).searchParams.getAll('name')};
    question.drop = () => ((question.open = false), reject(signal.reason));
    signal?.addEventListener('abort', question.drop);
    question.done = () => signal?.removeEventListener('abort', question.drop);
    asked.push(question);
  });
};

/** What is still waited for, answered as it is told. */
function decide(fate, which = () => true) {
  const due = asked.filter((question) => question.open && which(question));
  for (const question of due) {
    question.open = false;
    question.done();
    FATES[typeof fate === 'function' ? fate(question) : fate](question);
  }
  return due.length;
}

/** A kept run, anew. */
async function begin(name = 'a') {
  [duration, recording, asked] = [DURATION, false, []];
  tellDetails = () => details();
  store.connection.value = 'live';
  store.hello.value = {token: '', recording: ''};
  route.setParams({run: null});
  await wait(0);
  store.generation.value++;
  route.setParams({run: name});
  await wait(0);
  assert.equal(run.now(), DURATION);
}

/** A plot that rests: it draws only what has changed, the stretch or what there is of it. */
function draws(names, from = 0, to = DURATION, buckets = 1000) {
  let drawn = '';
  const draw = () => {
    const now = `${past.pastArrived.peek()} ${run.now()}`;
    if (drawn === now) return;
    drawn = now;
    for (const name of names) past.traceOf(name, from, to, buckets);
  };
  return draw;
}

/** s that are not there although they should be. */
function gaps(name, from = 0, to = DURATION, buckets = 1000) {
  const {times} = past.traceOf(name, from, to, buckets);
  const all = [from, ...times.filter((time) => time >= from && time <= to), to];
  return all.slice(1).flatMap((time, i) => (time - all[i] > 2 * EVERY || time < all[i] ? [[all[i], time]] : []));
}

/* ---- tests ---- */

test('what is missing comes, each stretch once', async () => {
  await begin();
  const draw = draws(['x', 'y']);
  for (let i = 0; i < 5; i++) {
    draw();
    await wait(10);
    decide('answered');
    await wait(10);
  }
  assert.deepEqual([gaps('x'), gaps('y')], [[], []]);
  assert.equal(asked.length, 1, 'one question for both');
  assert.ok(past.pastIsWhole());
});

for (const fate of ['cut off', 'lost', 'refused']) {
  test(`what was ${fate} is asked for again, together and not at once, also by who rests`, async () => {
    await begin();
    const names = Array.from({length: 20}, (_, i) => `s${i}`);
    const draw = draws(names);
    for (let i = 0; i < 40; i++) {
      draw();
      await wait(50);
      decide(fate);
    }
    assert.ok(asked.length >= 3 && asked.length <= 5, `${asked.length} questions in two seconds`);
    assert.ok(asked.every((question) => question.names.length === names.length), 'all names travel together');
    for (let i = 0; i < 20; i++) {
      draw();
      await wait(50);
      decide('answered');
    }
    for (const name of names) assert.deepEqual(gaps(name), []);
  });
}

test('a signal that the run has not spoils nothing, and is not asked for for ever', async () => {
  await begin();
  for (let i = 0; i < 100; i++) {
    for (const name of ['x', 'none', 'y']) past.traceOf(name, 0, DURATION, 1000);
    await wait(50);
    decide(({names}) => (names.includes('none') ? 'unknown' : 'answered'));
  }
  assert.deepEqual([gaps('x'), gaps('y')], [[], []]);
  assert.equal(past.traceOf('none', 0, DURATION, 1000).times.length, 0);
  assert.equal(asked.length, 4);
  // Another program may know it.
  store.generation.value++;
  await wait(0);
  past.traceOf('none', 0, DURATION, 1000);
  await wait(10);
  decide('answered');
  await wait(10);
  assert.deepEqual(gaps('none'), []);
});

test('what was asked over a line that is dead is asked again when there is another', async () => {
  await begin();
  const draw = draws(['x']);
  draw();
  await wait(60000);
  assert.equal(asked.length, 1, 'it is waited for');
  store.connection.value = 'lost';
  draw();
  await wait(10);
  assert.ok(asked[0].open);
  store.generation.value++;
  store.connection.value = 'live';
  for (let i = 0; i < 20; i++) {
    await wait(50);
    draw();
    await wait(50);
    decide('answered', (question) => question !== asked[0]);
  }
  assert.deepEqual(gaps('x'), []);
  assert.ok(past.pastIsWhole());
});

test('late answers and errors are those of their own run', async () => {
  for (const fate of Object.keys(FATES)) {
    await begin('a');
    past.traceOf('x', 0, DURATION, 1000);
    past.traceOf('y', 0, DURATION, 1000);
    await wait(10);
    const old = asked;
    await begin('b');
    past.traceOf('x', 0, DURATION, 1000);
    await wait(10);
    assert.equal(asked.length, 1);
    asked.push(...old);
    decide(fate, (question) => old.includes(question));
    await wait(10);
    assert.equal(past.traceOf('x', 0, DURATION, 1000).times.length, 0, `${fate}: nothing of the other run`);
    await wait(10);
    assert.equal(asked.length, 2, `${fate}: nothing more is asked`);
    decide('answered');
    await wait(10);
    assert.deepEqual(gaps('x'), []);
  }
});

test('a run that grows is followed, also where that is known later than its first samples', async () => {
  await begin();
  store.hello.value = {token: '', recording: '', replay: {run: 'a', duration: 50}};
  [duration, recording] = [50, true];
  let tell;
  tellDetails = () => new Promise((resolve) => (tell = resolve));
  store.generation.value++;
  await wait(0);
  past.traceOf('x', 0, 50, 1000);
  await wait(10);
  decide('answered');
  await wait(10);
  assert.deepEqual(gaps('x', 0, 50), []);
  duration = DURATION;
  tell(details());
  await wait(10);
  const draw = draws(['x'], 20, 70); // as wide as before: the same stretches
  for (let i = 0; i < 40; i++) {
    draw();
    await wait(50);
    decide('answered');
  }
  assert.deepEqual(gaps('x', 20, 70), []);
});

test('a run that was deleted is said to be gone, in an open page and where its address is opened', async () => {
  await begin();
  past.traceOf('x', 0, DURATION, 1000);
  await wait(10);
  assert.equal(run.goneRun.value, '');
  tellDetails = () => json({error: 'there is no such run'}, 404); // somebody deletes it
  decide('unknown');
  await wait(10);
  assert.equal(run.goneRun.value, 'a');
  route.setParams({run: 'b'});
  await wait(0);
  assert.equal(run.goneRun.value, 'b');
  assert.deepEqual(store.notices.value, [], 'which the page shows as long as it is so');
  route.setParams({run: null});
  assert.equal(run.goneRun.value, '');
  // A signal that a run doesn't have says nothing about the run.
  await begin();
  past.traceOf('none', 0, DURATION, 1000);
  await wait(10);
  decide('unknown');
  await wait(10);
  assert.equal(run.goneRun.value, '');
});

test('plots show of a run what there is of it, around its moment', async () => {
  await begin();
  for (const [time, from, to] of [[2, 0, 20], [50, 40, 60], [99, 80, 100]]) {
    route.setParams({t: String(time)});
    assert.deepEqual(plots.visible(), {from, to});
  }
  run.shownDetails.value = {...run.shownDetails.value, duration: 6};
  route.setParams({t: '2'});
  assert.deepEqual(plots.visible(), {from: 0, to: 6}, 'no time before a short run');
  route.setParams({t: null});
});

test('a run that is still recorded is asked for on, also after an answer that failed', async () => {
  await begin();
  recording = true;
  store.generation.value++;
  await wait(0);
  tellDetails = () => json({error: 'too many long answers at the same time'}, 503);
  await wait(3000);
  tellDetails = () => details();
  duration = DURATION + 5;
  await wait(3000);
  assert.equal(run.now(), DURATION + 5);
});

test('what remembers begins at the left edge, whatever the page has seen itself: line, value, cursors, CSV and the kept run agree', async () => {
  const OPENED = 6; // s of the run when the page is opened
  const END = 188 * EVERY;
  const formulas = ['integral(x)', 'integral(x + y) / 2', 'derivative(x)', 'mean(x, 2)', 'median(x, 2)', 'delay(x, 2)', 'lowpass(x, 0.2)', 'highpass(x, 0.2)', 'unwrap(x)'].map((formula) => `= ${formula}`);
  await begin();
  [duration, recording] = [END, true];
  let subscribed;
  store.hello.value = {token: '', recording: 'live'};
  store.model.value = {signals: ['x', 'y'].map((name) => ({name, unit: '1'})), commands: []};
  route.setParams({run: null});
  store.generation.value++;
  await wait(0);
  seen.resubscribe((message) => (subscribed = message));
  plots.plots.value = [{id: 1, traces: formulas.map((name, i) => ({name, colour: i + 1}))}];
  await wait(0);
  for (let i = OPENED / EVERY; i <= 188; i++) {
    const row = [i * EVERY, ...subscribed.signals.map(() => i * EVERY)];
    seen.takeSamples({number: subscribed.number, width: subscribed.signals.length, count: 1, lost: 0, rows: Float64Array.from(row)});
  }
  const whole = async (get) => {
    for (let i = 0; i < 40; i++) {
      get();
      await wait(50);
      decide('answered');
    }
    return get();
  };
  const near = (made, right, what) => {
    assert.equal(made.length, right.length, what);
    made.forEach((value, i) => assert.ok(Math.abs(value - right[i]) < 1e-9 || (Number.isNaN(value) && Number.isNaN(right[i])), `${what}: ${value} in place of ${right[i]}, sample ${i}`));
  };
  for (const from of [0, 2, 7]) {
    plots.frozen.value = {from, to: END};
    const times = Array.from({length: Math.round((END - from) / EVERY) + 1}, (_, i) => (Math.round(from / EVERY) + i) * EVERY);
    const units = () => '1';
    const right = (name) => expression.evaluate(expression.compile(name, units), ['x', 'y'].map(() => ({times, values: times})));
    const lines = new Map();
    for (const name of formulas) {
      const line = await whole(() => past.traceOf(name, from, END, 1000));
      near(line.times, times, `times of ${name} from ${from}`);
      near(line.values, right(name).values, `line of ${name} from ${from}`);
      near([plots.valueOf(name)], [line.values.at(-1)], `value of ${name} from ${from}`);
      plots.cursors.value = [8, END];
      near([measured.atCursor(name, 0)], [right(name).values[times.findLastIndex((time) => time <= 8)]], `cursor on ${name} from ${from}`);
      lines.set(name, line);
    }
    const csv = rows.rowsOf(formulas, from, END);
    await wait(0);
    decide('answered');
    const {columns} = await csv;
    formulas.forEach((name, i) => near(columns[i], lines.get(name).values, `CSV of ${name} from ${from}`));
    // The same run from its log alone, as another page has it.
    store.hello.value = {token: '', recording: ''};
    route.setParams({run: 'live'});
    await wait(0);
    store.keptModel.value = store.model.peek();
    for (const name of formulas) near((await whole(() => past.traceOf(name, from, END, 1000))).values, lines.get(name).values, `kept ${name} from ${from}`);
    store.hello.value = {token: '', recording: 'live'};
    store.keptModel.value = null;
    route.setParams({run: null});
    await wait(0);
  }
  plots.frozen.value = plots.cursors.value = null;
  plots.plots.value = [];
});

test('CSV has what the run has, and says what it has not', async () => {
  await begin();
  store.keptModel.value = {signals: ['x', 'y'].map((name) => ({name, unit: '1'})), commands: []};
  const made = rows.rowsOf(['x', 'none', 'sum = x + y', '= 2 * none'], 1, 2);
  await wait(0);
  assert.equal(decide(({names}) => (names.includes('none') ? 'unknown' : 'answered')), 1);
  const {times, columns, missing} = await made;
  assert.equal(times.length, 21);
  assert.deepEqual([columns[0], columns[2]], [times, times.map((time) => 2 * time)]);
  assert.ok([...columns[1], ...columns[3]].every(Number.isNaN));
  assert.deepEqual(missing, ['none', '2 * none']);
  await assert.rejects(rows.rowsOf(['none'], 1, 2), /the run has no none/);
  // More names than one request may have.
  const many = rows.rowsOf(MANY, 1, 2);
  for (let i = 0; i < 2; i++) {
    await wait(0);
    decide(({names}) => (names.length > 64 ? 'refused' : 'answered'));
  }
  assert.ok((await many).columns.every((column) => column.join() === times.join()));
  // What the program says of it, in its words.
  const refused = rows.rowsOf(['x'], 1, 2);
  await wait(0);
  decide('refused');
  await assert.rejects(refused, /too many long answers/);
  store.keptModel.value = null;
});

/** A number from 0 on below `below`; the same ones for the same seed. */
function chance(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('by chance: any fate, any order, zooms, other runs, lines that die', async () => {
  const names = ['x', 'y', 'x + y'];
  for (let seed = 1; seed <= 20; seed++) {
    const draw = chance(seed);
    const fates = Object.keys(FATES).filter((fate) => fate !== 'unknown');
    await begin('a');
    for (let step = 0; step < 60; step++) {
      const from = draw(80);
      for (const name of names) past.traceOf(name, from, from + 1 + draw(20), [100, 1000, 4000][draw(3)]);
      await wait(draw(400));
      decide(() => fates[draw(fates.length)], () => draw(2));
      if (!draw(12)) route.setParams({run: ['a', 'b'][draw(2)]});
      if (!draw(12)) {
        store.connection.value = 'lost';
        await wait(draw(300));
        store.generation.value++;
        store.connection.value = 'live';
      }
    }
    // From then on all is well.
    const drawn = draws(names);
    for (let i = 0; i < 60; i++) {
      drawn();
      await wait(50);
      decide('answered');
    }
    for (const name of names) assert.deepEqual(gaps(name), [], `seed ${seed}: ${name}`);
    assert.ok(past.pastIsWhole(), `seed ${seed}`);
  }
});
