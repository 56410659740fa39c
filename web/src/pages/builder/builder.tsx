// builder.tsx: scenes and robots made in the browser: steps on one side, the scene as it begins and its files on the other.
import {useEffect, useState} from 'preact/hooks';
import {notify} from '../../live/store';
import {may} from '../../role';
import {param, setParams} from '../../route';
import {Button, Empty, Segmented} from '../../ui/controls';
import {Denied} from '../../ui/allowed';
import {Icon} from '../../ui/icon';
import {ClientStep, useRun} from './client_step';
import {FieldStep} from './field_step';
import {Files} from './files';
import {Preview} from './preview';
import {RobotStep} from './robot_step';
import {closeDraft, draft, openAt, openDraft, scene, showAll, side, state, trouble} from './session';
import {Opening, Start} from './start';
import {WireStep} from './wire_step';

const STEPS = [
  {value: 'robot', text: 'Robot', view: RobotStep},
  {value: 'field', text: 'Field and place', view: FieldStep},
  {value: 'wire', text: 'Wire', view: WireStep},
  {value: 'client', text: 'Client and run', view: ClientStep},
] as const;
type Step = (typeof STEPS)[number]['value'];

const SIDES = [
  {value: 'steps', text: 'Steps'},
  {value: 'preview', text: 'Picture'},
  {value: 'files', text: 'Files'},
] as const;

function Problems() {
  const list = draft.value!.problems.value;
  const errors = list.filter(({severity}) => severity === 'error').length;
  const go = (at: number) => {
    const {file, line, column} = list[at]!;
    openAt(file, Math.max(1, line), Math.max(1, column));
  };
  return (
    <section class="problems" aria-label="Problems">
      <header>
        <h3>{list.length ? 'What needs a look' : 'Nothing is wrong'}</h3>
        {errors > 0 && <span class="tag bad">{errors === 1 ? '1 error' : `${errors} errors`}</span>}
        {list.length > errors && <span class="tag warn">{list.length - errors === 1 ? '1 warning' : `${list.length - errors} warnings`}</span>}
      </header>
      {list.length > 0 && (
        <ul class="scroll">
          {list.map(({file, line, severity, text}, i) => (
            <li key={i}>
              <button type="button" class={`problem ${severity}`} onClick={() => go(i)}>
                <Icon name={severity === 'error' ? 'close' : 'warning'} size={14} />
                <span><b>{file}{line > 0 && `:${line}`}</b> {text}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The steps write into the scene's file, so it has to be one that can be read. */
function Unreadable() {
  const main = draft.value!.main.value;
  const {file, line, column, text} = draft.value!.problems.value.find((one) => one.file === main) ?? {file: main, line: 1, column: 1, text: 'a mapping of keys is expected'};
  return (
    <Empty icon="warning" title="The scene's file cannot be read">
      <p>{file}, line {line}: {text}. The steps go on once it is mended.</p>
      <Button label="Go there" text="Go there" kind="primary" onClick={() => openAt(file, line, column)} />
    </Empty>
  );
}

/** The draft was deleted elsewhere; what is open here is all that is left of it. */
function Gone() {
  const open = draft.value!;
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const {id, lost} = await open.saveAsNew();
      setParams({draft: id}, 'build');
      notify(lost.length ? `A new draft has the texts. These files were not open here and are lost: ${lost.join(', ')}` : 'A new draft has all the files.', lost.length ? 'error' : 'info');
    } catch (error) {
      notify(`No new draft: ${(error as Error).message}`, 'error');
      setBusy(false);
    }
  };
  return (
    <div class="inline-error build-gone" role="alert">
      <span>This draft was deleted elsewhere. Its texts are still here.</span>
      <Button label="Save as a new draft" text="Save as a new draft" kind="plain" disabled={busy || !may('drive')} onClick={() => void save()} />
    </div>
  );
}

function Head({step}: {step: Step}) {
  const now = state.value!;
  const open = draft.value!;
  const {run, busy} = useRun();
  const at = STEPS.findIndex(({value}) => value === step);
  return (
    <header class="build-head">
      <Button icon="chevron" label="All scenes and drafts" onClick={showAll} />
      <h2 title={`Draft ${open.id}`}>{now.name}</h2>
      <nav class="steps" aria-label="Steps">
        {STEPS.map(({value, text}, i) => (
          <button key={value} type="button" class={`step${i < at ? ' done' : ''}`} aria-current={value === step ? 'step' : undefined} onClick={() => ((side.value = 'steps'), setParams({step: value}))}>
            <b>{i + 1}</b> {text}
          </button>
        ))}
      </nav>
      <span class="build-state muted" role="status">{open.failure.value ? '' : open.busy.value ? 'Checking…' : 'Draft kept'}</span>
      <Button icon="play" label="Run this scene" text="Run" kind="primary" disabled={!now.runs || busy} onClick={() => void run()} />
    </header>
  );
}

function Workspace() {
  const asked = param('step').value;
  const step: Step = STEPS.find(({value}) => value === asked)?.value ?? 'robot';
  const {view: View} = STEPS.find(({value}) => value === step)!;
  const open = draft.value!;
  const next = STEPS[STEPS.findIndex(({value}) => value === step) + 1];
  return (
    <div class="build" data-side={side.value}>
      <Head step={step} />
      {open.gone.value ? <Gone /> : open.failure.value && <p class="inline-error" role="alert">{open.failure.value}</p>}
      <div class="build-sides"><Segmented label="Part" options={SIDES} value={side.value} onChange={(value) => (side.value = value)} /></div>
      <div class="build-steps">
        <div class={`build-step scroll ${step}`}>
          <Denied needs="drive" />
          {scene.value === null ? <Unreadable /> : <View key={step} />}
          {next && <Button icon="chevron" label={`On to: ${next.text}`} text={next.text} kind="plain" onClick={() => setParams({step: next.value})} />}
        </div>
        <Problems />
      </div>
      <div class="build-right">
        <Preview />
        <Files />
      </div>
    </div>
  );
}

export function Build() {
  const id = param('draft').value;
  const existing = param('scene').value;
  useEffect(() => {
    if (id) void openDraft(id);
    return closeDraft;
  }, [id]);
  if (!id) return existing ? <Opening scene={existing} /> : <Start />;
  if (trouble.value) {
    return (
      <Empty icon="warning" title="This draft could not be opened">
        <p>{trouble.value}</p>
        <Button label="All scenes and drafts" text="All scenes and drafts" kind="primary" onClick={showAll} />
      </Empty>
    );
  }
  if (draft.value?.id !== id || !state.value || !draft.value.texts.value.has(draft.value.main.value)) return <div class="loading" role="status"><i />Opening the draft…</div>;
  return <Workspace />;
}
