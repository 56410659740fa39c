// editable.tsx: a value of a table that is edited where it stands: Enter or leaving keeps it, Escape doesn't.
import {useEffect, useRef, useState} from 'preact/hooks';
import {notify} from '../live/store';
import {useUnsaved} from '../unsaved';

interface EditableProps {
  label: string;
  value: string;
  placeholder?: string;
  number?: boolean;
  save: (text: string) => Promise<unknown>;
}

/** `value` may change at any time, also while somebody types or an earlier text is on its way: what is typed stays, also a text
 *  that is refused, so that it can be mended. */
export function Editable({label, value, placeholder, number, save}: EditableProps) {
  const input = useRef<HTMLInputElement>(null);
  const [draft, setDraft] = useState<string | null>(null); // typed, and not in `value` yet
  const [saving, setSaving] = useState<string | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const newest = useRef<string | null>(null); // of what is being saved
  useEffect(() => {
    if (newest.current === null && draft !== refused && document.activeElement !== input.current) setDraft(null);
  }, [value]);
  const keep = async (typed: string) => {
    if (typed === (newest.current ?? value)) return;
    newest.current = typed;
    setSaving(typed);
    try {
      await save(typed.trim());
      setRefused(null);
    } catch (error) {
      notify(`${label}: ${(error as Error).message}`, 'error');
      if (number) setDraft((now) => (now === typed ? null : now)); // the old one stands there again
      else setRefused(typed);
    }
    if (newest.current !== typed) return;
    newest.current = null;
    setSaving(null);
  };
  const isRefused = draft !== null && draft === refused;
  useUnsaved({unsaved: draft !== null && draft !== value, sendable: !isRefused, save: () => draft !== null && void keep(draft)});
  return (
    <input
      ref={input}
      class={`editable${number ? ' number' : ''}${isRefused ? ' invalid' : ''}`}
      title={draft ?? value}
      aria-label={label}
      aria-invalid={isRefused}
      aria-busy={saving !== null}
      inputMode={number ? 'decimal' : undefined}
      placeholder={placeholder}
      value={draft ?? value}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onBlur={(event) => keep(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur();
        if (event.key === 'Escape') {
          event.stopPropagation();
          setDraft(null);
        }
      }}
    />
  );
}
