// The time line: what it makes of events and modes, and what comes out of a log.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const {flagsOf, cluster, bandsOf, nextFlag} = await load('ui/timeline_marks.ts');

test('events become flags of their kinds', () => {
  const events = [
    [1, 'world', 'reset', 'reset'], [2, 'float-udp', 'watchdog: silent for 0.2 s, its commands are made safe', 'drop'],
    [3, 'trial', 'start: motion', 'trial'], [4, 'driver-station', 'enabled, autonomous', 'match'], [5, 'web', 'speed 2', 'other'],
  ];
  const flags = flagsOf(events.map(([time, source, text]) => ({time, source, text})));
  assert.deepEqual(flags.map(({kind}) => kind), events.map(([, , , kind]) => kind));
});

test('flags that lie together are one, of the kind that matters most', () => {
  const flags = [{time: 0.2, kind: 'other', text: 'b'}, {time: 0, kind: 'reset', text: 'a'}, {time: 0.3, kind: 'drop', text: 'c'}, {time: 9, kind: 'reset', text: 'd'}];
  const found = cluster(flags, 1);
  assert.deepEqual(found.map(({time, kind, count}) => [time, kind, count]), [[0, 'drop', 3], [9, 'reset', 1]]);
  assert.match(found[0].text, /a\n.*b\n.*c/);
  const many = Array.from({length: 1000}, (_, i) => ({time: i * 1e-3, kind: 'other', text: 'x'}));
  assert.match(cluster(many, 10)[0].text, /and 994 more$/);
});

test('robots that change their modes alike have one band', () => {
  const change = (robot, time, mode) => ({robot, time, mode});
  const match = (robot) => [change(robot, 0, 'disabled'), change(robot, 2, 'autonomous'), change(robot, 17, 'teleop'), change(robot, 17, 'disabled')];
  const rows = bandsOf([...match('red1'), ...match('blue1'), change('red2', 0, 'teleop')]);
  assert.equal(rows.length, 1);
  assert.deepEqual(rows[0].map(({mode, from, to}) => [mode, from, to]), [['disabled', 0, 2], ['autonomous', 2, 17], ['disabled', 17, Infinity]]);
});

test('the next flag, and the one before', () => {
  const flags = [1, 2, 3].map((time) => ({time, kind: 'other', text: ''}));
  assert.deepEqual([nextFlag(flags, 2, 1), nextFlag(flags, 2, -1), nextFlag(flags, 3, 1)], [3, 1, null]);
});

const {parseStretch, zoomed, panned, turned} = await load('ui/timeline_stretch.ts');

test('a stretch is looked at closer around a time that stays where it is', () => {
  const hour = {from: 0, to: 3600};
  const close = zoomed(hour, 900, 0.01, 3600);
  assert.deepEqual(close, {from: 891, to: 927});
  assert.equal((900 - close.from) / 36, 0.25, 'where it was');
  assert.deepEqual(zoomed(hour, 3600, 0.5, 3600), {from: 1800, to: 3600});
  assert.equal(zoomed(close, 900, 1000, 3600), null, 'farther than the run: all of it');
  assert.ok(zoomed(close, 900, 1e-9, 3600).to - 900 >= 0.1, 'not without end');
});

test('a stretch is moved within the run, and turned like a page where the hand leaves it', () => {
  const stretch = {from: 100, to: 160};
  assert.deepEqual(panned(stretch, 30, 3600), {from: 130, to: 190});
  assert.deepEqual(panned(stretch, -1000, 3600), {from: 0, to: 60});
  assert.deepEqual(turned(stretch, 150, 3600), stretch);
  assert.deepEqual(turned(stretch, 161, 3600), {from: 160, to: 220});
  assert.deepEqual(turned(stretch, 3599, 3600), {from: 3540, to: 3600});
  assert.deepEqual(turned(stretch, 99, 3600), {from: 40, to: 100});
});

test('what an address says of it', () => {
  assert.deepEqual(parseStretch('1800.00,1860.50'), {from: 1800, to: 1860.5});
  for (const wrong of [null, '', '5', '5,4', 'a,b', '-1,5', '0,Infinity']) assert.equal(parseStretch(wrong), null);
});
