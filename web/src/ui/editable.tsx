// editable.tsx: a value of a table that is edited where it stands: Enter or leaving keeps it, Escape doesn't.
import {useEffect, useRef, useState} from 'preact/hooks';
import {notify} from '../live/store';

interface EditableProps {
  label: string;
  value: string;
  placeholder?: string;
  number?: boolean;
  save: (text: string) => Promise<unknown>;
}

/** `value` may change at any time, also while somebody types or an earlier text is on its way: what is typed stays. */
export function Editable({label, value, placeholder, number, save}: EditableProps) {
  const input = useRef<HTMLInputElement>(null);
  const [draft, setDraft] = useState<string | null>(null); // typed, and not in `value` yet
  const [saving, setSaving] = useState<string | null>(null);
  const newest = useRef<string | null>(null); // of what is being saved
  useEffect(() => {
    if (newest.current === null && document.activeElement !== input.current) setDraft(null);
  }, [value]);
  const keep = async (typed: string) => {
    if (typed === (newest.current ?? value)) return;
    newest.current = typed;
    setSaving(typed);
    try {
      await save(typed.trim());
    } catch (error) {
      notify(`${label}: ${(error as Error).message}`, 'error');
      setDraft((now) => (now === typed ? null : now));
    }
    if (newest.current !== typed) return;
    newest.current = null;
    setSaving(null);
  };
  return (
    <input
      ref={input}
      class={`editable${number ? ' number' : ''}`}
      title={draft ?? value}
      aria-label={label}
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
