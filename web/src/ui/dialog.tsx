// dialog.tsx: a modal dialog: the browser's own, which keeps the focus inside.
import type {ComponentChildren} from 'preact';
import {useLayoutEffect, useRef} from 'preact/hooks';
import {Button} from './controls';

interface DialogProps {
  title: string;
  class?: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({title, class: extra, onClose, children}: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const pressedOutside = useRef(false);
  // At once, not after the next picture: until then the focus could go elsewhere, and would be given back there.
  useLayoutEffect(() => {
    const dialog = element.current!;
    const before = document.activeElement;
    if (!dialog.open) dialog.showModal();
    return () => {
      dialog.close();
      // The browser gives it back only as long as the dialog stands in the page.
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={extra}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // A selection that began inside may end outside: for the browser that is a click on the dialog, too.
      onPointerDown={(event) => void (pressedOutside.current = event.target === element.current)}
      onClick={(event) => event.target === element.current && pressedOutside.current && onClose()}
    >
      <header class="panel-head">
        <h2>{title}</h2>
        <Button icon="close" label="Close" onClick={onClose} />
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

interface QuestionProps {
  title: string;
  yes: string;
  no: string;
  onYes: () => void;
  onNo: () => void;
  children: ComponentChildren;
}

/** Asks before something is done that can't be undone. */
export function Question({title, yes, no, onYes, onNo, children}: QuestionProps) {
  return (
    <Dialog title={title} onClose={onNo}>
      <p>{children}</p>
      <div class="dialog-actions">
        <Button label={no} text={no} kind="plain" onClick={onNo} />
        <Button label={yes} text={yes} kind="danger" onClick={onYes} />
      </div>
    </Dialog>
  );
}
