// editor.ts: a text with colours, completion and errors in place: CodeMirror, as these pages need it. Loaded when it is first shown.
// It stands in a shadow of its own, where its styles are allowed.
import {autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, startCompletion} from '@codemirror/autocomplete';
import type {CompletionContext, CompletionResult} from '@codemirror/autocomplete';
import {defaultKeymap, history, historyKeymap} from '@codemirror/commands';
import {yaml} from '@codemirror/lang-yaml';
import {bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting} from '@codemirror/language';
import {lintGutter, lintKeymap, setDiagnostics} from '@codemirror/lint';
import type {Diagnostic} from '@codemirror/lint';
import {highlightSelectionMatches, searchKeymap} from '@codemirror/search';
import {Compartment, EditorState, Transaction} from '@codemirror/state';
import {drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers} from '@codemirror/view';
import {tags} from '@lezer/highlight';
import type {Proposals} from './completion';
import {difference} from './merge';
import type {Problem} from './types';

/** The colours of the style sheet, so that both themes are right. */
const LOOK = EditorView.theme({
  '&': {height: '100%', color: 'var(--text)', backgroundColor: 'var(--ground)', fontSize: '12.5px'},
  '&.cm-focused': {outline: 'none'}, // the frame has it
  '.cm-scroller': {fontFamily: 'var(--mono)', lineHeight: '1.5', overflow: 'auto'},
  '.cm-content': {caretColor: 'var(--text)'},
  '.cm-cursor': {borderLeftColor: 'var(--text)'},
  '.cm-gutters': {backgroundColor: 'var(--panel)', color: 'var(--muted)', borderRight: '1px solid var(--line)'},
  '.cm-activeLine': {backgroundColor: 'color-mix(in srgb, var(--accent) 8%, transparent)'},
  '.cm-activeLineGutter': {backgroundColor: 'var(--hover)', color: 'var(--text)'},
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {backgroundColor: 'color-mix(in srgb, var(--accent) 30%, transparent)'},
  '.cm-tooltip': {backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line-strong)', borderRadius: '6px', fontFamily: 'var(--sans)', maxWidth: '440px'},
  '.cm-tooltip-autocomplete > ul > li': {padding: '2px 8px'},
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {backgroundColor: 'var(--accent-soft)', color: 'var(--text)'},
  '.cm-completionDetail': {color: 'var(--muted)', fontStyle: 'normal'},
  '.cm-completionInfo': {padding: '6px 10px', maxWidth: '320px'},
  '.cm-diagnostic': {padding: '5px 10px', borderLeftWidth: '3px'},
  '.cm-panels': {backgroundColor: 'var(--panel)', color: 'var(--text)'},
  '.cm-searchMatch': {backgroundColor: 'color-mix(in srgb, var(--warn) 35%, transparent)'},
});

