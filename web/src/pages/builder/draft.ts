// draft.ts: a draft of a scene: its files as they are being written, and what the program finds in them. What is written is shown
// at once, sent after a moment, and checked as a whole.
import {computed, signal} from '@preact/signals';
import type {Check} from '../../check';
import {HttpError, passes, request, RETRY_MS} from '../../http';
import {notify} from '../../live/store';
import {MOST_LEFT_BEHIND} from '../../unsaved';
import type {Placed} from './dropped';
import {merged} from './merge';
import {changedFile, draftModel, draftState, madeDraft} from './types';
import type {DraftModel, DraftState, Problem} from './types';
import {parse} from './yaml_edit';

/** ms after the last key until a file is sent. */
const SEND_MS = 350;
/** Files of other endings are no texts. */
const TEXT = /\.(ya?ml|urdf|xml|mjcf|lua|md|txt)$/i;

export const isYaml = (path: string) => /\.ya?ml$/i.test(path);
export const isText = (path: string) => TEXT.test(path);

/** A path as it stands in an address. */
function escaped(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** What the program says of an error; '': nothing. */
function reason(text: string): string {
  try {
    return `: ${(JSON.parse(text) as {error: string}).error}`;
  } catch {
    return '';
  }
}

/** The role that is had is too small for it. */
const isForbidden = (error: unknown): error is HttpError => error instanceof HttpError && error.status === 403;

/** FNV-1a of a text's bytes, as the program compares it. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** Makes a draft of a new scene or of one that is there. */
export async function makeDraft(what: {name: string} | {scene: string}): Promise<string> {
  return (await request('POST', 'api/drafts', what, madeDraft)).draft;
}

export class Draft {
  /** What the program found last; null: it was not asked yet. */
  readonly state = signal<DraftState | null>(null);
  /** The scene as it begins, of the last state without an error. */
  readonly model = signal<DraftModel | null>(null);
  /** Why `model` is not that of `state`; '': it is. */
  readonly modelTrouble = signal('');
  /** Texts of files that were opened, as they are written here. */
  readonly texts = signal<ReadonlyMap<string, string>>(new Map());
  /** Why the program has not got what was written last; '': it has. */
  readonly failure = signal('');
  /** The program has had this draft, and has it no more. */
  readonly gone = signal(false);
  /** Something is on its way. */
  readonly busy = signal(false);
  private readonly unsent = new Map<string, string>();
  /** Texts as the program had them last. */
  private readonly kept = new Map<string, string>();
  /** Texts that were sent and not answered: the program may have them. */
  private readonly sent = new Map<string, string>();
  /** Files that may not be read, and why: nothing is written over what nobody here has seen. */
  private readonly barred = new Map<string, HttpError>();
  /** Of the program's files as they are known here; null: not known yet. What is brought or removed is followed as what others write is,
   *  who have had time for it while a large file was on its way. */
  private revision: number | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private work: Promise<void> = Promise.resolve();
  private toldFailure = ''; // of these, what was told who looks at another page
  private left = false; // nobody looks at it
  private closed = false; // and nothing is left to be sent

  constructor(readonly id: string) {}

  get url(): string {
    return `api/drafts/${encodeURIComponent(this.id)}`;
  }

  readonly main = computed(() => this.state.value?.main ?? '');
  readonly scene = computed(() => this.texts.value.get(this.main.value) ?? '');

  /** What is wrong: what the program found, and where a text is no YAML, also before it is sent. */
  readonly problems = computed<Problem[]>(() => {
    const found = this.state.value?.problems ?? [];
    const broken = [...this.texts.value].filter(([path]) => isYaml(path)).flatMap(([file, text]) =>
      parse(text).problems.slice(0, 1).map((one): Problem => ({...one, file, severity: 'error'})),
    );
    const all = [...broken, ...found.filter(({file, severity}) => severity !== 'error' || !broken.some((one) => one.file === file))];
    return all.sort((a, b) => Number(b.severity === 'error') - Number(a.severity === 'error')); // what keeps it from running comes first
  });

  /** Gets the draft and its texts of scenes, robots and arenas that may be read. Throws where there is no draft, or its scene may not. */
  async open(): Promise<void> {
    await this.check();
    await Promise.all(this.state.value!.files.filter(({path}) => isYaml(path)).map(({path}) => this.loadOrBar(path)));
  }

  private async loadOrBar(path: string): Promise<void> {
    try {
      await this.load(path);
    } catch (error) {
      if (!isForbidden(error) || path === this.main.value) throw error;
      this.barred.set(path, error);
    }
  }

  /** Gets a file's text, once. */
  async load(path: string): Promise<void> {
    if (this.texts.value.has(path)) return;
    const text = await this.read(path);
    if (this.texts.value.has(path)) return;
    this.kept.set(path, text);
    this.show(path, text);
  }

  private async read(path: string): Promise<string> {
    const answer = await fetch(`${this.url}/files/${escaped(path)}`);
    const text = await answer.text();
    if (!answer.ok) throw new HttpError(answer.status, `${path} could not be read${reason(text)}`);
    return text;
  }

  /** null: there is no such file. */
  private show(path: string, text: string | null): void {
    const texts = new Map(this.texts.value);
    if (text === null) texts.delete(path);
    else texts.set(path, text);
    this.texts.value = texts;
  }

  /** A text is written: shown now, sent soon. */
  write(path: string, text: string): void {
    if (this.texts.value.get(path) === text) return;
    this.show(path, text);
    this.unsent.set(path, text);
    this.busy.value = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.settle().catch(() => undefined), SEND_MS);
  }

  /** Puts files into the draft, and has it checked. What was written there before, and not sent yet, is older than they are. */
  async add(files: Placed[]): Promise<void> {
    await this.queue(async () => {
      for (const {path, bytes} of files) {
        const older = this.unsent.get(path);
        await this.put(path, bytes);
        const text = isText(path) ? await bytes.text() : null;
        if (text !== null) this.kept.set(path, text);
        if (this.unsent.get(path) !== older) continue; // somebody wrote on: that is newer
        this.unsent.delete(path);
        if (text !== null) this.show(path, text);
      }
    });
  }

  async remove(path: string): Promise<void> {
    await this.queue(async () => {
      await request('DELETE', `${this.url}/files/${escaped(path)}`, undefined, changedFile);
      this.forget(path);
    });
  }

  private forget(path: string): void {
    this.show(path, null);
    this.kept.delete(path);
    this.sent.delete(path);
    this.unsent.delete(path);
    this.barred.delete(path);
  }

  /** Over what was looked at last, or, without `seen`, over whatever is there. Resolves to the revision then. */
  private async put(path: string, bytes: Blob, seen: number | null = null): Promise<number> {
    const over = seen === null ? '' : `?revision=${seen}`;
    return (await request('PUT', `${this.url}/files/${escaped(path)}${over}`, bytes, changedFile)).revision;
  }

  /** Where others wrote since the program was looked at, both come together first. */
  private async send(path: string): Promise<void> {
    const text = this.unsent.get(path)!;
    const bar = this.barred.get(path);
    if (bar) throw bar;
    this.sent.set(path, text);
    try {
      this.revision = await this.put(path, new Blob([text]), this.revision);
    } catch (error) {
      if (!(error instanceof HttpError && error.status === 409)) throw error;
      await this.look();
      return this.send(path);
    }
    this.kept.set(path, text);
    this.sent.delete(path);
    if (this.unsent.get(path) === text) this.unsent.delete(path);
  }

  /** What is refused of one file keeps no other. Resolves to why the last one was; null: none. */
  private async sendAll(): Promise<HttpError | null> {
    let refused: HttpError | null = null;
    for (const path of this.unsent.keys()) {
      try {
        await this.send(path);
      } catch (error) {
        if (!isForbidden(error)) throw error;
        refused = error === this.barred.get(path) ? error : new HttpError(403, `${path}: ${error.message}`);
      }
    }
    return refused;
  }

  /** Resolves once the program has everything that was written, and has checked it; throws where it refuses. */
  async settle(): Promise<void> {
    clearTimeout(this.timer);
    await this.queue();
  }

  private queue(first?: () => Promise<void>): Promise<void> {
    const next = this.work.catch(() => undefined).then(() => this.round(first));
    this.work = next;
    return next;
  }

  private async round(first?: () => Promise<void>): Promise<void> {
    if (this.closed) return;
    this.busy.value = true;
    try {
      // Before anything is written over it: what others have written meanwhile.
      if (first) {
        await this.look();
        await first();
      }
      if (this.unsent.size) await this.look();
      const refused = await this.sendAll();
      await this.check();
      if (refused) throw refused;
      this.failure.value = this.toldFailure = '';
    } catch (error) {
      const refused = error instanceof HttpError;
      if (this.left && refused && this.toldFailure !== error.message) {
        notify(`The draft ${this.state.peek()?.name ?? this.id} is not saved: ${error.message}. Open it on the page Build.`, 'error');
        this.toldFailure = error.message;
      }
      this.failure.value = refused ? error.message : 'The program cannot be reached. What you write stays here, and is sent when it is back.';
      if (!refused || passes(error)) this.timer = setTimeout(() => void this.settle().catch(() => undefined), RETRY_MS);
      throw error;
    } finally {
      this.busy.value = this.unsent.size > 0;
      this.closed = this.left && !this.unsent.size;
    }
  }

  /** The program's files, of which what others have changed is taken over. */
  private async look(): Promise<DraftState> {
    const state = await request('GET', this.url, undefined, draftState).catch((error: unknown) => {
      this.gone.value ||= this.state.peek() !== null && error instanceof HttpError && error.status === 404;
      throw error;
    });
    this.gone.value = false;
    if (this.revision !== null && this.revision !== state.revision) await this.follow(new Set(state.files.map(({path}) => path)));
    this.revision = state.revision;
    return state;
  }

  /** What is written here and not sent yet stays: in other lines than theirs beside it, in the same ones alone. */
  private async follow(files: ReadonlySet<string>): Promise<void> {
    const known = [...this.texts.value.keys()];
    for (const path of known) if (!files.has(path) && !this.unsent.has(path)) this.forget(path);
    const wanted = [...files].filter((path) => isYaml(path) || known.includes(path));
    this.barred.clear();
    await Promise.all(wanted.map((path) => this.followFile(path)));
  }

  private async followFile(path: string): Promise<void> {
    try {
      this.takeOver(path, await this.read(path));
    } catch (error) {
      if (!isForbidden(error)) throw error;
      this.barred.set(path, error);
    }
  }

  private takeOver(path: string, theirs: string): void {
    const before = this.kept.get(path);
    const mine = this.unsent.get(path);
    this.kept.set(path, theirs);
    this.sent.delete(path); // it was written over
    if (mine === undefined) return this.show(path, theirs);
    if (before === undefined || theirs === before) return;
    const both = merged(before, mine, theirs);
    if (both === null) return notify(`${path} was changed elsewhere in the same place: what was written here stands`, 'error');
    this.show(path, both);
    this.unsent.set(path, both);
  }

  private async check(): Promise<void> {
    const state = await this.look();
    if (this.closed) return;
    this.state.value = state;
    if (state.runs) {
      if (this.model.peek()?.revision !== state.revision) this.model.value = await request('GET', `${this.url}/model`, undefined, draftModel);
      this.modelTrouble.value = '';
    } else {
      const error = state.problems.find(({severity}) => severity === 'error');
      this.modelTrouble.value = error ? `${error.file}: ${error.text}` : 'The scene has an error.';
    }
  }

  /** Asks for something of the draft between two of its changes; null: it has an error now. */
  async ask<T>(path: string, check: Check<T>): Promise<T | null> {
    const asked = this.work.catch(() => undefined).then(() => (this.state.peek()?.runs ? request('GET', `${this.url}/${path}`, undefined, check) : null));
    this.work = asked.then(() => undefined);
    return asked;
  }

  /** The page goes away, perhaps for good: sends what was not sent yet without waiting for answers. Where others wrote since, theirs stands:
   *  nobody is here to bring both together. */
  leave(): void {
    for (const [path, text] of this.unsent) {
      const address = `${this.url}/files/${escaped(path)}${this.revision === null ? '' : `?over=${this.known(path).join()}`}`;
      fetch(address, {method: 'PUT', body: new TextEncoder().encode(text), keepalive: true}).catch(() => undefined);
    }
  }

  /** Hashes of texts that a file has where nobody else wrote. Unlike a revision they hold for each file by itself, also while one is on its
   *  way. */
  private known(path: string): number[] {
    const kept = this.kept.get(path);
    const sent = this.sent.get(path);
    return [kept === undefined ? 0 : textHash(kept), ...(sent === undefined ? [] : [textHash(sent)])];
  }

  /** The program lacks something of what was written. */
  isUnsaved(): boolean {
    return this.unsent.size > 0 || this.gone.peek();
  }

  /** The texts of a draft that is gone become a new one. Resolves to its id, and the files that are not here. */
  async saveAsNew(): Promise<{id: string; lost: string[]}> {
    const {name, files} = this.state.peek()!;
    const texts = this.texts.peek();
    const made = new Draft(await makeDraft({name}));
    try {
      for (const [path, text] of texts) await made.put(path, new Blob([text]));
    } catch (error) {
      await request('DELETE', made.url).catch(() => undefined); // half a draft is none
      throw error;
    }
    this.discard();
    return {id: made.id, lost: files.map(({path}) => path).filter((path) => !texts.has(path))};
  }

  /** Nobody wants what was not sent. */
  discard(): void {
    clearTimeout(this.timer);
    this.unsent.clear();
    this.gone.value = false;
    this.left = this.closed = true;
  }

  /** What leave() sends comes, as far as is known: the program takes it, and it is not too much. */
  canBeSent(): boolean {
    const size = [...this.unsent.values()].reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0);
    return this.failure.peek() === '' && size <= MOST_LEFT_BEHIND;
  }

  /** Nobody looks at it any more: it hears no more once the program has all that was written, however long that takes. */
  close(): void {
    this.left = true;
    if (this.unsent.size) void this.settle().catch(() => undefined);
    else this.closed = true;
  }

  /** It is looked at again. */
  reopen(): void {
    this.left = this.closed = false;
    void this.settle().catch(() => undefined);
  }
}
