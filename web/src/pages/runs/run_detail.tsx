// run_detail.tsx: one run: what people wrote of it, what can be done with it, its signals, and what happened.
import {useEffect, useState} from 'preact/hooks';
import {formatBytes, formatClock, formatDate, formatDuration} from '../../format';
import {useFetched} from '../../http';
import {openRun} from '../../live/moment';
import {AGAIN_MS} from '../../live/shown_run';
import {notify} from '../../live/store';
import {go, setParams} from '../../route';
import {may} from '../../role';
import {Allowed} from '../../ui/allowed';
import {Button, Empty, Panel} from '../../ui/controls';
import {Question} from '../../ui/dialog';
import {Editable} from '../../ui/editable';
import {Show} from '../../ui/fetched';
import {Icon} from '../../ui/icon';
import {Popover} from '../../ui/popover';
import {change, compared, leaveGone, LOOK_MS, race, remove, toggleCompared, told} from './library';
import {cursor, RunPlots, stretch} from './run_plots';
import {useTags} from './tags';
import {forget, guard, unsavedBelow, useText} from '../../unsaved';
import {checkRunDetail, runUrl, titleOf} from './types';
import type {Run, RunDetail} from './types';
import {Answer, useProof} from './verify';

/** Shows the run from `time` on, s: in 3D, or its plots where it has no model. */
function replay({id, program}: Run, time = 0): void {
  go(program ? 'signals' : 'world');
  openRun(id, time);
}

const FILES = [
  {format: 'log', text: 'Tether’s log (.wpilog)', hint: 'Replays, verifies and opens on another Tether'},
  {format: 'wpilog', text: 'WPILOG for AdvantageScope', hint: 'Every signal, command and pose as an entry'},
  {format: 'mcap', text: 'MCAP', hint: 'For Foxglove and PlotJuggler'},
  {format: 'csv', text: 'CSV', hint: 'A line a sample, for spreadsheets and NumPy'},
];

function Download({id}: {id: string}) {
  return (
    <Popover label="Save as a file" icon="download" text="Save as" align="left">
      <ul class="file-list">
        {FILES.map(({format, text, hint}) => (
          <li key={format}>
            <a href={runUrl(id, `file?format=${format}`)} download>{text}</a>
            <span class="hint">{hint}</span>
          </li>
        ))}
      </ul>
    </Popover>
  );
}

function Delete({run}: {run: RunDetail}) {
  const [asking, ask] = useState(false);
  const why = run.pinned ? 'It is pinned: unpin it first' : run.recording ? 'It is still being recorded' : '';
  return (
    <>
      <Button icon="trash" label={why || 'Delete'} disabled={!!why || !may('administer')} onClick={() => ask(true)} />
      {asking && (
        <Question title="Delete this run?" yes="Delete it" no="Keep it" onNo={() => ask(false)} onYes={() => (ask(false), void remove(run))}>
          {titleOf(run)} of {formatDate(run.started)}, {formatDuration(run.duration)}. It can’t be brought back.
        </Question>
      )}
    </>
  );
}

/** Says of what was not saved that it was not. */
const tell = (what: string) => (error: unknown) => notify(`${what} not saved: ${told(error)}`, 'error');

export function Tags({run, save}: {run: RunDetail; save: (tags: string[]) => Promise<string[]>}) {
  const [typed, type] = useState('');
  const alter = useTags(run.tags, save);
  const add = () => {
    const tag = typed.trim();
    type('');
    if (!tag) return;
    alter((tags) => (tags.includes(tag) ? tags : [...tags, tag])).catch((error: unknown) => {
      type((now) => now || tag);
      tell(`Tag ${tag}`)(error);
    });
  };
  useEffect(() => guard({isUnsaved: () => typed.trim() !== '', canBeSent: () => true, leave: add}));
  const removeTag = (tag: string) => void alter((tags) => tags.filter((each) => each !== tag)).catch(tell(`Removal of the tag ${tag}`));
  return (
    <ul class="tag-list" aria-label="Tags">
      {run.tags.map((tag) => (
        <li key={tag} class="tag">
          {tag}
          <button type="button" aria-label={`Remove the tag ${tag}`} title="Remove" onClick={() => removeTag(tag)}><Icon name="close" size={10} /></button>
        </li>
      ))}
      <li>
        <input class="editable tag-input" aria-label="Add a tag" placeholder="Add a tag" value={typed} maxLength={50} onInput={(event) => type(event.currentTarget.value)} onBlur={add} onKeyDown={(event) => event.key === 'Enter' && add()} />
      </li>
    </ul>
  );
}

