// sweep.mjs: a sweep's table for the tests of its page, noted as `tether sweep` notes it.
import {execFileSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {root} from './harness.mjs';

const python = (script, ...args) => execFileSync('python3', ['-c', script, ...args.map(String)], {encoding: 'utf8'});

/** The table of src/sweep/testdata/table.sql, its first `rows` of 100,000; as the sweep `name`; returns its path. */
export function makeSweep(state, rows = 100000, name = 'gains') {
  const folder = join(state, 'tether/sweeps');
  const path = join(state, `${name}.sqlite`);
  mkdirSync(join(folder, 'runs'), {recursive: true});
  python(
    `import sqlite3, sys
db = sqlite3.connect(sys.argv[2])
db.executescript(open(sys.argv[1]).read().replace('n < 99999', 'n < %d' % (int(sys.argv[3]) - 1)))
db.commit()`,
    join(root, 'src/sweep/testdata/table.sql'), path, rows,
  );
  writeFileSync(join(folder, `${name}.sweep`), `${path}\n`);
  return path;
}

/** Adds rows that are like others, as a running sweep does. */
export function addRows(path, count) {
  python(
    `import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
last, columns = db.execute('SELECT max(run) FROM run').fetchone()[0], 'heading, gain, payload, final_y, top_speed, settling_time, success'
for i in range(1, int(sys.argv[2]) + 1):
    db.execute(f"INSERT INTO run (id, run, seed, status, error, {columns}) SELECT printf('%032x', ?), ?, seed, status, error, {columns} FROM run WHERE run = 5", (last + i, last + i))
db.commit()`,
    path, count,
  );
}
