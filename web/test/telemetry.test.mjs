// What the page Telemetry computes by itself: stretches of time, clocks of zones, broken lines, and which rows stand where in a table of any length.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

globalThis.location ??= {hash: ''};
globalThis.addEventListener ??= () => {};
const {span, zone, points, records, state} = await load({
  span: 'pages/telemetry/span',
  zone: 'pages/telemetry/zone',
  points: 'pages/telemetry/points',
  records: 'pages/telemetry/records',
  state: 'pages/telemetry/state',
});
const NOON = Date.parse('2026-11-22T12:00:00Z');

test('a file has the clocks of the axis, in a zone that the program knows', async () => {
  const asked = [];
  globalThis.fetch = async (url) => {
    asked.push(new URL(url, 'http://tether.test/').searchParams.get('zone'));
    const knows = asked.at(-1) === 'Europe/Berlin';
    return new Response(JSON.stringify(knows ? [] : {error: 'zone: is no time zone'}), {status: knows ? 200 : 400});
  };
  const hours = (text, count) => ({from: Date.parse(text), to: Date.parse(text) + count * 3600e3});
  const settle = () => new Promise((resolve) => setTimeout(resolve));
  const of = async (moments, name) => {
    zone.fileZone(moments, name, 'D');
    await settle();
    return zone.fileZone(moments, name, 'D');
  };
  // Names that Chromium has of old, and a program may not: what the axis says is sent.
  for (const [name, offset] of [['Asia/Calcutta', '+05:30'], ['Asia/Katmandu', '+05:45'], ['America/St_Johns', '-03:30'], ['Europe/Berlin', '+01:00'], ['Europe/London', 'Z'], ['UTC', 'Z']]) {
    assert.deepEqual(await of(hours('2026-11-22T12:00:00Z', 1), name), {zone: offset, fixed: false}, name);
  }
  assert.deepEqual(await of(hours('2020-01-01T00:00:00Z', 50000), 'Asia/Calcutta'), {zone: '+05:30', fixed: false});
  assert.deepEqual(asked, []);
  // The night in which clocks are set, the day after, of which a row for a day begins before, and a year.
  for (const moments of [hours('2026-10-24T22:00:00Z', 6), hours('2026-10-25T12:00:00Z', 1), hours('2026-01-01T00:00:00Z', 8760)]) {
    assert.deepEqual(await of(moments, 'Europe/Berlin'), {zone: 'Europe/Berlin', fixed: false});
    assert.deepEqual(await of(moments, 'Europe/Kiev'), {zone: '+02:00', fixed: true});
  }
  assert.deepEqual(asked, ['Europe/Berlin', 'Europe/Kiev']);
});

test('a stretch is written as it is read', () => {
  for (const text of ['10m', '90s', '365d', 'all', '2026-11-22T11:00:00Z..2026-11-22T12:00:00.250Z']) assert.equal(span.writeSpan(span.parseSpan(text)), text);
  assert.equal(span.writeSpan({kind: 'last', ms: 3600e3}), '1h');
  for (const text of [null, '', '10', 'x..y', '-5m', '0s', '2026-11-22T12:00:00Z..2026-11-22T11:00:00Z', '1e9d', '9999999999d']) assert.equal(span.parseSpan(text), null, text);
});

test('moments of a stretch follow now, or a world that is faster', () => {
  const there = {from: NOON - 1000e3, to: NOON + 50e3};
  assert.deepEqual(span.momentsOf({kind: 'last', ms: 60e3}, null, NOON), {from: NOON - 60e3, to: NOON});
  assert.deepEqual(span.momentsOf({kind: 'last', ms: 60e3}, there, NOON), {from: NOON - 10e3, to: NOON + 50e3});
  assert.deepEqual(span.momentsOf({kind: 'all'}, there, NOON), there);
  const wide = span.wider({from: NOON - 60e3, to: NOON}, there, NOON);
  assert.deepEqual([wide.from, wide.to], [NOON - 90e3, NOON + 30e3]);
  assert.deepEqual(span.wider({from: NOON - 60e3, to: NOON}, null, NOON), {kind: 'between', from: NOON - 120e3, to: NOON});
});

test('clocks of a zone, in summer and in winter, and on the night between', () => {
  assert.equal(zone.clockText(NOON, 'Europe/Berlin'), '2026-11-22T13:00:00');
  assert.equal(zone.clockText(Date.parse('2026-07-01T12:00:00.5Z'), 'America/New_York'), '2026-07-01T08:00:00.500');
  assert.equal(zone.zoneText('Asia/Kolkata', NOON), 'Asia/Kolkata, UTC+05:30');
  assert.equal(zone.zoneText('America/New_York', NOON), 'America/New_York, UTC−05:00');
  for (const name of ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe']) {
    for (const moment of ['2026-11-22T12:00:00Z', '2026-03-29T00:59:59Z', '2026-03-29T01:00:00Z', '2026-10-25T02:30:00Z', '1969-07-20T20:17:40.250Z']) {
      assert.equal(zone.momentOf(zone.clockText(Date.parse(moment), name), name), Date.parse(moment), `${name} ${moment}`);
    }
  }
  assert.ok(Number.isNaN(zone.momentOf('', 'UTC')));
});

