import { mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { ownScopes } from '../../../src/bundle/own-scopes.ts';

/** Runs the bundle of a folder's `a.ts`, with each of the named files in a scope of its own. */
const run = async (dir: string, own: readonly string[]): Promise<unknown> => {
  const { outputFiles } = await build({
    stdin: { contents: `module.exports = require(${JSON.stringify(join(dir, 'a.ts'))})` },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    plugins: [ownScopes(dir, new Set(own.map(name => join(dir, name))))],
  });
  const module = { exports: {} as { readonly value?: unknown } };
  new Function('module', outputFiles[0]?.text ?? '')(module);
  return module.exports.value;
};

const folder = (): string => realpathSync(mkdtempSync(join(tmpdir(), 'tsalt-scopes-')));

test('a build converts the modules that have changed since the last one', async () => {
  const dir = folder();
  writeFileSync(join(dir, 'a.ts'), `export { value } from './b.ts';`);
  const valueFrom = (text: string): Promise<unknown> => {
    writeFileSync(join(dir, 'b.ts'), text);
    return run(dir, ['a.ts', 'b.ts']);
  };
  expect(await valueFrom('export const value: number = 1;')).toBe(1);
  expect(await valueFrom('export const value: number = 2;')).toBe(2);
  expect(await valueFrom('export const value: number = 1;')).toBe(1);
});

test('a module is one, whether it is imported by its name, without an ending or by a link', async () => {
  const dir = folder();
  writeFileSync(
    join(dir, 'a.ts'),
    `import { count } from './b.ts'; import { count as same } from './b'; import { count as linked } from './c.ts';
     export const value = [count, same, linked].map(one => one());`,
  );
  writeFileSync(join(dir, 'b.ts'), 'let calls = 0; export const count = () => ++calls;');
  symlinkSync('b.ts', join(dir, 'c.ts'));
  expect(await run(dir, ['a.ts', 'b.ts'])).toEqual([1, 2, 3]);
});
