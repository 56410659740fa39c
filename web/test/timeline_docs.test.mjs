// docs/timeline.md tells of every key of the time line what the page's own help does.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

test('every key of the time line stands in its document', () => {
  const keys = [...read('src/ui/timeline_keys.ts').matchAll(/\{keys: '([^']+)', text: '([^']+)'/g)];
  const rows = [...read('../docs/timeline.md').matchAll(/^\| (.+) \| (.+) \|$/gm)].map(([, shown, text]) => ({shown: shown.split(' '), text}));
  assert.ok(keys.length > 10, `${keys.length} keys were found`);
  for (const [, key, text] of keys) {
    const said = (row) => row.shown.includes(key) && row.text.toLowerCase().includes(text.toLowerCase());
    assert.ok(rows.some(said), `${key}: ${text}`);
  }
});