test('who is silent is stale, then gone; a rate is taken over some seconds', () => {
  assert.deepEqual([0, 10, 11, 600, 601, null].map(state.livenessOf), ['online', 'online', 'stale', 'stale', 'gone', 'gone']);
  const rates = new state.Rates();
  const tell = (values, s) => rates.take([{device: 'D', values}], 1000 * s);
  tell(100, 0);
  assert.equal(rates.of('D'), null);
  tell(120, 2);
  tell(140, 4);
  assert.equal(rates.of('D'), 10);
  tell(5, 5); // the program was started again
  assert.equal(rates.of('D'), null);
});

const at = (s) => new Date(NOON + 1000 * s).toISOString();

test('lines are broken where much is missing, and go on where another signal has a sample', () => {
  const often = [0, 1, 2, 3, 30, 31, 32].map((s) => ['A', at(s), s, s + 1, s % 2 ? null : 5, s % 2 ? null : 5]);
  const series = points.seriesOf({header: ['Device', 'Time', 'x least', 'x greatest', 'y least', 'y greatest'], records: often});
  assert.deepEqual(series.map(({device, field, times}) => [device, field, times.length]), [['A', 'x', 7], ['A', 'y', 4]]);
  const {times, columns} = points.align(series);
  assert.deepEqual(times.map((time) => time - NOON / 1000), [0, 1, 2, 3, 16, 16.5, 30, 31, 32]);
  assert.deepEqual(columns[0], [0, 1, 2, 3, undefined, null, 30, 31, 32], 'the least of x: 16.5 lies in the gap');
  assert.deepEqual(columns[2], [5, undefined, 5, undefined, null, undefined, 5, undefined, 5], 'y goes on over what is only of x');
});

/** A program's table of these moments, µs, as docs/telemetry-tables.md says. */
function programOf(moments, {exact = true} = {}) {
  const sorted = [...moments].sort((a, b) => a - b);
  const iso = (us) => new Date(Math.floor(us / 1000)).toISOString().replace('Z', `${String(us % 1000).padStart(3, '0')}Z`);
  const asked = [];
  const ask = async (keys) => {
    asked.push(keys);
    const newest = keys.order === 'newest';
    let rest = sorted.filter((us) => us >= Number(keys.from) && us <= Number(keys.to) && (!keys.cursor || us < Number(keys.cursor)));
    const count = rest.length;
    if (newest) rest = rest.reverse();
    let end = Math.min(rest.length, Number(keys.limit));
    while (end > 0 && end < rest.length && rest[end] === rest[end - 1]) end++; // a page ends between two moments
    const page = rest.slice(0, end);
    const counted = exact ? {count, count_is: 'exact'} : {count: Math.min(count, 300), count_is: 'at least'};
    return {header: ['Device', 'Time', 'n'], records: page.map((us) => ['D', iso(us), us]), next: newest && end < rest.length ? String(page.at(-1)) : null, ...(keys.count && counted)};
  };
  return {ask, asked, newestFirst: [...sorted].reverse()};
}

async function rowsAt(table, first, last) {
  await table.want(first, last);
  return Array.from({length: last - first + 1}, (_, i) => table.row(first + i)?.[2]);
}

test('a table of any length: any place, in few requests, in the right order', async () => {
  const even = Array.from({length: 20000}, (_, i) => NOON * 1000 + i * 100003);
  const twoTimes = even.map((us, i) => (i < 10000 ? us : us + 40 * 86400e6)); // some rest for forty days
  const bursts = Array.from({length: 20000}, (_, i) => NOON * 1000 + Math.floor(i / 500) * 3600e6 + (i % 500) * 7);
  for (const [name, moments] of Object.entries({even, twoTimes, bursts})) {
    const {ask, asked, newestFirst} = programOf(moments);
    const table = new records.Records(ask, newestFirst.at(-1) - 60e6, newestFirst[0] + 1e6, () => assert.fail('they were counted'));
    await table.open();
    await table.count();
    assert.equal(table.total, 20000, name);
    for (const first of [0, 150, 5000, 4950, 5300, 19980, 12345, 9990, 7]) {
      const last = Math.min(19999, first + 40);
      const before = asked.length;
      assert.deepEqual(await rowsAt(table, first, last), newestFirst.slice(first, last + 1), `${name}, from row ${first}`);
      assert.ok(asked.length - before <= 20, `${name}, row ${first}: ${asked.length - before} requests`);
    }
  }
});

test('too many to be counted: the ends are exact, every row in between stands in order', async () => {
  const moments = Array.from({length: 50000}, (_, i) => NOON * 1000 + i * 1e6);
  const {ask, newestFirst} = programOf(moments, {exact: false});
  const buckets = {header: [], records: []};
  for (let i = 0; i < 50000; i += 3600) buckets.records.push(['D', new Date(NOON + i * 1000).toISOString(), 0, 0, 0, Math.min(3600, 50000 - i), 0]);
  const table = new records.Records(ask, moments[0], newestFirst[0], async () => records.anchorsOf(buckets, 3600e6));
  await table.open();
  await table.count();
  assert.deepEqual([table.total, table.exact], [50000, false]);
  assert.deepEqual(await rowsAt(table, 0, 50), newestFirst.slice(0, 51));
  assert.deepEqual(await rowsAt(table, 49950, 49999), newestFirst.slice(49950));
  for (const first of [25000, 24900, 25230]) {
    const rows = await rowsAt(table, first, first + 60);
    assert.ok(rows.every((row, i) => i === 0 || rows[i - 1] - row === 1e6), `from row ${first} one follows the other`);
    assert.ok(Math.abs(newestFirst.indexOf(rows[0]) - first) < 3700, 'about where it belongs');
  }
});
