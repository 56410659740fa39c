// yaml_place.ts: where in a YAML text a cursor stands: under which keys, and whether a key or a value is written there. Works on
// texts that are not finished, which is when somebody needs it.

export interface Place {
  /** Keys from the top, '*' for an entry of a list. Of a value its own key is the last. */
  path: string[];
  kind: 'key' | 'value';
  /** What stands there up to the cursor, and where it begins. */
  word: string;
  from: number;
  /** Keys that the mapping around the cursor has already. */
  siblings: string[];
}

interface Level {
  indent: number;
  key: string; // '*': an entry of a list
  parent: Level | null;
}

const KEY = /^("[^"]*"|'[^']*'|[^\s#&*!|>'"%@`{}[\],:][^#:]*?)\s*:(?=\s|$)/;
const unquote = (text: string) => text.trim().replace(/^(["'])(.*)\1$/, '$2');

/** A line up to its comment. */
function bare(line: string): string {
  const at = line.search(/(^|\s)#/);
  return at < 0 ? line : line.slice(0, at);
}

/** How far brackets of a piece of text stay open. */
function depthOf(text: string): number {
  let depth = 0;
  for (const letter of text.replace(/"[^"]*"|'[^']*'/g, '')) depth += '{['.includes(letter) ? 1 : '}]'.includes(letter) ? -1 : 0;
  return depth;
}

class Walk {
  readonly keys: {level: Level | null; key: string}[] = [];
  private stack: Level[] = [];
  /** Text since a bracket was opened that is open still. */
  flow: {text: string; start: number} | null = null;

  get top(): Level | null {
    return this.stack[this.stack.length - 1] ?? null;
  }

  private drop(deeperThan: (level: Level) => boolean): void {
    while (this.top && deeperThan(this.top)) this.stack.pop();
  }

  private push(indent: number, key: string): void {
    if (key !== '*') this.keys.push({level: this.top, key});
    this.stack.push({indent, key, parent: this.top});
  }

  /** Takes in a line's beginning; returns what is left of it, where that begins, and whether it is the value of a key. */
  take(line: string, start: number, blankIndent = line.length): {rest: string; at: number; value: boolean} {
    if (this.flow) {
      this.flow.text += `\n${line}`;
      const {text} = this.flow;
      if (depthOf(text) <= 0) this.flow = null;
      return {rest: '', at: start + line.length, value: false};
    }
    let indent = line.length - line.trimStart().length;
    let content = line.slice(indent);
    if (!content) indent = Math.min(indent, blankIndent);
    while (/^-(\s|$)/.test(content)) {
      this.drop((level) => level.indent > indent || (level.indent === indent && level.key === '*'));
      this.push(indent, '*');
      const width = content.length - content.slice(1).trimStart().length;
      indent += width;
      content = content.slice(width);
    }
    const key = KEY.exec(content);
    if (content || !line.trim()) this.drop((level) => level.indent >= indent && !(level.key === '*' && level.indent < indent));
    if (!key) return {rest: this.open(content, start + line.length - content.length), at: start + line.length - content.length, value: false};
    this.push(indent, unquote(key[1]!));
    const after = content.slice(key[0].length);
    const rest = after.trimStart();
    const at = start + line.length - rest.length;
    return {rest: this.open(rest, at), at, value: true};
  }

  private open(text: string, start: number): string {
    if (/^(&\S+\s+)?[{[]/.test(text) && depthOf(text) > 0) this.flow = {text, start};
    return text;
  }

  path(): string[] {
    return this.stack.map(({key}) => key);
  }
}

/** Where the end of a text stands that began with a bracket. */
function placeInFlow(text: string): {path: string[]; kind: Place['kind']; word: string; siblings: string[]} {
  const frames: {list: boolean; key: string | null; keys: string[]}[] = [];
  let part = '';
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const letter = text[i]!;
    const frame = frames[frames.length - 1];
    if (quote) {
      if (letter === quote) quote = '';
      part += letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      part += letter;
    } else if (letter === '{' || letter === '[') {
      frames.push({list: letter === '[', key: null, keys: []});
      part = '';
    } else if (letter === '}' || letter === ']') {
      frames.pop();
      part = '';
    } else if (letter === ',') {
      if (frame) frame.key = null;
      part = '';
    } else if (letter === ':' && frame && !frame.list && frame.key === null && /\s|^$/.test(text[i + 1] ?? '')) {
      frame.key = unquote(part);
      frame.keys.push(frame.key);
      part = '';
    } else {
      part += letter;
    }
  }
  const path = frames.flatMap(({list, key}) => (list ? ['*'] : key === null ? [] : [key]));
  const last = frames[frames.length - 1];
  return {path, kind: last && !last.list && last.key === null ? 'key' : 'value', word: part.trimStart(), siblings: last?.keys ?? []};
}

export function placeAt(text: string, cursor: number): Place {
  const walk = new Walk();
  const lines = text.split('\n');
  let start = 0;
  let found: Place | null = null;
  let level: Level | null = null;
  for (const line of lines) {
    const end = start + line.length;
    if (found || cursor > end) {
      if (bare(line).trim()) walk.take(bare(line), start);
    } else {
      const before = line.slice(0, cursor - start);
      if (bare(before) !== before) return {path: [], kind: 'value', word: '', from: cursor, siblings: []}; // in a comment
      const {rest, value} = walk.take(before, start);
      if (walk.flow) {
        const inside = placeInFlow(walk.flow.text);
        return {...inside, path: [...walk.path(), ...inside.path], from: cursor - inside.word.length};
      }
      const plain = value || !!walk.top && walk.top.key === '*' && /^["']/.test(rest);
      found = {path: walk.path(), kind: plain ? 'value' : 'key', word: rest, from: cursor - rest.length, siblings: []};
      level = value ? null : walk.top;
      // The rest of this line belongs to the word.
      if (!value && KEY.test(line.slice(found.from - start))) walk.keys.pop();
    }
    start = end + 1;
  }
  found ??= {path: [], kind: 'key', word: '', from: cursor, siblings: []};
  if (found.kind === 'key') found.siblings = walk.keys.filter((one) => one.level === level).map(({key}) => key);
  return found;
}
