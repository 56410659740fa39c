// types.ts: trials over HTTP: docs/web.md.
import {flag, number, object, oneOf, text} from '../../check';
import type {Checked} from '../../check';

export const checkTrial = object({
  id: number,
  started: text,
  scene: text,
  driver: text,
  time: number, // s simulated, from start to stop
  startedBy: oneOf('hand', 'motion'),
  stoppedBy: oneOf('hand', 'condition'),
  condition: text,
  note: text,
  discarded: flag,
  recording: text, // id of the kept run that has it, or ""
  begin: number, // s of that run
});
export type Trial = Checked<typeof checkTrial>;
