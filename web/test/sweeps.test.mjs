// What the page Sweeps computes by itself: conditions, its address, whole columns, cells.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {loadHooks, until} from './hooks.mjs';

globalThis.addEventListener ??= () => {};
globalThis.location ??= {hash: ''};
const {conditions, route, run, state, values, distribution} = await loadHooks({
  route: 'route',
  conditions: 'pages/sweeps/conditions',
  state: 'pages/sweeps/state',
  values: 'pages/sweeps/values',
  distribution: 'pages/sweeps/distribution',
});

test('a condition is written as the program reads it, and read again', () => {
  const texts = ['gain:0.2..0.5', 'gain:..1e-7', 'gain:-2..', 'status:=ok', 'status:!ok', 'error:~a:b..c', 'final_y:none'];
  for (const text of texts) assert.equal(conditions.write(conditions.read(text)), text);
  for (const text of ['gain', ':1..2', 'gain:1', 'gain:x..2', '']) assert.equal(conditions.read(text), null, text);
  assert.equal(conditions.tell(conditions.read('gain:0.5..0.5')), 'gain = 0.5000');
});

test('rows are selected by all conditions; nothing is in no range', () => {
  const columns = new Map([
    ['gain', {values: Float64Array.of(0.1, 0.2, NaN, 0.4)}],
    ['status', {values: Float64Array.of(0, 1, 0, NaN), texts: ['ok', 'timeout']}],
  ]);
  const chosen = (...texts) => {
    const found = conditions.select(texts.map(conditions.read), 4, columns);
    return found && [...found].join('');
  };
  assert.equal(chosen('gain:0.2..'), '0101');
  assert.equal(chosen('gain:none'), '0010');
  assert.equal(chosen('status:=ok'), '1010');
  assert.equal(chosen('status:!ok'), '0101', 'as the program has it: nothing is another');
  assert.equal(chosen('status:~TIME'), '0100');
  assert.equal(chosen('gain:0..1', 'status:=ok'), '1000');
  assert.equal(chosen(), null);
  assert.equal(chosen('other:0..1'), null, 'a column that is not there yet');
});

test('the address holds all that is shown', () => {
  const hash = '#sweeps?sweep=gains-1f&view=parallel&x=a+b&z=none&line=gain&line=final_y&table=points&sort=-gain&filter=status:%3Dok&select=gain:0.1..0.5&row=ab&row=cd';
  const of = (address) => state.parse((key) => route.parse(address).keys.get(key) ?? []);
  const shown = of(hash);
  assert.deepEqual(shown.filters, [{column: 'status', kind: 'same', text: 'ok'}]);
  assert.deepEqual([shown.id, shown.view, shown.x, shown.groups, shown.runs], ['gains-1f', 'parallel', 'a b', true, ['ab', 'cd']]);
  const keys = new Map(Object.entries(state.keysOf(shown)).flatMap(([key, value]) => (value === null ? [] : [[key, [value].flat()]])));
  assert.equal(route.format('sweeps', keys), hash);
  assert.equal(of('#sweeps/gains-1f').id, 'gains-1f', 'as addresses were written before');
  assert.equal(of('#sweeps/%zz?view=pie&filter=x&row=a&row=b&row=c').runs.length, 2);
});

function bytes(header, ...columns) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const size = Math.ceil((text.length + 4) / 8) * 8 - 4;
  const buffer = new ArrayBuffer(4 + size + 8 * header.rows * columns.length);
  new DataView(buffer).setUint32(0, size, true);
  new Uint8Array(buffer, 4, size).fill(32).set(text);
  columns.forEach((column, i) => new Float64Array(buffer, 4 + size + 8 * header.rows * i, header.rows).set(column));
  return buffer;
}

