// yaml_edit.ts: changes of a YAML text as a person would make them: everything else, comments too, stays as it is written.
import {isAlias, isMap, isPair, isScalar, isSeq, parseDocument, visit} from 'yaml';
import type {Document, Node, YAMLMap, YAMLSeq} from 'yaml';

export type Path = (string | number)[];
/** What stands in a file, as far as the wizard writes it. */
export type Plain = string | number | boolean | null | Plain[] | {[key: string]: Plain};

const STYLE = {flowCollectionPadding: false, lineWidth: 0, nullStr: ''};
/** Longer files are written as the library writes them. */
const MOST_LINES = 3000;

/** For each line of `b` the line of `a` that is the same one, −1 where there is none: a longest common subsequence. */
function sameLines(a: string[], b: string[]): Int32Array {
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let k = b.length - 1; k >= 0; k--) {
      const at = i * width + k;
      length[at] = a[i] === b[k] ? length[at + width + 1]! + 1 : Math.max(length[at + width]!, length[at + 1]!);
    }
  }
  const same = new Int32Array(b.length).fill(-1);
  for (let i = 0, k = 0; i < a.length && k < b.length;) {
    if (a[i] === b[k]) same[k++] = i++;
    else if (length[(i + 1) * width + k]! >= length[i * width + k + 1]!) i++;
    else k++;
  }
  return same;
}

/** What changed from `plain` to `changed`, which the library wrote, made in `written`, which is `plain` as a person wrote it. */
function carryOver(written: string, plain: string, changed: string): string {
  if (plain === changed) return written;
  if (plain === written || !written.trim()) return changed;
  const [from, before, after] = [written.split('\n'), plain.split('\n'), changed.split('\n')];
  if (from.length > MOST_LINES || before.length > MOST_LINES) return changed;
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  let tail = 0;
  while (tail < Math.min(before.length, after.length) - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const same = sameLines(from, before);
  const known = (line: number) => line < 0 || line >= before.length || same[line]! >= 0;
  const placeOf = (line: number) => (line < 0 ? -1 : line >= before.length ? from.length : same[line]!);
  // Lines that are written differently around the change become the library's.
  while (!known(start) && !known(start - 1)) start--;
  while (tail > 0 && !known(before.length - tail) && !known(before.length - tail - 1)) tail--;
  const end = before.length - tail;
  const first = known(start - 1) ? placeOf(start - 1) + 1 : placeOf(start);
  const last = known(end) ? placeOf(end) : placeOf(end - 1) + 1;
  return [...from.slice(0, first), ...after.slice(start, after.length - tail), ...from.slice(Math.max(first, last))].join('\n');
}

/** What the library's terser words mean. */
const WORDS: [RegExp, string][] = [
  [/^Implicit map keys need to be followed by map values/, 'A key needs a colon and a value behind it: key: value'],
  [/^Nested mappings are not allowed in compact mappings/, 'Two keys stand on one line; the second needs a line of its own'],
  [/^All (?:mapping|sequence) items must start at the same column|^A (?:block sequence|mapping) .*(?:column|indent)/, 'This line is indented by more or less than those it belongs to'],
  [/^Implicit keys need to be on a single line|^Implicit keys/, 'A value goes on over several lines: a quote or a bracket is missing'],
  [/^Flow (?:map|sequence) in block collection must be sufficiently indented|and end with a [}\]]/, 'A bracket that was opened is not closed'],
  [/^Plain value cannot start with/, 'This value needs quotes: of a letter that YAML has another use for'],
  [/^Map keys must be unique/, 'This key stands here twice'],
];

const inWords = (message: string) => WORDS.find(([pattern]) => pattern.test(message))?.[1] ?? message;

export interface Parsed {
  /** null: the text is no YAML, or no mapping. */
  document: Document | null;
  problems: {line: number; column: number; text: string}[];
}

