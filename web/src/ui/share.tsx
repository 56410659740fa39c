// share.tsx: the address of what is seen, for somebody else.
import {useState} from 'preact/hooks';
import {shared} from '../addressed';
import {isLive, shownRun, shownTime} from '../live/moment';
import {notify} from '../live/store';
import {Button} from './controls';
import type {Values} from '../route';
import {usePopover} from './popovers';

/** What is seen live is gone in a moment; the run that is being kept has it for ever. */
function momentKeys(): Values {
  return isLive.peek() && shownRun.peek() ? {run: shownRun.peek(), t: shownTime().toFixed(3)} : {};
}

/** Pages that come without TLS from another machine may not use the browser's clipboard. */
function copyBySelection(field: HTMLInputElement): boolean {
  field.select();
  return document.execCommand('copy');
}

async function copy(text: string, field: HTMLInputElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(field);
  }
}

function Address({label, text, onDone}: {label: string; text: string; onDone: () => void}) {
  let field: HTMLInputElement | null = null;
  const take = async () => {
    if (!field) return;
    if (await copy(text, field)) {
      notify('The address is copied');
      onDone();
    } else {
      notify('The browser does not copy: press Ctrl+C', 'error');
      field.select();
    }
  };
  return (
    <label class="share-address">
      <span class="field-label">{label}</span>
      <span class="share-line">
        <input ref={(element) => void (field = element)} readOnly value={text} onFocus={(event) => event.currentTarget.select()} />
        <Button icon="link" label={`Copy: ${label}`} text="Copy" kind="primary" onClick={() => void take()} />
      </span>
    </label>
  );
}

export function Share() {
  const [open, setOpen] = useState(false);
  const box = usePopover<HTMLDivElement>(open, () => setOpen(false));
  return (
    <div class="share" ref={box}>
      <Button icon="link" label="Share" pressed={open} onClick={() => setOpen(!open)} />
      {open && (
        <section class="float share-box" aria-label="Share what you see">
          <Address label={isLive.value && shownRun.value ? 'This moment' : 'What you see'} text={shared(momentKeys())} onDone={() => setOpen(false)} />
          {isLive.value && shownRun.value && <Address label="Live" text={shared()} onDone={() => setOpen(false)} />}
        </section>
      )}
    </div>
  );
}
