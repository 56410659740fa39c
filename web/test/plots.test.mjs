// What the page Signals is made of: the tree of names, colours that differ, and plots that are kept.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {load} from './load.mjs';

const {buildTree, visibleRows} = await load('pages/signals/tree.ts');
const {MAX_TRACES, readPlots, withTrace} = await load('pages/signals/spec.ts');
const {axesOf} = await load('pages/signals/axes.ts');
const {isState, segmentsOf} = await load('pages/signals/bands.ts');

const BODY = ['x', 'y', 'z', 'qw', 'qx', 'qy', 'qz', 'heading', 'yaw_rate', 'vx', 'vy', 'vz', 'wx', 'wy', 'wz'];
const signal = (name, robot = -1, unit = '1') => ({name, unit, robot, command: name.startsWith('command:')});
const ofBody = (name, robot = -1) => BODY.map((what) => signal(`${name}.${what}`, robot, what === 'vx' ? 'm/s' : '1'));
const body = (name, parent, robot = -1, piece = 0) => ({name, parent, robot, piece});

/** A wall, a stand on it, a game piece, a ball, and two robots with an arm each; the second is bolted down. */
const MODEL = {
  robots: [{name: 'red1', alliance: 'red', root: 5}, {name: 'press', alliance: 'blue', root: 7}],
  bodies: [
    body('world', 0), body('wall', 0), body('stand', 1), body('circle1', 0, -1, 1), body('ball', 0), body('red1/chassis', 0, 0), body('red1/arm', 5, 0),
    body('press/base', 0, 1), body('press/arm', 7, 1),
  ],
  joints: [3, 4, 5, 6, 8].map((of) => ({name: `j${of}`, kind: 'free', body: of, robot: -1, lower: null, upper: null})),
  signals: [
    signal('time'), ...ofBody('wall'), ...ofBody('stand'), ...ofBody('circle1'), ...ofBody('ball'), ...ofBody('red1/chassis', 0), ...ofBody('red1/arm', 0),
    signal('red1/arm.position', 0), ...ofBody('press/base', 1), ...ofBody('press/arm', 1), signal('command:red1/arm.duty', 0), signal('command:reset'),
  ],
};
const labels = (nodes) => nodes.map(({label}) => label);

test('the signals of another program’s log stand as their names say', () => {
  const signals = ['NT:/Drive/x', 'NT:/Drive/y', 'systemTime'].map((name) => ({name, unit: '1', robot: -1, command: false}));
  const tree = buildTree({signals, robots: [], bodies: [], joints: []});
  const told = (nodes) => nodes.map(({label, children}) => (children.length ? {[label]: told(children)} : label));
  assert.deepEqual(told(tree), [{'NT:': [{Drive: ['x', 'y']}]}, {log: ['systemTime']}]);
});

test('robots come first, with their speed and heading; what cannot move is found by a search only', () => {
  const tree = buildTree(MODEL);
  assert.deepEqual(labels(tree), ['red1', 'press', 'world', 'game pieces', 'ball', 'bodies that cannot move']);
  const rows = visibleRows(tree, new Set(), '', 100);
  assert.deepEqual(labels(rows), ['red1', 'speed', 'heading', 'chassis', 'arm', 'commands', 'press', 'arm', 'world', 'game pieces', 'ball']);
  assert.equal(rows[1].name, 'red1 speed = hypot(red1/chassis.vx, red1/chassis.vy)');
  assert.equal(rows[1].unit, 'm/s');
  assert.equal(rows[2].name, 'red1/chassis.heading');
  const searched = visibleRows(tree, new Set(), 'stand.x', 100).filter(({name}) => name);
  assert.deepEqual(searched.map(({name}) => name), ['stand.x']);
  const names = new Set();
  const collect = (nodes) => nodes.forEach((node) => (node.name && !node.shortcut && names.add(node.name), collect(node.children)));
  collect(tree);
  assert.deepEqual([...names].sort(), MODEL.signals.map(({name}) => name).sort(), 'no signal is lost');
});

test('a search opens branches; a robot is open until it is folded', () => {
  const tree = buildTree(MODEL);
  assert.deepEqual(visibleRows(tree, new Set(), 'arm pos', 100).map(({label}) => label), ['red1', 'arm', 'position']);
  assert.deepEqual(visibleRows(tree, new Set(), 'nothing such', 100), []);
  const folded = visibleRows(tree, new Set(['/red1', '/game pieces']), '', 100);
  assert.deepEqual(labels(folded), ['red1', 'press', 'arm', 'world', 'game pieces', 'circle1', 'ball']);
});

