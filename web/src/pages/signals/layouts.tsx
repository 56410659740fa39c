// layouts.tsx: plots are saved by name for everybody who opens these pages, and as a file; and opened again.
import {useRef, useState} from 'preact/hooks';
import {formatDate} from '../../format';
import {useFetched} from '../../http';
import {notify} from '../../live/store';
import {lacks, may} from '../../role';
import {Allowed, Denied} from '../../ui/allowed';
import {Button} from '../../ui/controls';
import {Dialog, Question} from '../../ui/dialog';
import {listCheck, openFile, openLayout, removeLayout, saveAsFile, storeLayout} from './kept';

function tell(error: unknown): void {
  notify((error as Error).message, 'error');
}

function Saved({close, name, setName}: {close: () => void; name: string; setName: (name: string) => void}) {
  const list = useFetched('api/layouts', listCheck);
  const [removing, setRemoving] = useState('');
  const act = (done: Promise<void>, then: () => void) => void done.then(then, tell);
  if (list.error?.status === 404) return <p class="muted">This program keeps no layouts. They can be saved as files.</p>;
  const known = list.value?.some((layout) => layout.name === name.trim());
  return (
    <>
      <ul class="layout-list" aria-label="Layouts">
        {list.value?.map((layout) => (
          <li key={layout.name}>
            <button type="button" class="link" onClick={() => act(openLayout(layout.name), close)}>{layout.name}</button>
            <span class="muted">{formatDate(layout.changed)}</span>
            <Button icon="trash" label={may('administer') ? `Remove ${layout.name}` : lacks('administer')} disabled={!may('administer')} onClick={() => setRemoving(layout.name)} />
          </li>
        ))}
        {list.value && !list.value.length && <li class="muted">None are saved yet.</li>}
      </ul>
      {removing && (
        <Question
          title={`Remove the layout ${removing}?`}
          yes="Remove it"
          no="Keep it"
          onNo={() => setRemoving('')}
          onYes={() => {
            setRemoving('');
            act(removeLayout(removing), list.again);
          }}
        >
          Everybody who opens these pages loses it. It can’t be brought back.
        </Question>
      )}
      <Allowed needs="drive">
        <form
          class="layout-save"
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim()) act(storeLayout(name.trim()), list.again);
          }}
        >
          <input aria-label="Name of the layout" maxLength={60} placeholder="Name of these plots" value={name} onInput={(event) => setName(event.currentTarget.value)} />
          <button type="submit" class="button primary" disabled={!name.trim()}>{known ? 'Replace' : 'Save'}</button>
        </form>
      </Allowed>
      <Denied needs="drive" />
    </>
  );
}

export function LayoutsDialog({close}: {close: () => void}) {
  const [name, setName] = useState('');
  const file = useRef<HTMLInputElement>(null);
  return (
    <Dialog title="Layouts of plots" onClose={close}>
      <Saved close={close} name={name} setName={setName} />
      <div class="layout-files">
        <Button icon="download" label="Save as a file" text="Save as a file" kind="plain" onClick={() => saveAsFile(name.trim())} />
        <Button icon="layers" label="Open a file" text="Open a file" kind="plain" onClick={() => file.current!.click()} />
        <input
          ref={file}
          type="file"
          accept=".json,application/json"
          aria-label="File of a layout"
          hidden
          onChange={(event) => {
            const [chosen] = event.currentTarget.files ?? [];
            if (chosen) openFile(chosen).then(close, tell);
          }}
        />
      </div>
    </Dialog>
  );
}
