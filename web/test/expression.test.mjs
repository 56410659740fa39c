// Formulas over signals: what they mean, what their unit is, and what is said of those that mean nothing.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const {compile, evaluate, isExpression, titleOf} = await load('live/expression.ts');

const UNITS = new Map(Object.entries({
  'chassis.vx': 'm/s', 'chassis.vy': 'm/s', 'chassis.x': 'm', 'chassis.heading': 'rad', 'red-1/arm.position': 'rad', 'red-1/arm': '1', 'odd name, 100 %': 'V',
  'command:joint:arm.torque': 'N·m', on: '1',
}));
const made = (name) => compile(name, (signal) => UNITS.get(signal));
/** The value of a formula of one sample. */
const value = (formula, ...inputs) => made(`= ${formula}`).make()(0, inputs);
const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a}, not ${b}`);

test('what is computed', () => {
  close(value('hypot(chassis.vx, chassis.vy)', 3, 4), 5);
  close(value('2 + 3 * chassis.x ^ 2 / 2', 4), 26);
  close(value('-chassis.x % 5', 3), 2);
  close(value('chassis.x > 1 && on ? pi : 0', 2, 1), Math.PI);
  close(value('wrap(chassis.heading + 2 * pi)', 0.5), 0.5);
  close(value('clamp(chassis.x, -1, 1)', 7), 1);
  close(value('chassis.x/chassis.x/2', 8), 0.5);
});

test('a sign stands before a whole power', () => {
  const cases = {
    '-chassis.x^2': -9, '-chassis.x ^ 2 + 1': -8, '+chassis.x^2': 9, '1 - chassis.x^2': -8, '2 * -chassis.x^2': -18, '--chassis.x^2': 9, '(-chassis.x)^2': 9,
    '2^-chassis.x': 1 / 8, '-2^-chassis.x^2': -(2 ** -9), '-chassis.x^2^0': -3, 'abs(-chassis.x^2)': 9, '-chassis.x * 2': -6, 'chassis.x - -chassis.x': 6, '!-chassis.x': 0,
  };
  for (const [formula, result] of Object.entries(cases)) assert.equal(value(formula, 3), result, formula);
  assert.throws(() => made('= chassis.x * -'), /^Error: A value is missing behind a sign in this formula\.$/);
});

test('names of signals are taken as they are, operators in them or not', () => {
  assert.deepEqual(made('= red-1/arm.position/2 - red-1/arm').inputs, ['red-1/arm.position', 'red-1/arm']);
  assert.deepEqual(made('= "odd name, 100 %" * 2').inputs, ['odd name, 100 %']);
  assert.deepEqual(made('= abs(command:joint:arm.torque)').inputs, ['command:joint:arm.torque']);
  assert.ok(isExpression('speed = on') && isExpression('=on') && !isExpression('<img src=x onerror=alert(1)>.x'));
  assert.equal(titleOf('speed = hypot(chassis.vx, chassis.vy)'), 'speed');
  assert.equal(titleOf('= on > 0'), 'on > 0');
});

test('units follow from those of the signals', () => {
  const cases = {
    'hypot(chassis.vx, chassis.vy)': 'm/s', 'derivative(chassis.vx)': 'm/s²', 'integral(chassis.vx)': 'm', 'chassis.x + chassis.vx': '', '2 * chassis.x': 'm',
    'chassis.x > 1': '1', 'atan2(chassis.vy, chassis.vx)': 'rad', 'lowpass(derivative(chassis.heading), 5)': 'rad/s', 'max(chassis.x, 0)': 'm',
  };
  for (const [formula, unit] of Object.entries(cases)) assert.equal(made(`= ${formula}`).unit, unit, formula);
});

/** `of` each time, 100 times a second. */
const trace = (count, of) => ({times: Array.from({length: count}, (_, i) => i / 100), values: Array.from({length: count}, (_, i) => of(i / 100))});
const over = (formula, ...traces) => evaluate(made(`= ${formula}`), traces).values;

test('derivatives, integrals and filters over time', () => {
  const sine = trace(400, Math.sin);
  close(over('derivative(chassis.x)', trace(10, (time) => 3 * time)).at(-1), 3);
  assert.ok(Math.abs(over('integral(chassis.vx)', sine).at(-1) - (1 - Math.cos(3.99))) < 1e-4);
  const step = trace(300, (time) => Number(time >= 1));
  close(over('lowpass(chassis.x, 1)', step)[100 + 16], 1 - Math.exp(-2 * Math.PI * 0.17));
  assert.ok(Math.abs(over('highpass(chassis.x, 1)', step).at(-1)) < 1e-4);
  close(over('mean(chassis.x, 0.1)', trace(100, (time) => time)).at(-1), 0.99 - 0.05);
  assert.deepEqual(over('median(chassis.x, 0.04)', trace(50, (time) => (Math.round(100 * time) === 25 ? 1000 : 1))).slice(5), new Array(45).fill(1));
  close(over('delay(chassis.x, 0.5)', trace(200, (time) => time)).at(-1), 1.49);
  const turning = over('unwrap(chassis.heading)', trace(2000, (time) => Math.atan2(Math.sin(time), Math.cos(time))));
  close(turning.at(-1), 19.99);
});

test('a median is that of its window, whatever comes and goes, and is quick', () => {
  const step = made('= median(chassis.x, 0.3)').make();
  const window = [];
  for (let i = 0; i < 3000; i++) {
    const value = i % 17 === 3 ? NaN : i % 29 === 5 ? Infinity : Math.round(20 * Math.sin(i * i)) + 0;
    window.push([i / 100, value]);
    while (window[0][0] < i / 100 - 0.3) window.shift();
    const sorted = window.map(([, each]) => each).filter(Number.isFinite).sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    assert.equal(step(i / 100, [value]), sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2, `sample ${i}`);
  }
  const long = made('= median(chassis.x, 1000)').make();
  const begin = process.cpuUsage().user;
  for (let i = 0; i < 20000; i++) long(i / 100, [Math.sin(i)]);
  const ms = (process.cpuUsage().user - begin) / 1000;
  assert.ok(ms < 2000, `${ms} ms`);
});

test('traces of other times are held between their samples; time that goes back begins anew', () => {
  const {times, values} = evaluate(made('= chassis.x + chassis.vx'), [{times: [0, 2], values: [1, 3]}, {times: [0, 1, 3], values: [10, 20, 30]}]);
  assert.deepEqual([times, values], [[0, 1, 2, 3], [11, 21, 23, 33]]);
  const sum = made('= integral(chassis.x)').make();
  for (let i = 0; i < 10; i++) sum(i, [1]);
  assert.equal(sum(0, [1]), 0);
});

test('what is wrong is said in words', () => {
  const cases = [
    ['= hypot(chassis.vx', /Expected comma|Unclosed|Expected \)/], ['= nonsense + 1', /no signal or function “nonsense”/], ['= lowpass(chassis.x)', /lowpass takes 2 values: lowpass\(x, Hz\)/],
    ['= "nothing such"', /no signal “nothing such”/], ['= 1 + 2', /no signal in it/], ['=', /Write a formula/], ['= abs', /abs is a function/], ['= chassis.x[1]', /not a formula/],
    ['= constructor(chassis.x)', /no signal or function/], ['= chassis.x $1', /means nothing/], [`= chassis.x ${'+ 1'.repeat(300)}`, /at most 500/], ['= chassis.x = 2', /means nothing|not a formula|Unexpected/],
  ];
  for (const [name, text] of cases) assert.throws(() => made(name), (error) => text.test(error.message) || assert.fail(`${name}: ${error.message}`));
});

test('what is offered while somebody writes', async () => {
  const {complete, offers, wordBefore} = await load('pages/signals/completion.ts');
  const signals = ['left_arm.position', 'arm.position', 'arm.velocity', 'odd name'].map((name) => ({name, unit: 'rad'}));
  const text = 'hypot(arm.p, 1)';
  assert.equal(wordBefore(text, 11), 'arm.p');
  const offered = offers('arm.p', signals);
  assert.deepEqual(offered.map((offer) => offer.text), ['arm.position', 'left_arm.position']);
  assert.deepEqual(complete(text, 11, offered[0]), {text: 'hypot(arm.position, 1)', caret: 18});
  assert.equal(offers('odd', signals)[0].insert, '"odd name"');
  assert.deepEqual(complete('hyp', 3, offers('hyp', [])[0]), {text: 'hypot()', caret: 6});
  assert.deepEqual(offers('', signals), []);
});
