// kept_text.ts: a text that nobody but its form has yet: it is there again when the page was reloaded.
import {useState} from 'preact/hooks';

/** The text under this key of the browser's tab, and what sets it; null: nothing was typed, or it is done with. A browser that keeps nothing
 *  has it until the page is left. */
export function useKeptText(key: string): [string | null, (text: string | null) => void] {
  const [text, setText] = useState(() => {
    try {
      return sessionStorage.getItem(`tether.${key}`);
    } catch {
      return null;
    }
  });
  const set = (now: string | null) => {
    setText(now);
    try {
      if (now === null) sessionStorage.removeItem(`tether.${key}`);
      else sessionStorage.setItem(`tether.${key}`, now);
    } catch {
      // Private browsing, or no room.
    }
  };
  return [text, set];
}
