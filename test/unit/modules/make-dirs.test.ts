import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { buildSync } from 'esbuild';
import { afterAll, expect, test } from 'vitest';
import { makeDirs } from '../../../src/modules/_shared/files/make-dirs.ts';
import { packageRoot } from '../../helpers/cli.ts';
import { scratch } from '../../helpers/hosts.ts';

const { path: dir, remove } = scratch('tsalt-make-dirs');
afterAll(remove);

test('makeDirs sets the mode of new directories only', () => {
  mkdirSync(join(dir, 'old'), { mode: 0o755 });
  makeDirs(join(dir, 'old/new/newer'), { mode: '0750' });
  const modes = ['old', 'old/new', 'old/new/newer'].map(
    path => statSync(join(dir, path)).mode & 0o777,
  );
  expect(modes).toEqual([0o755, 0o750, 0o750]);
});

test('makeDirs fails where a file has the name of a directory', () => {
  writeFileSync(join(dir, 'file'), '');
  expect(() => makeDirs(join(dir, 'file'))).toThrow(/EEXIST/);
});

/** Makes the same directories as the other thread, at the same moments; ends with the failures. */
const program = `
  import { parentPort, workerData } from 'node:worker_threads';
  import { makeDirs } from './src/modules/_shared/files/make-dirs.ts';
  const arrived = new Int32Array(workerData.arrived);
  const failures = [];
  for (let turn = 0; turn < workerData.turns; turn++) {
    Atomics.add(arrived, 0, 1);
    while (Atomics.load(arrived, 0) < 2 * (turn + 1));
    try {
      makeDirs(workerData.dir + '/' + turn + '/a/b');
    } catch (error) {
      failures.push(String(error));
    }
  }
  parentPort.postMessage(failures);
`;

test('makeDirs succeeds while another one makes the same directories', async () => {
  const { outputFiles } = buildSync({
    stdin: { contents: program, resolveDir: packageRoot, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    write: false,
  });
  const code = outputFiles[0]?.text ?? '';
  const workerData = { dir: join(dir, 'race'), arrived: new SharedArrayBuffer(4), turns: 300 };
  const run = (): Promise<string[]> =>
    new Promise((resolve, reject) => {
      new Worker(code, { eval: true, workerData }).once('message', resolve).once('error', reject);
    });
  expect((await Promise.all([run(), run()])).flat()).toEqual([]);
  expect(statSync(join(dir, 'race/299/a/b')).isDirectory()).toBe(true);
});
