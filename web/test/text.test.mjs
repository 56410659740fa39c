// Numbers as people read them, and statistics.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const format = await load('format.ts');
const {extent, quantile, summarize} = await load('statistics.ts');

test('values', () => {
  const cases = [
    [0, '0'], [12, '12'], [-3, '\u22123'], [1.23456, '1.235'], [-0.00421, '\u22120.004210'], [1234.5678, '1235'], [0.99996, '1.000'], [9.99996, '10.00'], [999.96, '1000'],
    [1e-9, '1.00e\u22129'], [2.5e8, '2.50e8'], [NaN, '–'], [Infinity, '∞'],
  ];
  for (const [value, text] of cases) assert.equal(format.formatValue(value), text);
});

test('runs of one minute are told apart by their seconds', () => {
  const [one, other] = ['2026-11-20T19:41:07Z', '2026-11-20T19:41:52Z'];
  assert.equal(format.formatDate(one), format.formatDate(other));
  assert.match(format.formatDate(one, true), /41.07/);
  assert.match(format.formatDate(other, true), /41.52/);
});

test('what rounding left of nothing reads 0', () => {
  const cases = [[8.09e-14, '0'], [-8.09e-14, '0'], [2e-6, '2.00e\u22126'], [0.5, '0.5000'], [NaN, '–']];
  for (const [value, text] of cases) assert.equal(format.formatSignal(value), text);
});

test('ticks of an axis have the digits their distance needs', () => {
  const cases = [
    [0.25, 0.25, '0.25'], [-2, 1, '\u22122'], [3, 0.5, '3.0'], [0, 0.2, '0'], [1e-17, 0.2, '0'], [2e8, 1e8, '2.00e8'],
    [4e-13, 2e-13, '4e\u221213'], [-1.2e-12, 2e-13, '\u22121.2e\u221212'], [0.0010002, 1e-7, '1.0002e\u22123'],
  ];
  for (const [value, step, text] of cases) assert.equal(format.formatTick(value, step), text);
});

test('clocks never show a sixtieth second', () => {
  assert.equal(format.formatClock(0), '0:00.000');
  assert.equal(format.formatClock(59.9996), '0:59.999');
  assert.equal(format.formatClock(59.99999999995), '1:00.000');
  assert.equal(format.formatClock(3599.9999999999), '1:00:00');
  assert.equal(format.formatClock(-1e-9), '0:00.000');
  assert.equal(format.formatClock(61.25), '1:01.250');
  assert.equal(format.formatClock(3725), '1:02:05');
});

test('CSV cells: quotes, commas, and no formulas from names', () => {
  assert.equal(format.csvCell(0.1 + 0.2), '0.30000000000000004');
  assert.equal(format.csvCell('a,"b"'), '"a,""b"""');
  assert.equal(format.csvCell('=cmd()'), "'=cmd()");
  assert.equal(format.csvCell(NaN), '');
});

test('quantiles and spread of known numbers', () => {
  assert.equal(quantile([1, 2, 3, 4], 0.5), 2.5);
  const summary = summarize([2, 4, 4, 4, 5, 5, 7, 9]);
  assert.equal(summary.mean, 5);
  assert.ok(Math.abs(summary.deviation - Math.sqrt(32 / 7)) < 1e-12);
  assert.deepEqual([summary.least, summary.lower, summary.median, summary.upper, summary.greatest], [2, 4, 4.5, 5.5, 9]);
  assert.ok(Number.isNaN(summarize([3]).deviation));
  assert.equal(summarize([]).count, 0);
});

test('ticks of run time have a unit, or are a clock', () => {
  const cases = [[2.5, 0.5, 6, '2.5 s'], [-1, 1, 6, '−1 s'], [0, 10, 59, '0 s'], [0, 20, 100, '0:00'], [1004, 2, 1022, '16:44'], [61.5, 0.5, 62, '1:01.5'], [60, 0.5, 62, '1:00.0'],
    [-75, 15, 75, '−1:15'], [3600, 600, 7200, '1:00:00'], [600, 600, 7200, '0:10:00'], [4000000, 2000000, 4000000, '1111:06:40']];
  for (const [value, step, greatest, text] of cases) assert.equal(format.formatTimeTick(value, step, greatest), text);
});

test('one infinite value takes the range from nobody', () => {
  assert.deepEqual(extent([[1, Infinity, NaN, 3], [null, undefined, -2, -Infinity]]), [-2, 3]);
  assert.equal(extent([[Infinity, NaN], []]), null);
});
