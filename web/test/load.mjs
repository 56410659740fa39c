// load.mjs: a module of the pages for a test that runs in Node.
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import * as esbuild from 'esbuild';

const source = join(dirname(fileURLToPath(import.meta.url)), '../src');

export async function load(path) {
  const {outputFiles} = await esbuild.build({
    entryPoints: [join(source, path)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