export function Note({run, save}: {run: RunDetail; save: (note: string) => Promise<unknown>}) {
  const {text, state, type, keep} = useText(`runs/${run.id}/note`, 'Note', run.note, save);
  return <textarea class="run-note" aria-label="Note" aria-invalid={state === 'refused'} placeholder="Add a note" rows={Math.min(6, text.split('\n').length)} value={text} onInput={(event) => type(event.currentTarget.value)} onBlur={keep} />;
}

/** The run that it went on from, and those that went on from it, as far as they are kept. */
function Family({run, all}: {run: RunDetail; all: readonly Run[]}) {
  const {from} = run;
  const parent = from && all.find((one) => one.run && one.run === from.run);
  const forks = all.filter((one) => run.run && one.from?.run === run.run);
  const link = (one: Run, text: string) => (
    <button type="button" class="link" title={`Look at it: ${formatDate(one.started)}`} onClick={() => setParams({id: one.id}, 'runs')}>{text}</button>
  );
  if (!from && !forks.length) return null;
  return (
    <p class="run-family">
      <Icon name="fork" size={14} />
      {from && <span>Goes on from {parent ? link(parent, titleOf(parent)) : <span title={from.name}>a run that is not kept here</span>} at {formatClock(from.time)}</span>}
      {forks.length > 0 && <span>Others go on from it: {forks.map((one) => <span key={one.id}>{link(one, `${titleOf(one)} from ${formatClock(one.from!.time)}`)} </span>)}</span>}
    </p>
  );
}

const NO_MODEL = 'Its log has no model and no inputs: another program wrote it';

/** What can't be done with the log of another program, and what of it is not here. */
function Foreign({run}: {run: RunDetail}) {
  return (
    <p class="run-foreign">
      <Icon name="signals" size={14} /> Recorded by {run.program}. Its signals can be plotted and compared. It has no model and no inputs, so it is not shown in 3D, raced, verified or forked.
      {run.leftOut > 0 && ` Left out: ${run.leftOut} ${run.leftOut === 1 ? 'entry' : 'entries'} of other types${run.leftOutTypes && ` (${run.leftOutTypes})`}.`}
    </p>
  );
}

