// condition.ts: when a trial is over, or has begun, as a question to signals; answered sample by sample, so that the time is
// that of the tick and not of the page.
import type {Ring} from '../../live/ring';
import type {Model} from '../../live/types';

export const OPERATORS = ['>', '≥', '<', '≤', '='] as const;
export type Operator = (typeof OPERATORS)[number];

export interface Term {
  signal: string;
  operator: Operator;
  value: number;
}

export interface Condition {
  terms: Term[];
  /** How many terms must hold; 0: all. */
  least: number;
}

export function holds(term: Term, value: number): boolean {
  switch (term.operator) {
    case '>':
      return value > term.value;
    case '≥':
      return value >= term.value;
    case '<':
      return value < term.value;
    case '≤':
      return value <= term.value;
    case '=':
      return Math.abs(value - term.value) < 1e-9;
  }
}

export function describe(condition: Condition): string {
  const terms = condition.terms.map(({signal, operator, value}) => `${signal} ${operator} ${value}`).join(', ');
  return condition.terms.length < 2 ? terms : `${condition.least ? `${condition.least} of` : 'all of'} ${terms}`;
}

export type Rings = (name: string) => Ring | undefined;

/** Time of the first sample after `after` at which `question` is true; NaN: none yet. Times are those of `clock`. */
function firstTime(clock: Ring | undefined, after: number, question: (time: number) => boolean): number {
  if (!clock) return NaN;
  for (let i = clock.find(after); i < clock.length; i++) {
    const time = clock.time(i);
    if (time > after && question(time)) return time;
  }
  return NaN;
}

export function whenHolds(condition: Condition, rings: Rings, after: number): number {
  const {terms, least} = condition;
  if (!terms.length) return NaN;
  const needed = least > 0 ? Math.min(least, terms.length) : terms.length;
  return firstTime(rings(terms[0]!.signal), after, (time) => {
    const count = terms.filter((term) => holds(term, rings(term.signal)?.at(time) ?? NaN)).length;
    return count >= needed;
  });
}

/** What tells that somebody moves a robot: where it stands, and how its joints are. */
export function motionSignals(model: Model): string[] {
  const names = new Set<string>();
  for (const {root} of model.robots) for (const axis of ['x', 'y', 'heading']) names.add(`${model.bodies[root]!.name}.${axis}`);
  for (const {name, robot, kind} of model.joints) if (robot >= 0 && (kind === 'hinge' || kind === 'slide')) names.add(`${name}.position`);
  const known = new Set(model.signals.map(({name}) => name));
  return [...names].filter((name) => known.has(name)).slice(0, 60);
}

/** The value at `start`, or the first one where history begins later. */
function originOf(ring: Ring | undefined, start: number): number {
  if (!ring?.length) return NaN;
  return ring.time(0) <= start ? ring.at(start) : ring.value(0);
}

/** m or rad from where it was at the start. */
const MOTION = 0.01;

export function whenMoved(names: string[], rings: Rings, start: number, after: number): number {
  const origins = names.map((name) => originOf(rings(name), start));
  return firstTime(rings(names[0] ?? ''), after, (time) =>
    names.some((name, i) => Math.abs((rings(name)?.at(time) ?? NaN) - origins[i]!) > MOTION),
  );
}
