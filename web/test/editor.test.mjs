// The editor of the page Build, without its view: what can be undone.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const {editor: {Editor}, commands: {undo}, state: {Compartment, EditorState, Transaction}} = await load({
  editor: 'pages/builder/editor.ts',
  commands: '../node_modules/@codemirror/commands/dist/index.js',
  state: '../node_modules/@codemirror/state/dist/index.js',
});

/** A view that only keeps its state. */
function viewOf() {
  const view = {
    state: EditorState.create(),
    hasFocus: false,
    scrollDOM: {scrollTo: (x, y) => (view.scrolledTo = [x, y])},
    setState: (state) => (view.state = state),
    dispatch: (...specs) => (view.state = specs[0] instanceof Transaction ? specs[0].state : view.state.update(...specs).state),
  };
  return view;
}

function editorOf(view) {
  return Object.assign(Object.create(Editor.prototype), {view, label: '', events: {}, language: new Compartment(), readOnly: new Compartment(), configured: '', complete: () => null});
}

const how = (fresh) => ({yaml: true, readOnly: false, fresh});
const undone = (view) => (undo({state: view.state, dispatch: view.dispatch}), view.state.doc.toString());

test('a file that was opened can’t be undone, back to nothing or to the file before it', () => {
  const view = viewOf();
  const shown = editorOf(view);
  shown.show('a: 1\n', how(true));
  assert.equal(undone(view), 'a: 1\n');
  view.dispatch({changes: {from: 0, insert: '# '}, selection: {anchor: 2}});
  shown.show('b: 2\n', how(true));
  assert.equal(undone(view), 'b: 2\n');
  assert.deepEqual([view.state.selection.main.anchor, view.scrolledTo], [0, [0, 0]]);
});

test('what changes elsewhere leaves cursor and history alone', () => {
  const view = viewOf();
  const shown = editorOf(view);
  shown.show('a: 1\nb: 2\n', how(true));
  view.dispatch({changes: {from: 0, insert: '# '}, selection: {anchor: 2}, userEvent: 'input'});
  shown.show('# a: 1\nb: 3\n', how(false));
  assert.deepEqual([view.state.doc.toString(), view.state.selection.main.anchor], ['# a: 1\nb: 3\n', 2]);
  undo({state: view.state, dispatch: view.dispatch}); // the latest first, then what was typed here
  assert.equal(undone(view), 'a: 1\nb: 2\n');
});
