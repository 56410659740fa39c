// completion.ts: what can stand where somebody writes in a formula: signals and functions that have the word at the caret in them.
import {FUNCTIONS} from '../../live/functions';

export interface Offer {
  text: string;
  hint: string;
  /** What is put in place of the word, and where the caret stands then, from its beginning. */
  insert: string;
  caret: number;
}

const WORD = /[\p{L}\p{N}_.:/-]*$/u;
const PLAIN = /^[\p{L}_][\p{L}\p{N}_.:/-]*$/u;
const MOST = 8;

/** The word that ends at the caret. */
export function wordBefore(text: string, caret: number): string {
  return WORD.exec(text.slice(0, caret))?.[0] ?? '';
}

export function offers(word: string, signals: readonly {name: string; unit: string}[]): Offer[] {
  const low = word.toLowerCase();
  if (!low) return [];
  const functions = [...FUNCTIONS].filter(([name]) => name.startsWith(low)).map(([name, {help}]) => ({text: `${name}(…)`, hint: help, insert: `${name}()`, caret: name.length + 1}));
  const found = signals.filter(({name}) => name.toLowerCase().includes(low) && name !== word);
  // What begins with the word first, then what is short.
  found.sort((a, b) => Number(b.name.toLowerCase().startsWith(low)) - Number(a.name.toLowerCase().startsWith(low)) || a.name.length - b.name.length);
  const named = found.map(({name, unit}) => {
    const insert = PLAIN.test(name) ? name : `"${name}"`;
    return {text: name, hint: unit === '1' ? '' : unit, insert, caret: insert.length};
  });
  return [...functions, ...named].slice(0, MOST);
}

export function complete(text: string, caret: number, {insert, caret: at}: Offer): {text: string; caret: number} {
  const begin = caret - wordBefore(text, caret).length;
  return {text: text.slice(0, begin) + insert + text.slice(caret), caret: begin + at};
}
