// expression.ts: formulas over signals. `speed = hypot(chassis.vx, chassis.vy)` is a trace like any other: what stands before
// the = is what it is called, and may be left out. Names of signals may hold an =, too, but not with blanks around it.
import jsep from 'jsep';
import type {Expression} from 'jsep';
import type {Trace} from './decimate';
import {CONSTANTS, FUNCTIONS} from './functions';
import type {Step} from './functions';

export interface Compiled {
  label: string;
  formula: string;
  inputs: string[]; // signals, in the order that a step takes them
  unit: string; // SI; '' where it can't be said
  remembers: boolean; // the samples before count, too
  /** A fresh evaluation, which remembers what derivatives and filters need; a time that goes back begins anew. */
  make: () => Step;
}

export class ExpressionError extends Error {}

const LONGEST = 500;

jsep.addBinaryOp('^', 11, true);

/** What a sign stands before: a value with its powers. */
function gobblePower(parser: jsep.HookScope): Expression {
  const base = parser.gobbleToken();
  if (!base) parser.throwError('A value is missing behind a sign');
  parser.gobbleSpaces();
  if (parser.char !== '^') return base as Expression;
  parser.index++;
  return {type: 'BinaryExpression', operator: '^', left: base, right: gobblePower(parser)};
}

// -x^2 is -(x^2), as people write it and Python takes it; for jsep a sign belongs to the value alone.
jsep.hooks.add('gobble-token', function (env) {
  const operator = this.char;
  if (operator !== '-' && operator !== '+') return;
  this.index++;
  env.node = {type: 'UnaryExpression', operator, argument: gobblePower(this), prefix: true};
});

const EQUALS = /^\s*=\s*|\s+=\s+/;

export function isExpression(name: string): boolean {
  return EQUALS.test(name);
}

/** The label, "" for none, and the formula. */
export function split(name: string): [string, string] {
  const found = EQUALS.exec(name);
  return found ? [name.slice(0, found.index).trim(), name.slice(found.index + found[0].length).trim()] : ['', ''];
}

/** What a trace is called: the signal's name, the label of a formula, or the formula itself. */
export function titleOf(name: string): string {
  if (!isExpression(name)) return name;
  const [label, formula] = split(name);
  return label || formula;
}

const NUMBER = /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/i;
const WORD = /^[\p{L}_][\p{L}\p{N}_.:/-]*/u;
const QUOTED = /^"([^"]*)"|^`([^`]*)`/;

type Units = (name: string) => string | undefined;

