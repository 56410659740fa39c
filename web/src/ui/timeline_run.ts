// timeline_run.ts: the flags and bands of the run that is shown, and the moments of it that somebody wants to find again: this browser
// remembers them.
import {computed} from '@preact/signals';
import {isOfWorld, shownDetails, shownRun} from '../live/moment';
import {events, hello} from '../live/store';
import {shared} from '../settings';
import {bandsOf, flagsOf} from './timeline_marks';
import type {Flag} from './timeline_marks';

export interface Bookmark {
  time: number; // s of the run
  name: string;
}

/** Of so many runs, the last first. */
const MOST_RUNS = 50;
export const LONGEST_NAME = 100;
const all = shared<{run: string; marks: Bookmark[]}[]>('bookmarks', []);

/** What is not kept is this run of the program, and no other that begins at 0. */
const shown = computed(() => shownRun.value || `@${hello.value?.token ?? ''}`);

/** Of the run that is shown, in order of time. */
export const bookmarks = computed<Bookmark[]>(() => all.value.find(({run}) => run === shown.value)?.marks ?? []);

function change(to: (marks: Bookmark[]) => Bookmark[]): void {
  const run = shown.peek();
  all.change((before) => {
    const marks = to(before.find((one) => one.run === run)?.marks ?? []);
    const others = before.filter((one) => one.run !== run);
    return marks.length ? [{run, marks}, ...others].slice(0, MOST_RUNS) : others;
  });
}

export function addBookmark(time: number, name = ''): void {
  change((marks) => [...marks.filter((mark) => mark.time !== time), {time, name}].sort((a, b) => a.time - b.time));
}

/** What it is called on the time line; one that is not there is made. */
export function nameBookmark(time: number, name: string): void {
  addBookmark(time, name.trim().slice(0, LONGEST_NAME));
}

export function removeBookmark(time: number): void {
  change((marks) => marks.filter((mark) => mark.time !== time));
}

/** Everything that happened: from the log, or what this page heard where nothing is kept. */
export const flags = computed<Flag[]>(() => {
  const told = shownRun.value ? (shownDetails.value?.events ?? []) : isOfWorld.value ? events.value : [];
  const marks = bookmarks.value.map(({time, name}): Flag => ({time, kind: 'bookmark', text: name || 'bookmark'}));
  return [...flagsOf(told.filter(({time}) => Number.isFinite(time))), ...marks];
});

export const bands = computed(() => bandsOf(shownDetails.value?.modes ?? []));
