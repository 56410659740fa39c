// files.tsx: the files of a draft as they are saved: shown as they come to be, and written by hand.
import {useEffect, useRef, useState} from 'preact/hooks';
import {formatBytes} from '../../format';
import {param, setParams} from '../../route';
import {Button} from '../../ui/controls';
import {proposals} from './completion';
import {isText, isYaml} from './draft';
import type {Editor} from './editor';
import {draft, goal, kindOf, names, schema, state} from './session';

const load = () => import('./editor');

function TextEditor({path}: {path: string}) {
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor | null>(null);
  const [failed, setFailed] = useState(false);
  const open = draft.value!;
  const text = open.texts.value.get(path);
  const shownPath = useRef(''); // of the text in the editor: that of `path` may be on its way
  useEffect(() => {
    let made: Editor | null = null;
    let gone = false;
    load().then(
      ({Editor: Class}) => {
        if (gone || !host.current) return;
        made = new Class(host.current, 'Text of the file', {
          onChange: (changed) => open.write(shownPath.current, changed),
          propose: (all, cursor) => (schema.peek() && isYaml(shownPath.current) ? proposals(schema.peek()!, kindOf(shownPath.current), all, cursor, names.peek()) : null),
        });
        setEditor(made);
      },
      () => gone || setFailed(true),
    );
    return () => {
      gone = true;
      made?.dispose();
    };
  }, []);
  useEffect(() => {
    // Of what is drawn here somebody may have written more by now.
    const newest = open.texts.peek().get(path);
    if (editor && newest !== undefined) {
      editor.show(newest, {yaml: isYaml(path), readOnly: false, fresh: shownPath.current !== path});
      shownPath.current = path;
    }
  }, [editor, path, text]);
  const problems = open.problems.value.filter(({file}) => file === path);
  useEffect(() => {
    if (editor && text !== undefined) editor.setProblems(problems);
  }, [editor, path, text, JSON.stringify(problems)]);
  const wanted = goal.value;
  useEffect(() => {
    if (!editor || text === undefined || wanted?.file !== path) return;
    // The editor and the text may come late: who works elsewhere by then goes on there.
    const elsewhere = document.activeElement !== document.body && document.activeElement !== wanted.by;
    editor.goTo(wanted.line, wanted.column, !elsewhere);
    goal.value = null;
  }, [editor, path, text === undefined, wanted]);
  if (failed) return <p class="inline-error" role="alert">The editor could not be loaded. Reload the page when the program is back.</p>;
  return <div ref={host} class="editor" data-path={path} />;
}

/** Files that people write come first. */
function order(path: string, main: string): number {
  return path === main ? 0 : isYaml(path) ? 1 : isText(path) ? 2 : 3;
}

export function Files() {
  const open = draft.value!;
  const now = state.value!;
  const asked = param('file').value;
  const files = [...now.files].sort((a, b) => order(a.path, now.main) - order(b.path, now.main) || a.path.localeCompare(b.path));
  const path = files.some((file) => file.path === asked) ? asked! : now.main;
  const chosen = files.find((file) => file.path === path);
  const [why, setWhy] = useState('');
  useEffect(() => {
    setWhy('');
    if (isText(path)) open.load(path).catch((error: unknown) => setWhy((error as Error).message));
  }, [path]);
  const wrong = new Set(open.problems.value.filter(({severity}) => severity === 'error').map(({file}) => file));
  return (
    <section class="files" aria-label="Files">
      <header class="files-head">
        <div class="file-tabs scroll">
          {files.filter((file) => isText(file.path)).map((file) => (
            <button key={file.path} type="button" class={`file-tab${wrong.has(file.path) ? ' wrong' : ''}`} aria-pressed={file.path === path} onClick={() => setParams({file: file.path})}>{file.path}</button>
          ))}
        </div>
        {files.some((file) => !isText(file.path)) && (
          <select aria-label="Other files" value={isText(path) ? '' : path} onChange={(event) => setParams({file: event.currentTarget.value || null})}>
            <option value="">Other files</option>
            {files.filter((file) => !isText(file.path)).map((file) => <option key={file.path} value={file.path}>{file.path} ({formatBytes(file.size)})</option>)}
          </select>
        )}
        {path !== now.main && <Button icon="trash" label={`Remove ${path} from the draft`} onClick={() => void open.remove(path).then(() => setParams({file: null}), (error: unknown) => setWhy((error as Error).message))} />}
      </header>
      {why && <p class="inline-error" role="alert">{why}</p>}
      {chosen && isText(path) ? <TextEditor path={path} /> : <p class="build-lead">{path}: {formatBytes(chosen?.size ?? 0)}, not a text.</p>}
    </section>
  );
}
