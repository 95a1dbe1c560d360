import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import { lazyBuiltins } from '../../../src/bundle/lazy-builtins.ts';
import { scratch } from '../../helpers/hosts.ts';

const code = `import { spawnSync } from 'node:child_process';
import * as zlib from 'node:zlib';
const loaded = name => process.moduleLoadList.includes('NativeModule ' + name);
const before = [loaded('child_process'), loaded('zlib')];
const { status } = spawnSync('true');
const between = [loaded('child_process'), loaded('zlib')];
const text = String(zlib.gunzipSync(zlib.gzipSync('text')));
console.log(JSON.stringify({ before, status, between, text, after: loaded('zlib') }));
`;

/** Runs code as a bundle of a file of this folder below a root. */
const run = async (folder: string, text = code): Promise<Record<string, unknown>> => {
  const { path: root, remove } = scratch();
  onTestFinished(remove);
  const file = join(root, folder, 'own.ts');
  mkdirSync(join(root, folder));
  writeFileSync(file, text);
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    plugins: [lazyBuiltins(root)],
  });
  const bundle = outputFiles[0]?.text ?? '';
  return JSON.parse(execFileSync(process.execPath, ['-e', bundle], { encoding: 'utf8' }));
};

test("a slow module of Node is loaded when one of our files first uses it, and a user's file has it at once", async () => {
  const works = { status: 0, text: 'text', after: true };
  expect(await run('src')).toEqual({ ...works, before: [false, false], between: [true, false] });
  expect(await run('modules')).toEqual({ ...works, before: [true, true], between: [true, true] });
});

test('what a file imports as a whole is not copied into it', async () => {
  const text = `import * as crypto from 'node:crypto';
import * as fs from 'node:fs';
import { closeSync, existsSync } from 'node:fs';
console.log(JSON.stringify({
  own: [Object.getOwnPropertyNames(crypto), Object.getOwnPropertyNames(fs)],
  works: [crypto.createHash('md5').digest('hex').length, fs.existsSync('/'), existsSync('/')],
  missing: [crypto.none === undefined, 'none' in crypto, 'createHash' in crypto, fs.none === undefined],
  same: fs.closeSync === closeSync,
}));
`;
  expect(await run('src', text)).toEqual({
    own: [['default'], ['default']],
    works: [32, true, true],
    missing: [true, false, true, true],
    same: true,
  });
});