/** Of a colour, in CIE L*a*b*. */
function lab(hex) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const f = (t) => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116);
  const x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const z = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
  return {L: 116 * f(light) - 16, a: 500 * (x - f(light)), b: 200 * (f(light) - z), light};
}

/** How different two colours look: CIEDE2000. */
function difference(one, other) {
  const C = (Math.hypot(one.a, one.b) + Math.hypot(other.a, other.b)) / 2;
  const G = 1.5 - 0.5 * Math.sqrt(C ** 7 / (C ** 7 + 25 ** 7));
  const [c1, c2] = [one, other].map(({a, b}) => Math.hypot(G * a, b));
  const [h1, h2] = [one, other].map(({a, b}) => ((Math.atan2(b, G * a) * 180) / Math.PI + 360) % 360);
  const turn = ((h2 - h1 + 540) % 360) - 180;
  const [l, c] = [(one.L + other.L) / 2, (c1 + c2) / 2];
  const h = Math.abs(h1 - h2) <= 180 ? (h1 + h2) / 2 : (h1 + h2 + 360) / 2;
  const cos = (degrees) => Math.cos((degrees * Math.PI) / 180);
  const T = 1 - 0.17 * cos(h - 30) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + 6) - 0.2 * cos(4 * h - 63);
  const dL = (other.L - one.L) / (1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2));
  const dC = (c2 - c1) / (1 + 0.045 * c);
  const dH = (2 * Math.sqrt(c1 * c2) * Math.sin((turn * Math.PI) / 360)) / (1 + 0.015 * c * T);
  const R = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin((60 * Math.exp(-(((h - 275) / 25) ** 2)) * Math.PI) / 180);
  return Math.sqrt(dL ** 2 + dC ** 2 + dH ** 2 + R * dC * dH);
}

test('the twenty colours of traces differ from each other and from the ground, in both themes', () => {
  const css = readFileSync(new URL('../src/styles/base.css', import.meta.url), 'utf8');
  for (const [theme, block] of [['dark', css.split('[data-theme="dark"]')[1]], ['light', css.split('[data-theme="light"]')[1]]]) {
    const of = (name) => lab(new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(block)[1]);
    const colours = Array.from({length: MAX_TRACES}, (_, i) => of(`trace-${i + 1}`));
    const panel = of('panel').light;
    colours.forEach((colour, i) => {
      const [low, high] = [colour.light, panel].sort((a, b) => a - b);
      assert.ok((high + 0.05) / (low + 0.05) >= 3, `${theme}: trace ${i + 1} is hardly seen`);
      for (let k = 0; k < i; k++) assert.ok(difference(colours[k], colour) > 18, `${theme}: traces ${k + 1} and ${i + 1}: ${difference(colours[k], colour).toFixed(1)}`);
    });
  }
});

test('a trace keeps its colour when others go, and a new one takes a free one', () => {
  let traces = ['a', 'b', 'c'].reduce((all, name) => withTrace(all, name), []);
  traces = withTrace(traces.filter(({name}) => name !== 'b'), 'd');
  assert.deepEqual(traces, [{name: 'a', colour: 1}, {name: 'c', colour: 3}, {name: 'd', colour: 2}]);
  assert.equal(withTrace(traces, 'a').length, 3);
  for (let i = 0; i < 30; i++) traces = withTrace(traces, `e${i}`);
  assert.deepEqual(new Set(traces.map(({colour}) => colour)).size, MAX_TRACES);
});

test('plots that were kept are checked', () => {
  assert.deepEqual(readPlots('nonsense'), [{id: 1, traces: []}]);
  assert.deepEqual(readPlots([{id: 7, names: ['a', 'b', 3]}])[0].traces, [{name: 'a', colour: 1}, {name: 'b', colour: 2}]);
  const odd = readPlots([null, {traces: [{name: 'a', colour: 4}, {name: 'b', colour: 99}, {name: ''}, 7, {name: 'a', colour: 1}]}]);
  assert.deepEqual(odd[0].traces, [{name: 'a', colour: 4}, {name: 'b', colour: 1}]);
  const whole = {id: 1, traces: [{name: 'a', colour: 2, side: 'right', style: 'band'}], fixed: {left: [-1, 2]}, kind: 'spectrum', decibels: true, upTo: 20};
  assert.deepEqual(readPlots(JSON.parse(JSON.stringify([whole]))), [whole]);
  assert.deepEqual(readPlots([{traces: [{name: 'a', side: 'top', style: 7}], fixed: {left: [2, 1], right: ['a', 3]}}]), [{id: 1, traces: [{name: 'a', colour: 1}]}]);
});

