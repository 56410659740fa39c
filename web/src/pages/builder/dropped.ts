// dropped.ts: where files that somebody dropped belong beside a model, so that the model finds its meshes by the names it has for them.

export interface Dropped {
  /** As it was dropped: with its folders where a folder was. */
  path: string;
  bytes: Blob;
  /** Of models only. */
  text?: string;
}

export interface Placed {
  path: string;
  bytes: Blob;
}

export interface Arrangement {
  /** The model's path; null: there is none among the files. */
  model: string | null;
  files: Placed[];
  /** What the model names and nobody dropped, as the model names it. */
  missing: string[];
  /** Dropped, and named by nothing. */
  unused: string[];
  /** Why nothing can be done with what was dropped, and what to do. */
  refused: string | null;
}

const isModel = (path: string) => /\.(urdf|xml|mjcf)$/i.test(path);
const baseName = (path: string) => path.slice(path.lastIndexOf('/') + 1);

/** Tags of a kind with their attributes. Comments don't count. */
function tags(text: string, name: string): Record<string, string>[] {
  const found = text.replace(/<!--[^]*?-->/g, '').matchAll(new RegExp(`<${name}\\b([^>]*)>`, 'g'));
  return [...found].map(([, inside]) => Object.fromEntries([...inside!.matchAll(/([\w:]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)].map(([, key, a, b]) => [key!, a ?? b ?? ''])));
}

export function isUrdf(text: string): boolean {
  return /<robot\b/.test(text) && !/<mujoco\b[^>]*>[^]*<worldbody/.test(text);
}

/** Paths beside the model at which it looks for files, as it names them. */
export function references(text: string): string[] {
  if (isUrdf(text)) {
    const names = [...tags(text, 'mesh'), ...tags(text, 'texture')].map(({filename}) => filename ?? '');
    return unique(names.map((name) => name.replace(/^(package|file):\/\//, '').replace(/^\/+/, '')));
  }
  const [compiler = {}] = tags(text, 'compiler');
  const under = (folder: string | undefined, file: string) => (folder && !file.startsWith('/') ? `${folder.replace(/\/+$/, '')}/${file}` : file);
  const {meshdir = compiler.assetdir, texturedir = compiler.assetdir} = compiler;
  const texture = tags(text, 'texture').flatMap((one) => ['file', 'fileright', 'fileleft', 'fileup', 'filedown', 'filefront', 'fileback'].map((key) => one[key] ?? ''));
  return unique([
    ...tags(text, 'include').map(({file = ''}) => file),
    ...[...tags(text, 'mesh'), ...tags(text, 'hfield'), ...tags(text, 'skin')].map(({file = ''}) => file && under(meshdir, file)),
    ...texture.map((file) => file && under(texturedir, file)),
  ]);
}

function unique(names: string[]): string[] {
  return [...new Set(names.filter(Boolean))];
}

/** How many names from the end two paths share. */
function likeness(a: string, b: string): number {
  const [one, other] = [a, b].map((path) => path.toLowerCase().split('/').reverse());
  let count = 0;
  while (count < one!.length && one![count] === other![count]) count++;
  return count;
}

/** `folder`/`reference` without . and .. */
function join(folder: string, reference: string): string {
  const parts: string[] = [];
  for (const part of [...folder.split('/'), ...reference.split('/')]) {
    if (part === '..') parts.pop();
    else if (part && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

const climbs = (reference: string) => /^(?:\.\.\/)*/.exec(reference)![0].length / 3;

const REFUSED: [RegExp, string][] = [
  [/\.xacro$/i, 'is a xacro file. Expand it first: xacro robot.xacro > robot.urdf, and drop robot.urdf.'],
  [/\.sdf$/i, 'is SDF, which is not read. Drop a URDF or an MJCF model.'],
  [/\.(zip|tar|gz|tgz|7z)$/i, 'is an archive. Unpack it and drop its folder.'],
];

/** The model among several: the one that names most of the others, and that no other includes. */
function chooseModel(files: Dropped[]): Dropped | null {
  const models = files.filter(({path, text}) => isModel(path) && text !== undefined && (/<robot\b/.test(text) || /<mujoco\b/.test(text)));
  const included = new Set(models.flatMap(({text}) => references(text!).map((name) => baseName(name).toLowerCase())));
  const free = models.filter(({path}) => !included.has(baseName(path).toLowerCase()));
  const rank = ({path, text}: Dropped) => references(text!).length + (/\.urdf$/i.test(path) ? 0.5 : 0);
  return [...(free.length ? free : models)].sort((a, b) => rank(b) - rank(a))[0] ?? null;
}

/** `known`: a model that is there already, so that only what it lacks was dropped. */
export function arrange(files: Dropped[], known?: {path: string; text: string; has: string[]}): Arrangement {
  const chosen = chooseModel(files);
  const model = chosen ?? (known ? {path: known.path, text: known.text} : null);
  if (!model) {
    const refused = REFUSED.flatMap(([pattern, why]) => files.filter(({path}) => pattern.test(path)).map(({path}) => `${baseName(path)} ${why}`))[0];
    return {model: null, files: [], missing: [], unused: files.map(({path}) => path), refused: refused ?? 'There is no model among these files. Drop a URDF (.urdf) or MJCF (.xml) file with its meshes.'};
  }
  const names = references(model.text!);
  // Folders above the model that it names lie within the draft.
  const up = Math.max(0, ...names.map(climbs));
  const modelPath = chosen ? `${'model/'.repeat(up)}${baseName(chosen.path)}` : known!.path;
  const folder = modelPath.includes('/') ? modelPath.slice(0, modelPath.lastIndexOf('/')) : '';
  const placed = new Map<string, Blob>();
  if (chosen) placed.set(modelPath, chosen.bytes);
  const used = new Set<Dropped>(chosen ? [chosen] : []);
  const missing: string[] = [];
  const pending = names.map((name) => ({name, base: folder}));
  for (let i = 0; i < pending.length; i++) {
    const {name, base} = pending[i]!;
    const path = join(base, name);
    const best = files
      .map((file) => ({file, count: likeness(file.path, path)}))
      .filter(({count}) => count > 0)
      .sort((a, b) => b.count - a.count)[0]?.file;
    if (best) {
      placed.set(path, best.bytes);
      if (!used.has(best) && best.text && isModel(best.path)) pending.push(...references(best.text).map((inner) => ({name: inner, base: folder})));
      used.add(best);
    } else if (!known?.has.includes(path) && !placed.has(path)) {
      missing.push(name);
    }
  }
  return {
    model: modelPath,
    files: [...placed].map(([path, bytes]) => ({path, bytes})),
    missing: unique(missing),
    unused: files.filter((file) => !used.has(file)).map(({path}) => path),
    refused: null,
  };
}
