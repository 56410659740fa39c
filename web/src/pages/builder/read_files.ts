// read_files.ts: files and whole folders that somebody dropped or chose, read as far as their arrangement needs it.
import type {Dropped} from './dropped';

/** As many files as a draft may have; more are a wrong folder. */
const MOST_FILES = 400;
/** bytes; a longer text is no model that a person wrote. */
const MOST_TEXT = 16 << 20;

async function read(path: string, file: File): Promise<Dropped> {
  const isModel = /\.(urdf|xml|mjcf)$/i.test(path) && file.size <= MOST_TEXT;
  return {path, bytes: file, ...(isModel && {text: await file.text()})};
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length || all.length > MOST_FILES) return all;
    all.push(...some);
  }
}

async function walk(entry: FileSystemEntry, into: Dropped[]): Promise<void> {
  if (entry.name.startsWith('.') || into.length >= MOST_FILES) return;
  if (entry.isFile) into.push(await read(entry.fullPath.replace(/^\/+/, ''), await fileOf(entry as FileSystemFileEntry)));
  else for (const inner of await entriesOf(entry as FileSystemDirectoryEntry)) await walk(inner, into);
}

export async function filesOfDrop(transfer: DataTransfer): Promise<Dropped[]> {
  // Entries are there only until the event has been handled.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  const files = [...transfer.files];
  const found: Dropped[] = [];
  if (entries.some(Boolean)) for (const entry of entries) entry && (await walk(entry, found));
  else for (const file of files.slice(0, MOST_FILES)) found.push(await read(file.name, file));
  return found;
}

export async function filesOfInput(list: FileList): Promise<Dropped[]> {
  return Promise.all([...list].slice(0, MOST_FILES).map((file) => read(file.webkitRelativePath || file.name, file)));
}
