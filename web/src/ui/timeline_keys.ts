// timeline_keys.ts: the keys of the time line: on every page, and while its hand has the focus.
import {goLive, isLive, pause, seek, shownTime, shuttle, stepBy} from '../live/moment';
import {hello} from '../live/store';
import {nextFlag} from './timeline_marks';
import {addBookmark, flags} from './timeline_run';
import {closer, farther, showWhole} from './timeline_zoom';

/** s that an arrow moves by, and with Shift. */
const SMALL = 1;
const LARGE = 10;
/** Somebody who holds the moment saw what was, s. */
const HOLD = 0.1;

function toFlag(direction: 1 | -1): void {
  const time = nextFlag(flags.peek(), shownTime(), direction);
  if (time !== null) seek(time);
  else if (direction > 0) goLive();
}

/** One tick of the world. */
function tick(): number {
  return hello.peek()?.tick ?? 0.01;
}

interface TimeLineKey {
  keys: string;
  text: string;
  run: () => void;
  /** Held down it goes on. */
  repeats?: boolean;
}

export const TIMELINE_KEYS: TimeLineKey[] = [
  {keys: '←', text: 'A second back', run: () => stepBy(-SMALL), repeats: true},
  {keys: '→', text: 'A second on', run: () => isLive.peek() || stepBy(SMALL), repeats: true},
  {keys: 'Shift+←', text: 'Ten seconds back', run: () => stepBy(-LARGE), repeats: true},
  {keys: 'Shift+→', text: 'Ten seconds on', run: () => isLive.peek() || stepBy(LARGE), repeats: true},
  {keys: ',', text: 'A tick back', run: () => stepBy(-tick()), repeats: true},
  {keys: 'J', text: 'Play backwards; again: twice as fast', run: () => shuttle(-1)},
  {keys: 'K', text: 'Hold the moment', run: () => (isLive.peek() ? seek(shownTime() - HOLD) : pause())},
  {keys: 'L', text: 'Play on; again: twice as fast', run: () => shuttle(1)},
  {keys: '[', text: 'To the event before', run: () => toFlag(-1)},
  {keys: ']', text: 'To the next event', run: () => toFlag(1)},
  {keys: 'B', text: 'Bookmark this moment', run: () => addBookmark(shownTime())},
  {keys: 'Home', text: 'To the beginning of the run', run: () => seek(0)},
  {keys: '+', text: 'The time line: closer', run: closer, repeats: true},
  {keys: '-', text: 'The time line: farther', run: farther, repeats: true},
  {keys: '0', text: 'The time line: the whole run', run: showWhole},
  {keys: 'End', text: 'LIVE, or the end of the run', run: goLive},
];

const NAMES: Record<string, string> = {ArrowLeft: '←', ArrowRight: '→', j: 'J', k: 'K', l: 'L', b: 'B', '=': '+', _: '-'};

/** The shortcut that a key of the time line is. */
export function timeLineKey(event: KeyboardEvent): TimeLineKey | undefined {
  const name = NAMES[event.key] ?? event.key;
  const shifted = event.shiftKey && event.key.startsWith('Arrow') ? `Shift+${name}` : name;
  return TIMELINE_KEYS.find(({keys}) => keys === shifted);
}

/** While its hand has the focus: fields take keys of their own otherwise. */
export function onTimeLineKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const found = timeLineKey(event);
  if (!found) return;
  event.preventDefault();
  if (!event.repeat || found.repeats) found.run();
}
