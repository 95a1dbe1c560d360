import { mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { ownScopes } from '../../../src/bundle/own-scopes.ts';

/** Bundles a folder's `a.ts`, with each of the named files in a scope of its own. */
const bundle = async (dir: string, own: readonly string[]): Promise<BundledFiles> => {
  const { outputFiles } = await build({
    stdin: { contents: `module.exports = require(${JSON.stringify(join(dir, 'a.ts'))})` },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    outfile: join(dir, 'bundle.js'),
    sourcemap: 'external',
    plugins: [ownScopes(dir, new Set(own.map(name => join(dir, name))))],
  });
  const [map, code] = outputFiles.map(({ text }) => text);
  return { code: code ?? '', map: map ?? '' };
};

type BundledFiles = { readonly code: string; readonly map: string };

/** Runs a bundle. */
const run = async (dir: string, own: readonly string[]): Promise<unknown> => {
  const { code } = await bundle(dir, own);
  const module = { exports: {} as { readonly value?: unknown } };
  new Function('module', code)(module);
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

test('modules export what they exported as ES modules', async () => {
  const dir = folder();
  writeFileSync(
    join(dir, 'a.ts'),
    `import other, * as all from './b.ts'; import * as none from './d.ts';
     export const value = [other(), all.count(), all.calls, Object.keys(all), all.again, Object.keys(none)];`,
  );
  writeFileSync(
    join(dir, 'b.ts'),
    `export let calls = 0; export const count = () => ++calls; export default () => 'default';
     export { again } from './c.ts'; export * from './c.ts';`,
  );
  writeFileSync(join(dir, 'c.ts'), 'export const again = "again"; export const more = "more";');
  writeFileSync(join(dir, 'd.ts'), 'export {};');
  const own = ['a.ts', 'b.ts', 'c.ts', 'd.ts'];
  const names = ['again', 'calls', 'count', 'default', 'more'];
  expect(await run(dir, own)).toEqual(['default', 1, 1, names, 'again', []]);
});

test('a module makes its exports once, and its code stays where the source map has it', async () => {
  const dir = folder();
  writeFileSync(
    join(dir, 'a.ts'),
    `import { word } from './b.ts';\nexport const value = word();\n`,
  );
  writeFileSync(join(dir, 'b.ts'), 'export const word = () => \n  "here";');
  const { code, map } = await bundle(dir, ['a.ts', 'b.ts']);

  expect(code).not.toMatch(/copyProps\w*\(__defProp/);
  const lines = code.split('\n');
  const line = lines.findIndex(text => text.includes('"here"'));
  const found = new SourceMap(JSON.parse(map)).findEntry(line, lines[line]?.indexOf('"here"') ?? 0);
  expect(found).toMatchObject({
    originalSource: expect.stringMatching(/b\.ts$/),
    originalLine: 1,
    originalColumn: 2,
  });
});
