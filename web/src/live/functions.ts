// functions.ts: what formulas over signals can call. Angles are in rad, times in s, frequencies in Hz.

/** One sample of each argument, at a time in s; what is kept between two calls is the function's own. */
export type Step = (time: number, values: readonly number[]) => number;
type Unit = (units: string[]) => string;

export interface Known {
  /** Least and greatest number of arguments. */
  arity: [number, number];
  unit: Unit;
  make: () => Step;
  /** What it gives depends on the samples before. */
  remembers: boolean;
  help: string;
}

/** Of values of one unit, plain numbers apart. */
const same: Unit = (units) => {
  const [unit = '1', ...others] = units.filter((each) => each !== '1');
  return others.every((each) => each === unit) ? unit : '';
};
const first: Unit = ([unit]) => unit!;
const none: Unit = () => '1';
const angle: Unit = () => 'rad';

/** What a unit becomes by d/dt, and by the integral over time. */
const RATES: readonly [string, string][] = [['m', 'm/s'], ['m/s', 'm/s²'], ['rad', 'rad/s'], ['rad/s', 'rad/s²'], ['1', '1/s'], ['s', '1'], ['J', 'W'], ['C', 'A']];
const rateOf: Unit = ([unit]) => RATES.find(([of]) => of === unit)?.[1] ?? (unit ? `${unit}/s` : '');
const integralOf: Unit = ([unit]) => RATES.find(([, rate]) => rate === unit)?.[0] ?? (unit ? `${unit}·s` : '');

const pure = (least: number, most: number, unit: Unit, of: (...values: number[]) => number, help: string): Known => ({
  arity: [least, most],
  unit,
  make: () => (_, values) => of(...values),
  remembers: false,
  help,
});
const kept = (count: number, unit: Unit, make: () => Step, help: string): Known => ({arity: [count, count], unit, make, remembers: true, help});

function derivative(): Step {
  let before = NaN;
  let at = NaN;
  let rate = NaN;
  return (time, [value]) => {
    if (time > at) rate = (value! - before) / (time - at);
    before = value!;
    at = time;
    return rate;
  };
}

function integral(): Step {
  let sum = 0;
  let before = NaN;
  let at = NaN;
  return (time, [value]) => {
    const area = 0.5 * (value! + before) * (time - at);
    if (Number.isFinite(area)) sum += area;
    before = value!;
    at = time;
    return sum;
  };
}

/** A first-order low pass, as an RC element is one. */
function lowpass(): Step {
  let kept = NaN;
  let at = NaN;
  return (time, [value, frequency]) => {
    if (!Number.isFinite(kept)) kept = value!;
    else if (Number.isFinite(value!)) kept += (1 - Math.exp(-2 * Math.PI * frequency! * (time - at))) * (value! - kept);
    at = time;
    return kept;
  };
}

function highpass(): Step {
  const low = lowpass();
  return (time, values) => values[0]! - low(time, values);
}

/** The running sum keeps this quick; what is not finite is left out. */
function mean(): Step {
  let sum = 0;
  let count = 0;
  const window: {time: number; value: number}[] = [];
  let begin = 0;
  return (time, [value, width]) => {
    if (Number.isFinite(value!)) {
      window.push({time, value: value!});
      sum += value!;
      count++;
    }
    for (; begin < window.length - 1 && window[begin]!.time < time - width!; begin++, count--) sum -= window[begin]!.value;
    if (begin > 1000 && begin > window.length / 2) {
      window.splice(0, begin);
      begin = 0;
      sum = window.reduce((all, each) => all + each.value, 0); // rounding errors do not add up
    }
    return count ? sum / count : NaN;
  };
}

/** Samples a window of time has at most; older ones are left out. */
const MOST_KEPT = 20_000;

