// typed.tsx: a text of a file in a field of its own: what is being typed stays, whatever comes meanwhile; Enter or leaving takes it.
import {useState} from 'preact/hooks';

interface TypedProps {
  label?: string;
  value: string;
  placeholder?: string;
  title?: string;
  disabled?: boolean;
  set: (text: string) => void;
}

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
