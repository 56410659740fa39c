// editable.tsx: a value of a table that is edited where it stands: Enter or leaving keeps it, Escape doesn't.
import {useEffect, useState} from 'preact/hooks';
import {notify} from '../live/store';

interface EditableProps {
  label: string;
  value: string;
  placeholder?: string;
  number?: boolean;
  save: (text: string) => Promise<void>;
}

export function Editable({label, value, placeholder, number, save}: EditableProps) {
  const [text, setText] = useState(value);
  const [busy, setBusy] = useState(false);
  useEffect(() => setText(value), [value]);
  const keep = async (typed: string) => {
    if (typed === value || busy) return;
    setBusy(true);
    try {
      await save(typed.trim());
    } catch (error) {
      notify(`${label}: ${(error as Error).message}`, 'error');
      setText(value);
    }
    setBusy(false);
  };
  return (
    <input
      class={`editable${number ? ' number' : ''}`}
      aria-label={label}
      aria-busy={busy}
      inputMode={number ? 'decimal' : undefined}
      placeholder={placeholder}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
      onBlur={(event) => keep(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur();
        if (event.key === 'Escape') {
          event.stopPropagation();
          setText(value);
        }
      }}
    />
  );
}
