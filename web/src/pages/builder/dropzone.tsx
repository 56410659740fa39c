// dropzone.tsx: a place for files: dropped, or chosen as files or as a folder.
import type {ComponentChildren} from 'preact';
import {useRef, useState} from 'preact/hooks';
import {notify} from '../../live/store';
import {Button} from '../../ui/controls';
import {Icon} from '../../ui/icon';
import type {Dropped} from './dropped';
import {filesOfDrop, filesOfInput} from './read_files';

interface DropZoneProps {
  label: string;
  busy?: boolean;
  small?: boolean;
  onFiles: (files: Dropped[]) => Promise<void>;
  children?: ComponentChildren;
}

export function DropZone({label, busy, small, onFiles, children}: DropZoneProps) {
  const [over, setOver] = useState(false);
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = (found: Promise<Dropped[]>) => {
    found.then(onFiles).catch((error: unknown) => notify((error as Error).message, 'error'));
  };
  const choose = (input: HTMLInputElement) => {
    if (input.files?.length) take(filesOfInput(input.files));
    input.value = '';
  };
  return (
    <div
      class={`dropzone${over ? ' over' : ''}${small ? ' small' : ''}`}
      role="group"
      aria-label={label}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer && !busy) take(filesOfDrop(event.dataTransfer));
      }}
    >
      {!small && <Icon name="download" size={28} />}
      <div class="dropzone-text">{children}</div>
      <div class="dropzone-buttons">
        <Button label="Choose files" text="Choose files…" kind="plain" disabled={busy} onClick={() => files.current!.click()} />
        {!small && <Button label="Choose a folder" text="Choose a folder…" kind="plain" disabled={busy} onClick={() => folder.current!.click()} />}
      </div>
      <input ref={files} type="file" multiple hidden aria-label={label} onChange={(event) => choose(event.currentTarget)} />
      <input ref={folder} type="file" hidden aria-label={`${label}, a folder`} {...{webkitdirectory: true}} onChange={(event) => choose(event.currentTarget)} />
      {busy && <div class="loading" role="status"><i />Reading…</div>}
    </div>
  );
}