const COLOURS = syntaxHighlighting(
  HighlightStyle.define([
    {tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic'},
    {tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--accent)'},
    {tag: [tags.string, tags.number, tags.bool, tags.content], color: 'var(--text)'},
    {tag: [tags.labelName, tags.keyword, tags.meta], color: 'var(--warn)'},
    {tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: 'var(--muted)'},
  ]),
);

export interface EditorEvents {
  onChange: (text: string) => void;
  propose: (text: string, cursor: number) => Proposals | null;
}

interface How {
  yaml: boolean;
  readOnly: boolean;
}

const languageOf = (how: How) => (how.yaml ? yaml() : []);
const readOnlyOf = (how: How) => (how.readOnly ? EditorState.readOnly.of(true) : []);

export class Editor {
  private readonly view: EditorView;
  private readonly language = new Compartment();
  private readonly readOnly = new Compartment();
  private configured = '';

  constructor(host: HTMLElement, private readonly label: string, private readonly events: EditorEvents) {
    const root = host.shadowRoot ?? host.attachShadow({mode: 'open'});
    root.replaceChildren();
    const frame = document.createElement('div');
    frame.style.height = '100%';
    root.append(frame);
    this.view = new EditorView({parent: frame, root, state: this.stateOf('', {yaml: false, readOnly: false})});
  }

  /** A text as it was opened: nothing can be undone yet. */
  private stateOf(text: string, how: How): EditorState {
    return EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), history(), drawSelection(), indentOnInput(), bracketMatching(),
        closeBrackets(), highlightActiveLine(), highlightSelectionMatches(), lintGutter(), LOOK, COLOURS,
        EditorState.tabSize.of(2),
        this.language.of(languageOf(how)),
        this.readOnly.of(readOnlyOf(how)),
        autocompletion({override: [this.complete], icons: false}),
        // Tab goes on to the next control, as everywhere.
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({'aria-label': this.label, tabindex: '0'}),
        EditorView.updateListener.of(({docChanged, transactions, state}) => {
          if (docChanged && transactions.some((one) => one.annotation(Transaction.remote) !== true)) this.events.onChange(state.doc.toString());
        }),
      ],
    });
  }

  private complete = (context: CompletionContext): CompletionResult | null => {
    const found = this.events.propose(context.state.doc.toString(), context.pos);
    if (!found || (!context.explicit && context.pos === found.from && !/[\s[{,]/.test(context.state.sliceDoc(context.pos - 1, context.pos)))) return null;
    return {
      from: found.from,
      validFor: /^[\w./·²%-]*$/,
      options: found.list.map(({label, insert, detail, help}) => ({
        label,
        detail,
        info: help || undefined,
        apply: (view, _, from, to) => {
          view.dispatch({changes: {from, to, insert}, selection: {anchor: from + insert.length}, userEvent: 'input.complete'});
          if (insert.endsWith(': ')) startCompletion(view);
        },
      })),
    };
  };

  /** Shows a text; of one that is shown already only what differs changes, so that cursor and history stay. A fresh one begins at its
   *  top with a history of its own: Undo must not bring back what was shown before it. Problems have to be set again. */
  show(text: string, how: How & {fresh: boolean}): void {
    const {view} = this;
    const configured = `${how.yaml} ${how.readOnly}`;
    if (how.fresh) {
      view.setState(this.stateOf(text, how));
      view.scrollDOM.scrollTo(0, 0);
      this.configured = configured;
      return;
    }
    const old = view.state.doc.toString();
    if (old === text && configured === this.configured) return;
    const change = difference(old, text);
    view.dispatch({
      changes: old === text ? [] : change,
      annotations: Transaction.remote.of(true),
      effects: [
        ...(configured === this.configured ? [] : [this.language.reconfigure(languageOf(how)), this.readOnly.reconfigure(readOnlyOf(how))]),
        // What changed elsewhere is shown where it is.
        ...(old !== text && !view.hasFocus ? [EditorView.scrollIntoView(change.from, {y: 'center'})] : []),
      ],
    });
    this.configured = configured;
  }

  setProblems(problems: Problem[]): void {
    const {doc} = this.view.state;
    const diagnostics = problems.map(({line, column, severity, text}): Diagnostic => {
      const at = doc.line(Math.max(1, Math.min(doc.lines, line)));
      const from = Math.min(at.to, at.from + Math.max(0, column - 1));
      const blank = at.text.length - at.text.trimStart().length;
      return {from: column > 0 ? from : at.from + Math.min(blank, at.length), to: at.to, severity, message: text};
    });
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
  }

  goTo(line: number, column: number, focus: boolean): void {
    const {doc} = this.view.state;
    const at = doc.line(Math.max(1, Math.min(doc.lines, line)));
    const anchor = Math.min(at.to, at.from + Math.max(0, column - 1));
    this.view.dispatch({selection: {anchor}, effects: EditorView.scrollIntoView(anchor, {y: 'center'})});
    if (focus) this.view.focus();
  }

  dispose(): void {
    this.view.destroy();
  }
}
