// client_step.tsx: the end: a client for exactly this wire, the scene under a name of its own, and Run.
import {useEffect, useState} from 'preact/hooks';
import {request, useFetched} from '../../http';
import {runDraft, scenes as sceneList} from '../../live/scenes';
import {hello, notify} from '../../live/store';
import {go} from '../../route';
import {Allowed, Denied} from '../../ui/allowed';
import {Button, Field, Segmented} from '../../ui/controls';
import {useKeptText} from '../../ui/kept_text';
import {freeName} from './free_name';
import {draft, openAt, state} from './session';
import {client as clientCheck, saved as savedCheck} from './types';
import type {Client, DraftWire} from './types';
import {stored} from '../../settings';

const LANGUAGES: Record<string, string> = {python: 'Python', java: 'Java', c: 'C', cpp: 'C++'};
const language = stored('client-language', 'python');

function download({file, text}: Client): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], {type: 'text/plain'}));
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function ClientText({wire}: {wire: DraftWire}) {
  const [client, setClient] = useState<Client | null>(null);
  const [why, setWhy] = useState('');
  const chosen = wire.languages.includes(language.value) ? language.value : wire.languages[0]!;
  const {revision, runs} = state.value!;
  useEffect(() => {
    let gone = false;
    const query = new URLSearchParams({wire: wire.name, language: chosen});
    if (!runs) return;
    draft.value!.ask(`client?${query}`, clientCheck).then(
      (made) => gone || !made || (setClient(made), setWhy('')),
      (error: unknown) => gone || setWhy((error as Error).message),
    );
    return () => void (gone = true);
  }, [wire.name, chosen, revision, runs]);
  const copy = () =>
    navigator.clipboard.writeText(client!.text).then(
      () => notify('The client is copied.'),
      () => notify('The browser does not let pages copy here; download it.', 'error'),
    );
  return (
    <>
      <div class="client-bar">
        <Segmented label="Language" options={wire.languages.map((value) => ({value, text: LANGUAGES[value] ?? value}))} value={chosen} onChange={(value) => (language.value = value)} />
        <Button icon="download" label="Download the client" text="Download" kind="primary" disabled={!client} onClick={() => download(client!)} />
        <Button icon="copy" label="Copy the client" text="Copy" kind="plain" disabled={!client} onClick={() => void copy()} />
      </div>
      {why && <p class="inline-error" role="alert">{why}</p>}
      {client && (
        <>
          <p class="client-start"><span class="muted">{client.file}, started by</span> <code>{client.start}</code></p>
          <pre class="client-text" tabIndex={0} aria-label={`Client ${client.file}`}>{client.text}</pre>
        </>
      )}
    </>
  );
}

function Save() {
  const scenes = useFetched('api/scenes', sceneList).value ?? [];
  const [typed, setTyped] = useKeptText(`name-of-${draft.value!.id}`);
  const [exists, setExists] = useState('');
  const [where, setWhere] = useState('');
  const shipped = (name: string) => scenes.some((one) => one.name === name && !one.own);
  // A copy of a scene that comes with Tether gets a name of its own.
  const {name} = state.value!;
  const proposed = shipped(name) ? freeName(name, scenes.map((one) => one.title)) : name;
  const wished = (typed ?? proposed).trim();
  const save = async (replace: boolean) => {
    setWhere('');
    try {
      await draft.value!.settle();
      const {file} = await request('POST', `${draft.value!.url}/save`, {name: wished, replace}, savedCheck);
      setExists('');
      setWhere(file);
    } catch (error) {
      const {status, message} = error as {status?: number; message: string};
      if (status === 409) setExists(wished);
      else notify(message, 'error');
    }
  };
  return (
    <div class="save">
      <Field label="Name of the scene">
        <input value={typed ?? proposed} maxLength={63} onInput={(event) => (setTyped(event.currentTarget.value), setExists(''), setWhere(''))} />
      </Field>
      {exists
        ? <Button label={`Replace ${exists}`} text={`Replace ${exists}`} kind="danger" onClick={() => void save(true)} />
        : <Button label="Save" text="Save" kind="plain" onClick={() => void save(false)} />}
      {exists && <p class="hint" role="status">{shipped(exists)
        ? `A scene ${exists} comes with Tether. Yours would take its name: lists, plans and "tether run ${exists}" of this machine take yours until its folder is deleted.`
        : `There is a scene ${exists} already. Its files are deleted, and can’t be brought back.`}</p>}
      {where && <p class="hint saved" role="status">Saved: <code>{where}</code>. <code>tether run {wished}</code> {shipped(wished) ? 'takes it in place of the one that comes with Tether, until its folder is deleted.' : 'finds it, too.'}</p>}
    </div>
  );
}

export function useRun(): {run: () => Promise<void>; busy: boolean} {
  const [busy, setBusy] = useState(false);
  const run = async () => {
    const by = document.activeElement;
    setBusy(true);
    try {
      await draft.value!.settle();
      const error = state.value!.problems.find(({severity}) => severity === 'error');
      if (error) {
        openAt(error.file, error.line, error.column, by);
        notify(`${error.file}: ${error.text}`, 'error');
        return;
      }
      await runDraft(draft.value!.url, state.value!.name);
      go('world');
    } catch (error) {
      notify((error as Error).message, 'error');
    } finally {
      setBusy(false);
    }
  };
  return {run, busy};
}

export function ClientStep() {
  const wires = state.value?.wires ?? [];
  const able = wires.filter(({languages}) => languages.length);
  const [chosen, setChosen] = useState(0);
  const wire = able[Math.min(chosen, able.length - 1)];
  const {run, busy} = useRun();
  return (
    <>
      {able.length > 1 && (
        <Field label="Wire">
          <select value={String(Math.min(chosen, able.length - 1))} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
            {able.map(({name}, i) => <option key={name} value={String(i)}>{name}</option>)}
          </select>
        </Field>
      )}
      {wire ? <ClientText wire={wire} /> : <p class="build-lead">{wires.length ? 'No client is made for this protocol: its own programs speak it.' : 'The scene has no wire yet, so there is nothing for a client to speak. Add one in the step before.'}</p>}
      <Denied needs="drive" />
      <Allowed needs="drive">
        <Save />
        <div class="client-run">
          <Button icon="play" label="Run" text="Run" kind="primary" disabled={busy || !state.value?.runs} onClick={() => void run()} />
          <span class="hint">{state.value?.runs ? `The world that runs now (${hello.value?.scene ?? 'none'}) ends; this one begins at the same address.` : 'It runs once no problem is an error.'}</span>
        </div>
      </Allowed>
    </>
  );
}
