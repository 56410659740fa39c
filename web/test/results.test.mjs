// The list of trials: what a change of one sends.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {loadHooks} from './hooks.mjs';

Object.assign(globalThis, {
  location: {hash: '', href: 'http://tether.test/'}, history: {replaceState() {}, pushState() {}}, addEventListener() {}, document: {addEventListener() {}, hidden: false},
  matchMedia: () => ({matches: false, addEventListener() {}}), localStorage: {getItem: () => null, setItem() {}},
});
const {results, run} = await loadHooks({results: 'pages/trials/results.tsx'});

/** Of what is drawn, whatever `holds`. */
function all(node, holds) {
  if (Array.isArray(node)) return node.flatMap((each) => all(each, holds));
  if (!node?.props) return [];
  return [...(holds(node) ? [node] : []), ...all(node.props.children, holds)];
}

test('a change sends what was changed alone: the rest may be another by now', async () => {
  const sent = [];
  globalThis.fetch = async (url, {method, body}) => {
    if (method === 'PUT') sent.push([url, JSON.parse(body)]);
    return new Response('[]');
  };
  const trial = {id: 7, started: '2026-01-01T00:00:00Z', scene: 's', driver: 'Ada', time: 1, startedBy: 'hand', stoppedBy: 'hand', condition: '', note: 'old', discarded: false, recording: '', begin: 0};
  const shown = run(results.Results, {trials: [trial], again() {}});
  const [note] = all(shown.now, ({props}) => props.label === 'Note of trial 7');
  const [counts] = all(shown.now, ({props}) => props.trial && props.save);
  await Promise.all([note.props.save('new'), counts.props.save(true)]);
  shown.end();
  assert.deepEqual(sent, [['api/trials/7', {note: 'new'}], ['api/trials/7', {discarded: true}]]);
});
