// span_bar.tsx: which stretch of time is looked at: the newest so much, all, or from one moment to another.
import {useState} from 'preact/hooks';
import {Button, Segmented} from '../../ui/controls';
import {between, goesOn, SPANS, writeSpan} from './span';
import type {Moments, Span} from './span';
import {clockText, here, momentOf, zone, zoneName, zoneText} from './zone';

/** A moment that is typed or picked: Enter or leaving takes it, Escape doesn't. What is shown may move on meanwhile; what is typed stays. */
function MomentField({label, ms, onChange}: {label: string; ms: number | null; onChange: (ms: number) => void}) {
  // While somebody is in the field; whether that was typed, or only stood there.
  const [draft, setDraft] = useState<{text: string; typed: boolean} | null>(null);
  const shown = ms === null ? '' : clockText(Math.round(ms), zoneName.value);
  const rest = () => setDraft({text: shown, typed: false});
  const take = () => {
    const moment = draft?.typed ? momentOf(draft.text, zoneName.value) : NaN;
    if (!Number.isNaN(moment)) onChange(moment);
  };
  return (
    <label class="moment">
      {label}
      <input
        type="datetime-local"
        step={/\./.test(shown) ? 0.001 : 1}
        value={draft?.text ?? shown}
        onFocus={rest}
        onInput={(event) => setDraft({text: event.currentTarget.value, typed: true})}
        onBlur={() => {
          take();
          setDraft(null);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            take();
            setDraft((before) => before && {...before, typed: false});
          }
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          rest();
        }}
      />
    </label>
  );
}

interface SpanBarProps {
  span: Span;
  moments: Moments;
  /** Whether the moments are known. */
  known: boolean;
  onSpan: (span: Span) => void;
  onWider: () => void;
}

export function SpanBar({span, moments, known, onSpan, onWider}: SpanBarProps) {
  const length = moments.to - moments.from;
  const name = writeSpan(span);
  const whole = span.kind === 'last' ? {from: Math.floor(moments.from / 1000) * 1000, to: Math.floor(moments.to / 1000) * 1000} : moments;
  // One beyond the other takes the other along.
  const from = (ms: number) => onSpan(between({from: ms, to: ms < moments.to ? moments.to : ms + length}));
  const to = (ms: number) => onSpan(between({from: ms > moments.from ? moments.from : ms - length, to: ms}));
  return (
    <div class="span-bar">
      <span class="spans" role="group" aria-label="Span">
        {SPANS.map(({value, text}) => (
          <Button key={value} label={value === 'all' ? 'All there is' : `The last ${text}`} text={text} pressed={value === name} onClick={() => onSpan(value === 'all' ? {kind: 'all'} : {kind: 'last', ms: lengthOf(value)})} />
        ))}
      </span>
      <Button icon="minus" label="Twice as long" onClick={onWider} />
      <Button
        icon={goesOn(span) ? 'pause' : 'play'}
        label={goesOn(span) ? 'Stand still' : 'Follow what comes'}
        onClick={() => onSpan(goesOn(span) ? between(moments) : {kind: 'last', ms: Math.max(1000, Math.round(length / 1000) * 1000)})}
      />
      <MomentField label="from" ms={known ? whole.from : null} onChange={from} />
      <MomentField label="to" ms={known ? whole.to : null} onChange={to} />
    </div>
  );
}

/** Whose clock shows the time. */
export function ClockChoice() {
  return (
    <Segmented
      label="Clock"
      options={[{value: 'local', text: 'Local', title: zoneText(here, Date.now())}, {value: 'utc', text: 'UTC'}]}
      value={zone.value === 'utc' ? 'utc' : 'local'}
      onChange={(value) => (zone.value = value)}
    />
  );
}

function lengthOf(value: string): number {
  return {m: 60e3, h: 3600e3, d: 86400e3}[value.slice(-1)]! * Number.parseInt(value, 10);
}