test('the first unit is read from the left, any other from the right, unless a trace says otherwise', () => {
  const unitOf = (name) => ({x: 'm', y: 'm', v: 'm/s', torque: 'N·m'})[name];
  const of = (...traces) => axesOf(traces.map((trace) => (typeof trace === 'string' ? {name: trace, colour: 1} : trace)), unitOf);
  assert.deepEqual(of('x', 'v', 'y', 'torque'), {sides: ['left', 'right', 'left', 'right'], units: {left: ['m'], right: ['m/s', 'N·m']}});
  assert.deepEqual(of({name: 'x', side: 'right'}, 'v', 'y').sides, ['right', 'left', 'right']);
  assert.deepEqual(of(), {sides: [], units: {left: [], right: []}});
});

test('flags and states are bands, counts and quaternions are lines', () => {
  const trace = (...values) => ({times: values.map((_, i) => i), values});
  assert.ok(isState('flag', '1', trace(0, 0, 1)) && isState('grip.held', '1', trace(0, 0)) && isState('robot/box.gear', '1', trace(2)));
  assert.ok(!isState('encoder.ticks', '1', trace(0, 1, 2)) && !isState('chassis.qw', '1', trace(1, 0.5)) && !isState('x', 'm', trace(0, 1)) && !isState('n', '1', trace(1, 1)));
  const segments = segmentsOf(trace(0, 0, 2, 2, 0), String, String);
  assert.deepEqual(segments.map(({from, to, text, rest}) => [from, to, text, rest]), [[0, 2, '0', true], [2, 4, '2', false], [4, 4, '0', true]]);
});

test('units are chosen for reading; nonsense that was kept is left out', async () => {
  globalThis.localStorage = {getItem: () => null, setItem: () => {}};
  const {chooseUnit, displaySize, displayUnit, readUnits, unitChoices} = await load('live/units.ts');
  chooseUnit('m/s', 'mph');
  assert.equal(displayUnit('m/s'), 'mph');
  assert.ok(Math.abs(displaySize('m/s') - 0.44704) < 1e-12);
  assert.equal(displaySize('rad'), 1);
  assert.deepEqual(unitChoices('kg·m²'), []);
  assert.deepEqual(readUnits({rad: 'deg', 'm/s': 'parsec', x: 'y'}), {rad: 'deg'});
});

test('statistics are of the line that is seen, whatever lies beyond its ends', async () => {
  const {heldAt, statistics} = await load('pages/signals/measure.ts');
  const ramp = {times: [0, 1, 2, 3, 10], values: [0, 1, 2, 3, 10]};
  const found = statistics(ramp, 0.5, 2.5);
  assert.deepEqual([found.least, found.greatest, found.mean], [0.5, 2.5, 1.5]);
  assert.ok(Math.abs(found.rms - Math.sqrt((2.5 ** 3 - 0.5 ** 3) / 3 / 2)) < 1e-12);
  const sine = {times: [], values: []};
  for (let i = 0; i <= 6000; i++) sine.times.push(i / 100), sine.values.push(2 * Math.sin((2 * Math.PI * i) / 600));
  const whole = statistics(sine, 0, 60);
  assert.ok(Math.abs(whole.mean) < 1e-9 && Math.abs(whole.rms - Math.SQRT2) < 1e-4 && whole.greatest === 2);
  // Uneven samples do not weigh more where they are denser.
  assert.equal(statistics({times: [0, 0.1, 0.2, 0.3, 1.3], values: [0, 0, 0, 0, 0]}, 0, 2).mean, 0);
  assert.ok(Math.abs(statistics({times: [0, 0.001, 0.002, 1], values: [1, 1, 1, 1]}, 0, 1).mean - 1) < 1e-12);
  assert.ok(Number.isNaN(statistics({times: [], values: []}, 0, 1).mean));
  assert.deepEqual(statistics({times: [0, 1, 2, 3], values: [5, NaN, 7, 7]}, 0, 3), {least: 5, greatest: 7, mean: 7, rms: 7});
  assert.deepEqual(statistics({times: [0, 1, 2, 3], values: [5, -Infinity, 7, 7]}, 0, 3), {least: 5, greatest: 7, mean: 7, rms: 7});
  assert.deepEqual([-1, 0, 1.9, 99].map((time) => heldAt(ramp, time)), [NaN, 0, 1, 10]);
});

