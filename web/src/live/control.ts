// control.ts: what the top bar and the keyboard do to the world. What is shown comes back with the status, so that all
// pages show the same.
import {send} from './connection';
import {notify, status} from './store';
import type {ControlAction} from './types';

export function control(action: ControlAction, value?: number, robot = -1): void {
  if (!send({type: 'control', action, value, robot})) notify('Not connected: nothing was done', 'error');
}

export function togglePause(): void {
  if (status.peek()) control(status.peek()!.paused ? 'resume' : 'pause');
}

export function toggleStop(): void {
  if (status.peek()) control(status.peek()!.stopped ? 'release' : 'stop');
}

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];
