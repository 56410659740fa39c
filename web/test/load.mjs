// load.mjs: a module of the pages for a test that runs in Node.
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import * as esbuild from 'esbuild';

const source = join(dirname(fileURLToPath(import.meta.url)), '../src');

/** One module, or several that know each other: {name: path} gives {name: module}. */
export async function load(what) {
  const all = typeof what === 'string' ? null : Object.entries(what).map(([name, path]) => `export * as ${name} from './${path}';`).join('\n');
  const {outputFiles} = await esbuild.build({
    ...(all === null ? {entryPoints: [join(source, what)]} : {stdin: {contents: all, resolveDir: source}}),
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
