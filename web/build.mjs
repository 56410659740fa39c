// build.mjs: bundles the pages: node build.mjs [--out FOLDER] [--no-check] [--watch]
// Writes index.html, the script, one style sheet, and chunks for what is loaded when it is needed, all with hashed names, each
// text also gzipped, and web.gresource.xml, which names them for glib-compile-resources.
import {spawnSync} from 'node:child_process';
import {copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {dirname, join, relative, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import * as esbuild from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const option = (name) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1] ?? '';
};
const out = resolve(option('--out') ?? join(here, 'dist'));

function checkTypes() {
  const tsc = join(here, 'node_modules/typescript/bin/tsc');
  const done = spawnSync(process.execPath, [tsc, '--noEmit', '--pretty', 'false'], {cwd: here, encoding: 'utf8'});
  if (done.status === 0) return;
  process.stderr.write(done.stdout + done.stderr);
  process.exit(1);
}

const bundle = {
  absWorkingDir: here,
  entryPoints: {app: 'src/main.tsx'},
  bundle: true,
  splitting: true,
  format: 'esm',
  target: ['chrome100', 'firefox100', 'safari15'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  loader: {'.woff2': 'file'},
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  outdir: out,
  metafile: true,
};

/** What the World page needs besides the script itself: asked for at once, not one after the other. */
function firstChunks(metafile) {
  const outputs = Object.entries(metafile.outputs);
  const needed = new Set();
  const add = (path) => {
    if (needed.has(path)) return;
    needed.add(path);
    for (const {path: next, kind} of metafile.outputs[path].imports) if (kind === 'import-statement') add(next);
  };
  for (const entry of ['src/main.tsx', 'src/view3d/view3d.ts']) {
    add(outputs.find(([, {entryPoint}]) => entryPoint === entry)[0]);
  }
  return [...needed].filter((path) => metafile.outputs[path].entryPoint !== 'src/main.tsx').map((path) => relative(out, resolve(here, path)));
}

/** The names that went into the page: hashed, so that a browser may keep them for ever. */
function writeIndex(metafile) {
  const names = Object.entries(metafile.outputs).map(([path, output]) => ({
    name: relative(out, resolve(here, path)),
    entry: output.entryPoint === 'src/main.tsx',
  }));
  const script = names.find(({name, entry}) => entry && name.endsWith('.js')).name;
  const style = names.find(({name}) => /^app-.*\.css$/.test(name)).name;
  const preload = firstChunks(metafile).map((name) => `  <link rel="modulepreload" href="${name}">\n`).join('');
  const page = readFileSync(join(here, 'src/index.html'), 'utf8')
    .replace('app.js', script)
    .replace('app.css', style)
    .replace('</head>', `${preload}</head>`);
  writeFileSync(join(out, 'index.html'), page);
}

/** The licences of what is in the bundle. */
function writeLicenses(metafile) {
  const packages = new Set();
  for (const path of Object.keys(metafile.inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (found) packages.add(found[1]);
  }
  const text = [...packages].sort().map((name) => {
    const folder = join(here, 'node_modules', name);
    const {version} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((entry) => /^licen[sc]e/i.test(entry));
    return `${name} ${version}\n\n${file ? readFileSync(join(folder, file), 'utf8') : ''}`;
  });
  writeFileSync(join(out, 'licenses.txt'), text.join(`\n${'-'.repeat(72)}\n\n`));
}

function writeResources() {
  for (const name of readdirSync(out)) {
    if (!/\.(js|css|html|svg|txt)$/.test(name)) continue;
    writeFileSync(join(out, `${name}.gz`), gzipSync(readFileSync(join(out, name)), {level: 9}));
  }
  const files = readdirSync(out).filter((name) => !name.endsWith('.xml')).sort();
  const list = files.map((name) => `    <file>${name}</file>`).join('\n');
  writeFileSync(
    join(out, 'web.gresource.xml'),
    `<gresources>\n  <gresource prefix="/tether/web">\n${list}\n  </gresource>\n</gresources>\n`,
  );
  const wired = files.filter((name) => name.endsWith('.gz') || name.endsWith('.woff2'));
  return wired.reduce((sum, name) => sum + statSync(join(out, name)).size, 0);
}

function finish(metafile) {
  copyFileSync(join(here, 'src/favicon.svg'), join(out, 'favicon.svg'));
  writeIndex(metafile);
  writeLicenses(metafile);
  const bytes = writeResources();
  console.log(`web: ${(bytes / 1000).toFixed(0)} kB compressed`);
}

if (!process.argv.includes('--no-check')) checkTypes();
rmSync(out, {recursive: true, force: true});
mkdirSync(out, {recursive: true});
if (process.argv.includes('--watch')) {
  const context = await esbuild.context({
    ...bundle,
    plugins: [{name: 'pages', setup: (build) => build.onEnd((done) => done.metafile && finish(done.metafile))}],
  });
  await context.watch();
} else {
  finish((await esbuild.build(bundle)).metafile);
}
