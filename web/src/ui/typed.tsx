// typed.tsx: fields in which what is being typed stays, whatever is drawn anew meanwhile.
import {useState} from 'preact/hooks';

interface TypedProps {
  label?: string;
  value: string;
  placeholder?: string;
  title?: string;
  disabled?: boolean;
  set: (text: string) => void;
}

/** A text: Enter or leaving takes it. */
export function Typed({label, value, placeholder, title, disabled, set}: TypedProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const take = () => {
    if (typed !== null && typed.trim() !== value) set(typed.trim());
    setTyped(null);
  };
  return (
    <input
      aria-label={label}
      title={title}
      placeholder={placeholder}
      disabled={disabled}
      value={typed ?? value}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onBlur={take}
      onKeyDown={(event) => event.key === 'Enter' && take()}
    />
  );
}

interface NumberFieldProps {
  label: string;
  value: number;
  /** 0 is no answer. */
  nonzero?: boolean;
  /** Each number on the way is taken, and not only the one that stands there in the end. */
  live?: boolean;
  onChange: (value: number) => void;
}

/** A number: taken when it is one; else the one before stays. */
export function NumberField({label, value, nonzero, live, onChange}: NumberFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const good = (text: string) => text.trim() !== '' && Number.isFinite(Number(text)) && !(nonzero && Number(text) === 0);
  return (
    <input
      class={`number${typed !== null && !good(typed) ? ' invalid' : ''}`}
      type="number"
      step="any"
      aria-label={label}
      value={typed ?? String(value)}
      onInput={({currentTarget: {value: text}}) => {
        setTyped(text);
        if (live && good(text)) onChange(Number(text));
      }}
      onBlur={() => {
        if (!live && typed !== null && good(typed)) onChange(Number(typed));
        setTyped(null);
      }}
      onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
    />
  );
}