test('one trace against another: x holds between its samples', async () => {
  const {equalScales, histogram, pairs} = await load('pages/signals/planes.ts');
  assert.deepEqual(pairs({times: [0, 2], values: [10, 20]}, {times: [-1, 1, 2, 3], values: [1, 2, 3, 4]}), {x: [10, 20, 20], y: [2, 3, 4]});
  assert.deepEqual(equalScales([0, 10], [4, 6], 200, 100), {x: [0, 10], y: [2.5, 7.5]});
  // Two thirds of the time at 1, whatever the number of samples.
  const shares = histogram({times: [0, 1, 1.1, 1.2, 1.3, 2, 3], values: [3, 1, 1, 1, 1, 1, 1]}, 0, 3, [0, 4], 4);
  assert.deepEqual(shares.map((share) => Math.round(1000 * share)), [0, 667, 0, 333]);
  assert.deepEqual(histogram({times: [], values: []}, 0, 1, [0, 1], 2), [0, 0]);
});

test('a spectrum has the amplitudes of the sines that a trace is made of', async () => {
  const {evenly, spectrumOf} = await load('pages/signals/spectrum.ts');
  const trace = {times: [], values: []};
  for (let i = 0; i < 2000; i++) {
    const time = i / 100 + (i % 3) * 1e-4; // uneven, as what comes over a network
    trace.times.push(time);
    trace.values.push(5 + 2 * Math.sin(2 * Math.PI * 3.37 * time) + 0.5 * Math.sin(2 * Math.PI * 12 * time));
  }
  const {frequencies, amplitudes, peak} = spectrumOf(trace, 0, 20);
  assert.ok(Math.abs(peak.frequency - 3.37) < 0.005 && Math.abs(peak.amplitude - 2) < 0.02, JSON.stringify(peak));
  const near = (frequency) => Math.max(...amplitudes.filter((_, i) => Math.abs(frequencies[i] - frequency) < 0.1));
  assert.ok(Math.abs(near(12) - 0.5) < 0.05 && near(8) < 0.001 && near(0.5) < 0.01, [12, 8, 0.5].map(near).join());
  assert.ok(Math.abs(frequencies.at(-1) - 50) < 0.1);
  assert.equal(spectrumOf({times: [0, 1], values: [1, 2]}, 0, 1).frequencies.length, 0);
  const still = spectrumOf({times: trace.times, values: trace.times.map(() => 7)}, 0, 20);
  assert.ok(still.amplitudes.every((amplitude) => amplitude < 1e-9));
  assert.deepEqual([...evenly({times: [0, 1, 2, 3], values: [0, 1, NaN, 3]}, 0, 3).values], [0, 1.5, 3]);
});

test('plots are in the address, whatever their names', async () => {
  const {plotsOfTexts, textOfPlot, textOfUnits, unitsOfText} = await load('pages/signals/plots_address.ts');
  const specs = [
    {id: 1, traces: [{name: 'arm.position', colour: 1}, {name: 'speed = hypot(chassis.vx, chassis.vy)', colour: 5, side: 'right'}, {name: 'grip.held', colour: 3, style: 'band'}], fixed: {left: [-1.5, 2], right: [0, 1e-7]}},
    {id: 2, traces: [{name: '100 %; ~@odd', colour: 1}, {name: '@x~y', colour: 2, side: 'left', style: 'line'}], kind: 'spectrum', decibels: true, upTo: 12.5},
  ];
  const texts = specs.map(textOfPlot);
  assert.equal(texts[0], '@left:-1.5..2;@right:0..1e-7;arm.position;speed = hypot(chassis.vx, chassis.vy)~r5;grip.held~b');
  assert.deepEqual(plotsOfTexts(texts), specs);
  assert.deepEqual(plotsOfTexts(['@nonsense;@left:2..1;a~99', '%']), [{id: 1, traces: [{name: 'a', colour: 1}]}, {id: 2, traces: [{name: '%', colour: 1}]}]);
  assert.deepEqual(unitsOfText(textOfUnits({rad: 'deg', 'm/s': 'mph'})), {rad: 'deg', 'm/s': 'mph'});
  assert.equal(textOfUnits({}), null);
});