/** The window is kept sorted beside its order in time: to sort it anew for each sample would take ms. What is not finite is left out. */
function median(): Step {
  const window: {time: number; value: number}[] = [];
  const sorted: number[] = [];
  let begin = 0;
  const placeOf = (value: number) => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return (time, [value, width]) => {
    window.push({time, value: value!});
    if (Number.isFinite(value!)) sorted.splice(placeOf(value!), 0, value!);
    for (; begin < window.length - 1 && (window[begin]!.time < time - width! || window.length - begin > MOST_KEPT); begin++) {
      const gone = window[begin]!.value;
      if (Number.isFinite(gone)) sorted.splice(placeOf(gone), 1);
    }
    if (begin > 1000 && begin > window.length / 2) {
      window.splice(0, begin);
      begin = 0;
    }
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  };
}

function delay(): Step {
  const window: {time: number; value: number}[] = [];
  let held = NaN;
  return (time, [value, by]) => {
    window.push({time, value: value!});
    while (window.length && window[0]!.time <= time - by! + 1e-9) held = window.shift()!.value;
    return held;
  };
}

function unwrap(): Step {
  let turns = 0;
  let before = NaN;
  return (_, [value]) => {
    const turned = Math.round((value! - before) / (2 * Math.PI));
    if (Number.isFinite(turned)) turns -= turned;
    before = value!;
    return value! + 2 * Math.PI * turns;
  };
}

const wrap = (value: number) => value - 2 * Math.PI * Math.round(value / (2 * Math.PI));
const MANY = 16;

const functions: Record<string, Known> = {
  hypot: pure(1, MANY, same, Math.hypot, 'length of a vector: hypot(vx, vy)'),
  abs: pure(1, 1, first, Math.abs, 'without its sign'),
  sign: pure(1, 1, none, Math.sign, '−1, 0 or 1'),
  min: pure(1, MANY, same, Math.min, 'the least of its arguments'),
  max: pure(1, MANY, same, Math.max, 'the greatest of its arguments'),
  clamp: pure(3, 3, first, (value, low, high) => Math.min(high, Math.max(low, value)), 'clamp(x, least, greatest)'),
  sqrt: pure(1, 1, () => '', Math.sqrt, 'square root'),
  exp: pure(1, 1, none, Math.exp, 'e to the power of x'),
  log: pure(1, 1, none, Math.log, 'natural logarithm'),
  log10: pure(1, 1, none, Math.log10, 'logarithm to base 10'),
  sin: pure(1, 1, none, Math.sin, 'of an angle in rad'),
  cos: pure(1, 1, none, Math.cos, 'of an angle in rad'),
  tan: pure(1, 1, none, Math.tan, 'of an angle in rad'),
  asin: pure(1, 1, angle, Math.asin, 'an angle in rad'),
  acos: pure(1, 1, angle, Math.acos, 'an angle in rad'),
  atan: pure(1, 1, angle, Math.atan, 'an angle in rad'),
  atan2: pure(2, 2, angle, Math.atan2, 'direction of a vector: atan2(y, x), in rad'),
  floor: pure(1, 1, first, Math.floor, 'rounded down'),
  ceil: pure(1, 1, first, Math.ceil, 'rounded up'),
  round: pure(1, 1, first, Math.round, 'rounded'),
  wrap: pure(1, 1, angle, wrap, 'an angle brought to −π…π'),
  unwrap: kept(1, angle, unwrap, 'an angle that goes on beyond ±π; turns are counted from the left edge of what is drawn'),
  derivative: kept(1, rateOf, derivative, 'rate of change, per s'),
  integral: kept(1, integralOf, integral, 'area over time, from the left edge of what is drawn'),
  lowpass: kept(2, first, lowpass, 'lowpass(x, Hz): what is slower'),
  highpass: kept(2, first, highpass, 'highpass(x, Hz): what is quicker'),
  mean: kept(2, first, mean, 'mean(x, s): of the last s seconds'),
  median: kept(2, first, median, 'median(x, s): of the last s seconds'),
  delay: kept(2, first, delay, 'delay(x, s): as it was s seconds before'),
};

export const FUNCTIONS: ReadonlyMap<string, Known> = new Map(Object.entries(functions));
export const CONSTANTS: ReadonlyMap<string, number> = new Map([['pi', Math.PI], ['e', Math.E]]);
