// values.ts: what signals are worth at the moment that is shown: the newest samples while it is LIVE, else out of the log.
import {effect, signal} from '@preact/signals';
import {number, object, recordOf} from '../check';
import {request} from '../http';
import {derived} from './derived';
import {isExpression} from './expression';
import {Following} from './following';
import {lastValue} from './samples';
import {answerOf, isServed, runAddress, shownRun} from './shown_run';

const answer = object({time: number, values: recordOf(number)});
/** While a run is played, ms between an answer and the next question. */
const PAUSE_MS = 50;

/** Run time that is shown, s; null: LIVE. moment.ts sets it, as whoever asks has it from there. */
export const valuesWanted = signal<number | null>(null);

const following = new Following((run, time) => answerOf(run, request('GET', `${runAddress(run)}/values?at=${time}`, undefined, answer)), PAUSE_MS);
let used = false; // somebody has looked at a value since the moment was last another

function follow(): void {
  const time = valuesWanted.peek();
  if (time !== null && shownRun.peek()) following.want(shownRun.peek(), time);
}

/** SI; NaN: it has none, or it is not known yet. Of a formula what it makes of its signals at that moment alone. */
export function valueAt(name: string): number {
  if (valuesWanted.peek() === null || isServed.peek()) return lastValue(name);
  used = true;
  follow();
  const known = following.answer.peek();
  if (known?.run !== shownRun.peek()) return NaN;
  const {time, value: {values}} = known;
  if (!isExpression(name)) return values[name] ?? NaN;
  const compiled = derived(name);
  return compiled ? compiled.make()(time, compiled.inputs.map((input) => values[input] ?? NaN)) : NaN;
}

effect(() => {
  if (valuesWanted.value === null || !used) return;
  used = false;
  follow();
});