function Head({run, all, again}: {run: RunDetail; all: readonly Run[]; again: () => void}) {
  const {proof, ask, close} = useProof(run.id);
  const save = async (part: Parameters<typeof change>[1]) => {
    const now = await change(run.id, part);
    again();
    return now;
  };
  return (
    <>
      <header class="run-head">
        <Allowed needs="drive">
          <div class="run-title">
            <Editable address={`runs/${run.id}/name`} label="Name of this run" value={run.name} placeholder={run.scene || 'Give it a name'} save={(name) => save({name})} />
          </div>
        </Allowed>
        <p class="muted">{run.scene} · {formatDate(run.started)} · {formatDuration(run.duration)} · {formatBytes(run.size)} · {run.outcome} · <span title={run.file}>{run.file.replace(/.*\//, '')}</span></p>
        <Family run={run} all={all} />
        {run.program && <Foreign run={run} />}
        <Allowed needs="drive">
          <Tags run={run} save={(tags) => save({tags}).then((now) => now.tags)} />
          <Note run={run} save={(note) => save({note})} />
        </Allowed>
        <div class="run-actions">
          <Button icon={run.program ? 'signals' : 'play'} label={run.program ? 'Plot its signals' : 'Replay'} text={run.program ? 'Plot its signals' : 'Replay'} kind="primary" onClick={() => replay(run)} />
          <Button icon="flag" label={run.program ? NO_MODEL : 'Race it'} text="Race it" kind="plain" disabled={run.recording || !!run.program} onClick={() => race([run.id])} />
          <Button icon="layers" label={compared.value.includes(run.id) ? 'Chosen: choose others in the list' : 'Compare'} text="Compare" pressed={compared.value.includes(run.id)} onClick={() => toggleCompared(run.id)} />
          <Download id={run.id} />
          <Allowed needs="drive">
            <Button icon="check" label={run.program ? NO_MODEL : 'Verify'} text="Verify" disabled={run.recording || !!run.program || (proof !== null && proof.state !== 'done')} onClick={ask} />
            <Button icon="pin" label={run.pinned ? 'Unpin' : 'Pin: it makes no room for newer runs'} pressed={run.pinned} onClick={() => void save({pinned: !run.pinned}).catch(tell('Pin'))} />
          </Allowed>
          <Delete run={run} />
        </div>
      </header>
      {proof && <Answer proof={proof} onClose={close} />}
    </>
  );
}

/** Share of the run that a look at one moment shows. */
const LOOK = 0.05;

function lookAt(time: number, duration: number): void {
  const half = Math.max((LOOK / 2) * duration, 0.05);
  stretch.value = {from: Math.max(0, time - half), to: Math.min(duration, time + half)};
}

/** Where the plot looks, and what happened; a finger or the mouse on it moves the look along. */
function TimeLine({run}: {run: RunDetail}) {
  const [pointed, setPointed] = useState(-1);
  const length = Math.max(run.duration, 1e-9);
  const share = (time: number) => `${100 * Math.min(1, Math.max(0, time / length))}%`;
  const scrub = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    lookAt((Math.min(1, Math.max(0, (event.clientX - box.left) / box.width))) * length, length);
  };
  return (
    <Panel title="What happened" class="timeline-panel">
      <div
        class="timeline"
        aria-hidden="true"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          scrub(event);
        }}
        onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && scrub(event)}
      >
        {stretch.value && <span class="timeline-look" style={{left: share(stretch.value.from), right: `calc(100% - ${share(stretch.value.to)})`}} />}
        {cursor.value !== null && <span class="timeline-cursor" style={{left: share(cursor.value)}} />}
        {run.events.map((event, i) => (
          <i key={i} class={pointed === i ? 'pointed' : ''} style={{left: share(event.time)}} onMouseEnter={() => setPointed(i)} onMouseLeave={() => setPointed(-1)} />
        ))}
      </div>
      <ol class="timeline-events" tabIndex={0} aria-label="Events">
        {run.events.map((event, i) => (
          <li key={i} class={pointed === i ? 'marked' : ''} onMouseEnter={() => setPointed(i)} onMouseLeave={() => setPointed(-1)}>
            <button type="button" class="link number" title="Look at this moment" onClick={() => lookAt(event.time, length)}>{event.time.toFixed(3)}</button>{' '}
            <button type="button" class="link" title="Show this moment" onClick={() => replay(run, event.time)}>show</button>{' '}
            <b>{event.source}</b> {event.text}
          </li>
        ))}
        {!run.events.length && <li class="muted">Nothing out of the ordinary.</li>}
      </ol>
    </Panel>
  );
}

/** What somebody wrote of it and could not save any more can still be copied. */
function Gone({id}: {id: string}) {
  const written = unsavedBelow(`runs/${id}/`);
  return (
    <Empty icon="runs" title={`There is no kept run ${id} here`}>
      It was deleted, or its name is another.
      {written.map(({address, label, text}) => (
        <label key={address} class="run-written">
          <span>{label}, not saved:</span>
          <textarea class="run-note" readOnly rows={Math.min(6, text.split('\n').length)} value={text} />
        </label>
      ))}
      <p>
        <button type="button" class="link" onClick={() => { forget(written.map(({address}) => address)); leaveGone(id); }}>
          {written.length ? 'Throw that away, and show another run' : 'Show another'}
        </button>
      </p>
    </Empty>
  );
}

export function Detail({id, all}: {id: string; all: readonly Run[]}) {
  const listed = all.find((one) => one.id === id);
  // Once more when it is over, or is listed no more: that is another period.
  const run = useFetched(runUrl(id), checkRunDetail, listed?.recording ? AGAIN_MS : listed ? 0 : LOOK_MS);
  if (run.error?.status === 404) return <div class="run-detail"><Gone id={id} /></div>;
  return (
    <div class="run-detail">
      <Show from={run} what="run of this name" icon="runs" missing={null}>
        {(value) => (
          <>
            <Head run={value} all={all} again={run.again} />
            <RunPlots run={value} />
            <TimeLine run={value} />
          </>
        )}
      </Show>
    </div>
  );
}