export function parse(text: string): Parsed {
  const document = parseDocument(text, {prettyErrors: true});
  const problems = document.errors.map((error) => ({
    line: error.linePos?.[0].line ?? 1,
    column: error.linePos?.[0].col ?? 1,
    text: inWords(error.message.split(' at line ')[0]!),
  }));
  const usable = !problems.length && (document.contents === null || isMap(document.contents));
  return {document: usable ? (document as unknown as Document) : null, problems};
}

/** What stands in the text as plain values; null where it cannot be read. */
export function read(text: string): {[key: string]: Plain} | null {
  const {document} = parse(text);
  if (!document) return null;
  try {
    return (document.toJS({maxAliasCount: 1000}) as {[key: string]: Plain} | null) ?? {};
  } catch {
    return null;
  }
}

function childless(value: Plain): boolean {
  return value === null || typeof value !== 'object';
}

/** Entries of lists that have nothing within stand on one line, as people write them. */
function make(document: Document, value: Plain, entry: boolean): unknown {
  if (entry) return (make(document, [value], false) as YAMLSeq).items[0];
  const node = document.createNode(value);
  visit(node as Node, {
    Seq: (_, list) => {
      for (const item of list.items) if (isMap(item) && item.items.every(({value: inner}) => isScalar(inner) && inner.value !== null)) item.flow = true;
    },
  });
  return node;
}

/** The text with `change` made in it; the same text where it cannot be read. */
export function edit(text: string, change: (document: Document) => void): string {
  const {document} = parse(text);
  if (!document) return text;
  const plain = document.toString(STYLE);
  change(document);
  return document.contents === null ? text : carryOver(text, plain, document.toString(STYLE));
}

/** Sets what stands at a path; null or '' removes the key. What is on the way to it is made. */
export function set(text: string, path: Path, value: Plain): string {
  return edit(text, (document) => {
    if (value === null || value === '') {
      if (document.hasIn(path)) document.deleteIn(path);
      return;
    }
    const before = document.getIn(path, true);
    if (isScalar(before) && childless(value)) {
      before.value = value;
      delete before.source;
      if (before.type === 'BLOCK_LITERAL' || before.type === 'BLOCK_FOLDED') before.type = undefined;
      return;
    }
    if (document.contents === null) document.contents = document.createNode({}) as never;
    for (let i = 1; i < path.length; i++) {
      const between = document.getIn(path.slice(0, i), true);
      if (isScalar(between) && between.value === null) document.setIn(path.slice(0, i), document.createNode(typeof path[i] === 'number' ? [] : {}));
    }
    document.setIn(path, make(document, value, typeof path[path.length - 1] === 'number'));
  });
}

/** The keys of the mapping at a path, in order. */
export function keysAt(text: string, path: Path): string[] {
  const {document} = parse(text);
  const node = document?.getIn(path, true);
  return isMap(node) ? (node as YAMLMap).items.filter(isPair).map(({key}) => String(isScalar(key) ? key.value : key)) : [];
}

/** Replaces the list at a path, entry by entry: entries that stay keep their comments, and how they are written. */
export function setList(text: string, path: Path, entries: Plain[]): string {
  return edit(text, (document) => {
    const before = document.getIn(path, true);
    const list = isAlias(before) ? before.resolve(document as never) : before;
    if (!isSeq(list) || isAlias(before)) {
      document.setIn(path, make(document, entries, false));
      return;
    }
    const left = list.items.map((node) => ({node, key: JSON.stringify((node as {toJS?: (d: Document) => unknown}).toJS?.(document) ?? null)}));
    list.items = entries.map((entry) => {
      const key = JSON.stringify(entry);
      const at = left.findIndex((one) => one.key === key);
      return at < 0 ? make(document, entry, true) : left.splice(at, 1)[0]!.node;
    }) as typeof list.items;
    if (list.items.length && list.flow && list.items.some((item) => isMap(item))) list.flow = false;
  });
}

/** 1-based line on which what stands at a path begins; null: nothing does. */
export function lineOf(text: string, path: Path): number | null {
  const {document} = parse(text);
  const node = document?.getIn(path, true) as {range?: [number, number, number]} | undefined;
  return node?.range ? text.slice(0, node.range[0]).split('\n').length : null;
}
