// editable.tsx: a value of a table that is edited where it stands: Enter or leaving keeps it, Escape doesn't.
import {useEffect} from 'preact/hooks';
import {useText} from '../unsaved';

interface EditableProps {
  /** Of what it is the value, as runs/ID/name. */
  address: string;
  label: string;
  value: string;
  placeholder?: string;
  number?: boolean;
  save: (text: string) => Promise<unknown>;
}

export function Editable({address, label, value, placeholder, number, save}: EditableProps) {
  const {text, state, type, keep, drop} = useText(address, label, value, (typed) => save(typed.trim()));
  const refused = state === 'refused';
  useEffect(() => {
    if (number && refused) drop(); // the old one stands there again
  }, [number, refused]);
  return (
    <input
      class={`editable${number ? ' number' : ''}${refused ? ' invalid' : ''}`}
      title={text}
      aria-label={label}
      aria-invalid={refused}
      aria-busy={state === 'sent'}
      inputMode={number ? 'decimal' : undefined}
      placeholder={placeholder}
      value={text}
      onInput={(event) => type(event.currentTarget.value)}
      onBlur={keep}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur();
        if (event.key === 'Escape') {
          event.stopPropagation();
          drop();
        }
      }}
    />
  );
}
