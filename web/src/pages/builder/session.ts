// session.ts: the draft that is open, and what all parts of the page share of it.
import {batch, computed, signal} from '@preact/signals';
import {request} from '../../http';
import {offers} from '../../live/offers';
import {notify} from '../../live/store';
import {go, page, param, setParams} from '../../route';
import {stored} from '../../settings';
import {guard} from '../../unsaved';
import {Draft} from './draft';
import type {FileKind, Names} from './completion';
import {schema as schemaCheck} from './types';
import type {Schema} from './types';
import {read, set} from './yaml_edit';
import type {Path, Plain} from './yaml_edit';

export const draft = signal<Draft | null>(null);
/** Why there is none; '': it is being opened. */
export const trouble = signal('');
export const schema = signal<Schema | null>(null);
/** The scene as it begins, of the last state of the draft that could be built. */
export const shown = computed(() => draft.value?.model.value ?? null);
/** Which robot and which wire of the scene is worked on. */
export const robotIndex = signal(0);
export const wireIndex = signal(0);
/** A click on the picture places the robot. */
export const placing = signal(false);
interface Goal {
  file: string;
  line: number;
  column: number;
  /** What had the focus when it was asked. */
  by: Element | null;
}
/** Where the editor is asked to go: another object each time. */
export const goal = signal<Goal | null>(null);

export const state = computed(() => draft.value?.state.value ?? null);
/** The scene's file as plain values; null while it can't be read. */
export const scene = computed(() => (draft.value ? read(draft.value.scene.value) : null));

export interface RobotInScene {
  name: string;
  /** As the scene names it. */
  robot: string;
  keys: {[key: string]: Plain};
  /** Its file and model, where they are files of the draft; '' else. */
  file: string;
  model: string;
}

const isMapping = (value: Plain | undefined): value is {[key: string]: Plain} => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a robot's file names as its model: the program knows nothing of a scene that has an error. */
function modelIn(file: string): string {
  const model = read(draft.value?.texts.value.get(file) ?? '')?.model;
  return typeof model === 'string' ? file.replace(/[^/]*$/, '') + model : '';
}

export const robots = computed<RobotInScene[]>(() => {
  const list = scene.value?.robots;
  const paths = new Set(state.value?.files.map(({path}) => path));
  return (Array.isArray(list) ? list : []).filter(isMapping).map((keys, i) => {
    const known = state.value?.robots[i];
    const robot = String(keys.robot ?? '');
    const own = (path: string | undefined) => (path && paths.has(path) ? path : '');
    const file = own(known?.file ?? robot);
    return {name: known?.name ?? String(keys.name ?? robot), robot, keys, file, model: own(known?.model) || own(modelIn(file))};
  });
});

export const names = computed<Names>(() => ({
  signals: state.value?.signals.map(({name}) => name) ?? [],
  commands: state.value?.commands.map(({name}) => name) ?? [],
  joints: [...new Set(shown.value?.joints.filter(({kind, robot}) => robot >= 0 && (kind === 'hinge' || kind === 'slide')).map(({name}) => name))],
  robots: robots.value.map(({name}) => name),
}));

/** What a YAML file of the draft is. */
export function kindOf(path: string): FileKind {
  if (path === state.value?.main) return 'scene';
  return state.value?.robots.some(({file}) => file === path) || /(^|\/)robot\.ya?ml$/.test(path) ? 'robot' : 'arena';
}

/** Sets what stands at a path of a file; null or '' removes it. */
export function setIn(file: string, path: Path, value: Plain): void {
  const open = draft.value!;
  const before = open.texts.value.get(file);
  if (before === undefined) return;
  if (read(before) === null) {
    notify(`${file} has an error that comes first: mend it in the file.`, 'error');
    return;
  }
  open.write(file, set(before, path, value));
}

export function setInScene(path: Path, value: Plain): void {
  setIn(draft.value!.main.value, path, value);
}

/** On a narrow screen one of them is seen at a time. */
export const side = stored<'steps' | 'preview' | 'files'>('build-side', 'steps');

/** Shows a place of a file in the editor, which takes the focus from what had it when somebody asked for that. */
export function openAt(file: string, line: number, column = 1, by = document.activeElement): void {
  batch(() => {
    side.value = 'files';
    goal.value = {file, line, column, by};
    setParams({file});
  });
}

/** Drafts that were left before the program had all that was written: they go on sending, and are as they were when they are opened again. */
const left = new Map<string, Draft>();

function leaveDraft(): void {
  for (const [id, one] of left) if (!one.isUnsaved()) left.delete(id);
  const open = draft.peek();
  if (!open) return;
  open.close();
  if (open.isUnsaved()) left.set(open.id, open);
}

export async function openDraft(id: string): Promise<void> {
  leaveDraft();
  const before = left.get(id);
  left.delete(id);
  const opened = before ?? new Draft(id);
  batch(() => {
    draft.value = opened;
    trouble.value = '';
    robotIndex.value = wireIndex.value = 0;
    placing.value = false;
    goal.value = null;
  });
  try {
    if (before) before.reopen();
    else await opened.open();
    // Without it the editor completes names alone.
    if (offers('/api/schema')) schema.value ??= await request('GET', 'api/schema', undefined, schemaCheck).catch(() => null);
  } catch (error) {
    if (draft.peek() === opened) trouble.value = (error as Error).message;
  }
}

/** Opens a draft that was chosen or made, so that the way back leads to where that was. Whoever went on to another page meanwhile finds it
 *  on this one; whoever opened another draft goes on with that. */
export function showDraft(id: string, step: string | null = null): void {
  if (param('draft', 'build').peek() !== null) return;
  const what = {draft: id, step, file: null};
  if (page.peek() === 'build') go('build', what);
  else setParams(what, 'build');
}

/** The list of scenes and drafts, from a draft. */
export function showAll(): void {
  go('build', {draft: null, step: null, file: null});
}

export function closeDraft(): void {
  leaveDraft();
  draft.value = null;
}

/** Somebody had the program delete it. */
export function forgetDraft(id: string): void {
  left.get(id)?.discard();
  left.delete(id);
}

const unsaved = () => [draft.peek(), ...left.values()].filter((one): one is Draft => one?.isUnsaved() ?? false);

guard({
  isUnsaved: () => unsaved().length > 0,
  canBeSent: () => unsaved().every((one) => one.canBeSent()),
  leave: () => unsaved().forEach((one) => one.leave()),
});

/** Another tab may have written to it meanwhile. */
function comeBack(): void {
  if (!document.hidden) void draft.peek()?.settle().catch(() => undefined);
}
addEventListener('focus', comeBack);
document.addEventListener('visibilitychange', comeBack);