/** The longest beginning of `word` that is a signal, so that `left.position/2` divides and `red1/arm.position` doesn't. */
function signalAt(word: string, rest: string, units: Units): string {
  for (let end = word.length; end > 0; end--) {
    const name = word.slice(0, end);
    if (units(name) !== undefined && !/^[\p{L}\p{N}_]/u.test(word.slice(end)) && !/^\s*\(/.test(rest.slice(end))) return name;
  }
  return '';
}

/** The formula with $0, $1, … in place of the names of signals, which may hold what jsep takes for operators. */
function withoutNames(formula: string, units: Units): {text: string; inputs: string[]} {
  const inputs: string[] = [];
  let text = '';
  for (let rest = formula; rest; ) {
    const quoted = QUOTED.exec(rest);
    const word = WORD.exec(rest)?.[0] ?? '';
    const name = quoted ? (quoted[1] ?? quoted[2]!) : word && signalAt(word, rest, units);
    if (quoted && units(name) === undefined) throw new ExpressionError(`There is no signal “${name}”.`);
    if (quoted || name) {
      if (!inputs.includes(name)) inputs.push(name);
      text += ` $${inputs.indexOf(name)} `;
      rest = rest.slice(quoted ? quoted[0].length : name.length);
      continue;
    }
    // A word that is no signal goes on to jsep up to what can't be part of a function's name.
    const piece = NUMBER.exec(rest)?.[0] ?? (word ? /^[\p{L}\p{N}_]+/u.exec(word)?.[0] : undefined) ?? rest[0]!;
    if (word && !FUNCTIONS.has(piece) && !CONSTANTS.has(piece)) throw new ExpressionError(`There is no signal or function “${word}”.`);
    if (piece === '$') throw new ExpressionError('$ means nothing here.');
    text += piece;
    rest = rest.slice(piece.length);
  }
  return {text, inputs};
}

const BINARY = new Map<string, (a: number, b: number) => number>([
  ['+', (a, b) => a + b],
  ['-', (a, b) => a - b],
  ['*', (a, b) => a * b],
  ['/', (a, b) => a / b],
  ['%', (a, b) => a - b * Math.floor(a / b)],
  ['^', (a, b) => a ** b],
  ['<', (a, b) => Number(a < b)],
  ['<=', (a, b) => Number(a <= b)],
  ['>', (a, b) => Number(a > b)],
  ['>=', (a, b) => Number(a >= b)],
  ['==', (a, b) => Number(a === b)],
  ['!=', (a, b) => Number(a !== b)],
  ['&&', (a, b) => Number(a !== 0 && b !== 0)],
  ['||', (a, b) => Number(a !== 0 || b !== 0)],
]);

interface Built {
  unit: string;
  remembers: boolean;
  make: () => Step;
}

function unitOfBinary(operator: string, a: string, b: string): string {
  if (operator === '+' || operator === '-' || operator === '%') return a === b || b === '1' ? a : a === '1' ? b : '';
  if (operator === '*') return a === '1' ? b : b === '1' ? a : '';
  if (operator === '/') return b === '1' ? a : a === b ? '1' : '';
  return operator === '^' ? '' : '1';
}

function buildCall(node: jsep.CallExpression, inputs: string[], units: Units): Built {
  const name = node.callee.type === 'Identifier' ? String(node.callee.name) : '';
  const known = FUNCTIONS.get(name);
  if (!known) throw new ExpressionError(`There is no function “${name}”.`);
  const [least, most] = known.arity;
  const given = node.arguments.length;
  if (given < least || given > most) throw new ExpressionError(`${name} takes ${least === most ? least : `${least} to ${most}`} values: ${known.help}.`);
  const parts = node.arguments.map((argument) => build(argument, inputs, units));
  return {
    unit: known.unit(parts.map(({unit}) => unit)),
    remembers: known.remembers || parts.some(({remembers}) => remembers),
    make: () => {
      const steps = parts.map(({make}) => make());
      const call = known.make();
      const values = new Array<number>(steps.length);
      return (time, samples) => {
        for (let i = 0; i < steps.length; i++) values[i] = steps[i]!(time, samples);
        return call(time, values);
      };
    },
  };
}

function buildBinary(node: jsep.BinaryExpression, inputs: string[], units: Units): Built {
  const of = BINARY.get(node.operator);
  if (!of) throw new ExpressionError(`“${node.operator}” means nothing here.`);
  const left = build(node.left, inputs, units);
  const right = build(node.right, inputs, units);
  return {
    unit: unitOfBinary(node.operator, left.unit, right.unit),
    remembers: left.remembers || right.remembers,
    make: () => {
      const a = left.make();
      const b = right.make();
      return (time, values) => of(a(time, values), b(time, values));
    },
  };
}

function buildUnary(node: jsep.UnaryExpression, inputs: string[], units: Units): Built {
  const {unit, remembers, make} = build(node.argument, inputs, units);
  const of = new Map([['-', (a: number) => -a], ['+', (a: number) => a], ['!', (a: number) => Number(a === 0)]]).get(node.operator);
  if (!of) throw new ExpressionError(`“${node.operator}” means nothing here.`);
  return {
    unit,
    remembers,
    make: () => {
      const step = make();
      return (time, values) => of(step(time, values));
    },
  };
}

function buildChoice(node: jsep.ConditionalExpression, inputs: string[], units: Units): Built {
  const [test, yes, no] = [node.test, node.consequent, node.alternate].map((each) => build(each, inputs, units)) as [Built, Built, Built];
  return {
    unit: yes.unit === no.unit ? yes.unit : '',
    remembers: test.remembers || yes.remembers || no.remembers,
    make: () => {
      const [a, b, c] = [test.make(), yes.make(), no.make()];
      return (time, values) => {
        const [whether, first, second] = [a(time, values), b(time, values), c(time, values)]; // all, so that filters go on
        return whether ? first : second;
      };
    },
  };
}

function buildName(name: string, inputs: string[], units: Units): Built {
  if (name.startsWith('$')) {
    const at = Number(name.slice(1));
    return {unit: units(inputs[at]!) ?? '', remembers: false, make: () => (_, values) => values[at]!};
  }
  const value = CONSTANTS.get(name);
  if (value === undefined) throw new ExpressionError(`${name} is a function: write ${name}(…).`);
  return {unit: '1', remembers: false, make: () => () => value};
}

function build(node: Expression, inputs: string[], units: Units): Built {
  switch (node.type) {
    case 'Literal': {
      const value = node.value;
      if (typeof value !== 'number' && typeof value !== 'boolean') break;
      return {unit: '1', remembers: false, make: () => () => Number(value)};
    }
    case 'Identifier':
      return buildName(String(node.name), inputs, units);
    case 'CallExpression':
      return buildCall(node as jsep.CallExpression, inputs, units);
    case 'BinaryExpression':
    case 'LogicalExpression':
      return buildBinary(node as jsep.BinaryExpression, inputs, units);
    case 'UnaryExpression':
      return buildUnary(node as jsep.UnaryExpression, inputs, units);
    case 'ConditionalExpression':
      return buildChoice(node as jsep.ConditionalExpression, inputs, units);
  }
  throw new ExpressionError('This is not a formula: write for example hypot(chassis.vx, chassis.vy).');
}

/** A formula ready to be evaluated. `units` gives a signal's unit, or undefined where there is no such signal.
 *  Throws ExpressionError with what is wrong, for people. */
export function compile(name: string, units: Units): Compiled {
  const [label, formula] = split(name);
  if (!formula) throw new ExpressionError('Write a formula, for example hypot(chassis.vx, chassis.vy).');
  if (name.length > LONGEST) throw new ExpressionError(`A formula has at most ${LONGEST} characters.`);
  const {text, inputs} = withoutNames(formula, units);
  let tree: Expression;
  try {
    tree = jsep(text);
  } catch (error) {
    throw new ExpressionError(`${(error as Error).message.replace(/ at character \d+$/, '')} in this formula.`);
  }
  const {unit, remembers, make} = build(tree, inputs, units);
  if (!inputs.length) throw new ExpressionError('This formula has no signal in it.');
  return {label, formula, inputs, unit, remembers, make: () => restarting(make)};
}

function restarting(make: () => Step): Step {
  let step = make();
  let last = NaN;
  return (time, values) => {
    if (time < last) step = make();
    last = time;
    return step(time, values);
  };
}

/** Over traces of the inputs, at all their times; between two of its samples an input holds the first. */
export function evaluate(compiled: Compiled, traces: Trace[]): Trace {
  const step = compiled.make();
  const next = traces.map(() => 0);
  const values = traces.map(() => NaN);
  const made: Trace = {times: [], values: []};
  for (;;) {
    let time = Infinity;
    traces.forEach(({times}, i) => (time = Math.min(time, times[next[i]!] ?? Infinity)));
    if (time === Infinity) return made;
    traces.forEach((trace, i) => {
      while (trace.times[next[i]!] === time) values[i] = trace.values[next[i]!++]!;
    });
    made.times.push(time);
    made.values.push(step(time, values));
  }
}