test('columns are read, and later rows put behind them, texts by their own places', () => {
  const first = values.decode(bytes({rows: 2, stride: 1, columns: [{name: 'gain'}, {name: 'status', texts: ['ok']}]}, [1, 2], [0.5, 0.6], [0, NaN]));
  assert.deepEqual([...first.columns.get('gain').values], [0.5, 0.6]);
  const more = values.decode(bytes({rows: 2, stride: 1, columns: [{name: 'gain'}, {name: 'status', texts: ['timeout', 'ok']}]}, [3, 4], [0.7, NaN], [0, 1]));
  const all = values.append(first, more);
  assert.deepEqual([...all.numbers], [1, 2, 3, 4]);
  assert.deepEqual(all.columns.get('status').texts, ['ok', 'timeout']);
  assert.deepEqual([...all.columns.get('status').values], [0, NaN, 1, 0]);
  assert.deepEqual(values.rowsOf(all, [3, 9]), [2]);
});

test('few values are cells of their own, many are stretches; means and counts are of what lies in them', () => {
  const few = distribution.cut({values: Float64Array.of(2, 1, 2, NaN)}, String);
  assert.deepEqual(few.labels, ['1', '2']);
  assert.deepEqual([few.of(2), few.of(1), few.of(NaN)], [1, 0, -1]);
  const many = distribution.cut({values: Float64Array.from({length: 1000}, (_, i) => i)}, String);
  assert.equal(many.labels, null);
  assert.equal(many.of(0), 0);
  assert.equal(many.of(999), many.count - 1, 'the greatest lies in the last');
  const {all, chosen} = distribution.histogram(few, Float64Array.of(2, 1, 2, NaN), Uint8Array.of(1, 0, 0, 1));
  assert.deepEqual([[...all], [...chosen]], [[1, 2], [0, 1]]);
  const x = Float64Array.of(1, 1, 2, 2);
  const y = Float64Array.of(5, 5, 5, 6);
  const cells = [distribution.cut({values: x}, String), distribution.cut({values: y}, String)];
  const {mean, count, chosen: lit} = distribution.heat(...cells, {x, y, z: Float64Array.of(1, 3, NaN, 7)}, Uint8Array.of(0, 0, 0, 1));
  assert.deepEqual([...mean], [2, NaN, NaN, 7]);
  assert.deepEqual([...count], [2, 0, 0, 1]);
  assert.deepEqual([...lit], [0, 0, 0, 1]);
});

test('rows that come while others are on their way are asked for behind them', async () => {
  const asked = [];
  globalThis.fetch = (url) => new Promise((resolve) => asked.push({after: Number(new URL(url, 'http://tether.test/').searchParams.get('after')), resolve}));
  const next = async (rows) => {
    await until(() => asked.length);
    const {after, resolve} = asked.shift();
    const numbers = Array.from({length: rows - after}, (_, i) => after + i + 1);
    resolve(new Response(bytes({rows: numbers.length, stride: 1, columns: [{name: 'gain'}]}, numbers, numbers)));
    return after;
  };
  const shown = run(values.useValues, 'a', ['gain'], [], 2);
  await until(() => asked.length);
  shown('a', ['gain'], [], 3); // the last of the sweep
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(await next(2), 0);
  assert.equal(await next(3), 2);
  await until(() => shown.now.values?.rows === 3);
  assert.deepEqual([...shown.now.values.numbers], [1, 2, 3]);
});

test('rows that were there before the sweep told of them are there once, also behind a filter', async () => {
  const filters = [conditions.read('gain:1..')];
  for (const now of [[], filters]) {
    const asked = [];
    globalThis.fetch = async (url) => {
      const after = Number(new URL(url, 'http://tether.test/').searchParams.get('after'));
      asked.push(after);
      const numbers = (asked.length === 1 ? [1, 3] : [1, 3, 4]).filter((number) => number > after); // row 2 is not let through
      return new Response(bytes({rows: numbers.length, stride: 1, columns: [{name: 'gain'}]}, numbers, numbers));
    };
    const shown = run(values.useValues, 'b', ['gain'], now, 2);
    await until(() => shown.now.values?.rows === 2);
    for (const last of [3, 4]) {
      shown('b', ['gain'], now, last);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.deepEqual([[...shown.now.values.numbers], asked], [[1, 3, 4], [0, 3]]);
    shown.end();
  }
});
