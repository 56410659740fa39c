// timeline.tsx: the one time line under every page: the whole run that is shown, what happened in it, and the hand that takes
// everything to a moment of it.
import {effect, signal} from '@preact/signals';
import {useEffect} from 'preact/hooks';
import {formatClock, formatDate, formatDuration} from '../format';
import {goLive, isLive, isOfWorld, isPlaying, isServed, looping, moment, now, pause, play, seek, setSpeed, shownDetails, shownRun, speed} from '../live/moment';
import {hello, model} from '../live/store';
import {Button} from './controls';
import {Icon} from './icon';
import {ForkButton} from './timeline_fork';
import {addBookmark, bookmarks, LONGEST_NAME, nameBookmark, removeBookmark} from './timeline_run';
import type {Bookmark} from './timeline_run';
import {Track} from './timeline_track';
import {follow, isClose, showWhole} from './timeline_zoom';

/** The right edge of a run that grows moves so often, ms. */
const EDGE_MS = 200;
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];

/** Run time at the right edge, s. */
const edge = signal(0);

effect(() => {
  shownDetails.value;
  shownRun.value;
  edge.value = now();
});
effect(() => follow(moment.value ?? edge.value));

function useEdge(): void {
  useEffect(() => {
    const timer = setInterval(() => (edge.value = now()), EDGE_MS);
    return () => clearInterval(timer);
  }, []);
}

function Speed() {
  const size = Math.abs(speed.value);
  const choices = SPEEDS.includes(size) ? SPEEDS : [...SPEEDS, size].sort((a, b) => a - b);
  return (
    <select class="speed" aria-label="Speed of the recording" value={String(size)} onChange={(event) => setSpeed(Math.sign(speed.value) * Number(event.currentTarget.value))}>
      {choices.map((choice) => (
        <option key={choice} value={String(choice)}>{`${speed.value < 0 ? '−' : ''}${choice}×`}</option>
      ))}
    </select>
  );
}

/** The name that the flag of a bookmark tells. */
function BookmarkName({mark}: {mark: Bookmark}) {
  return (
    <input
      class="timebar-bookmark"
      aria-label="Name of this bookmark"
      placeholder="Name it"
      maxLength={LONGEST_NAME}
      value={mark.name}
      onChange={(event) => nameBookmark(mark.time, event.currentTarget.value)}
      onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
    />
  );
}

/** What is there to do while something past is shown. */
function PastTools() {
  const here = moment.value ?? 0;
  const marked = bookmarks.value.find(({time}) => Math.abs(time - here) < 5e-3);
  return (
    <>
      <Speed />
      <Button icon="loop" label="Loop" pressed={looping.value} onClick={() => (looping.value = !looping.value)} />
      <Button
        icon="bookmark"
        label={marked ? 'Remove this bookmark' : 'Bookmark this moment'}
        pressed={!!marked}
        shortcut="B"
        onClick={() => (marked ? removeBookmark(marked.time) : addBookmark(here))}
      />
      {marked && <BookmarkName key={marked.time} mark={marked} />}
      {!shownDetails.value?.program && <ForkButton time={here} />}
    </>
  );
}

function Name() {
  if (isOfWorld.value) {
    return isLive.value ? null : <span class="timebar-ago" title="The world goes on; commands and the e-stop act on it">{formatDuration(Math.max(0, edge.value - (moment.value ?? 0)))} ago</span>;
  }
  const details = shownDetails.value;
  return (
    <span class="timebar-name" title={shownRun.value}>
      <Icon name="runs" size={14} />
      {details?.name || details?.scene} <span class="muted">{details && formatDate(details.started)}</span>
    </span>
  );
}

function End() {
  if (isServed.value) return <span class="timebar-time muted">{formatClock(edge.value)}</span>;
  const text = isOfWorld.value ? 'LIVE' : 'Back to LIVE';
  return (
    <button
      type="button"
      class={`timebar-live${isLive.value ? ' on' : ''}`}
      aria-pressed={isLive.value}
      title={isLive.value ? 'What happens now is shown' : 'Shows what happens now (End)'}
      onClick={goLive}
    >
      <i /> {text}
    </button>
  );
}

function Playing() {
  if (isLive.value) return <Button icon="pause" label="Hold this moment" shortcut="K" onClick={() => seek(now() - 0.1)} />;
  return isPlaying.value ? (
    <Button icon="pause" label="Hold the recording" shortcut="K" onClick={pause} />
  ) : (
    <Button icon="play" label="Play the recording" shortcut="L" kind="primary" onClick={play} />
  );
}

function Clock() {
  return <span class="timebar-time">{formatClock(moment.value ?? edge.value)}</span>;
}

export function TimeLine() {
  useEdge();
  if (!model.value || !hello.value) return null;
  return (
    <section class={`timebar${isLive.value ? '' : ' past'}`} aria-label="Time line">
      <Playing />
      <Clock />
      <Name />
      <Track end={edge.value} />
      <Button icon="fit" label="Show the whole run" shortcut="0" disabled={!isClose()} onClick={showWhole} />
      {!isLive.value && <PastTools />}
      {!shownRun.value && <span class="muted timebar-note" title="record: on in the scene keeps the whole run">nothing is kept</span>}
      <End />
    </section>
  );
}
