// @module-tag slow
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tsalt } from '../../../helpers/cli.ts';
import { removeFolder } from '../../../helpers/remove-folder.ts';

let project: string;
const run = (...args: string[]) =>
  tsalt(['--local', ...args], { cwd: project, env: { HOME: project } });
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), text);
};

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'module-forms-'));
  write('tsalt.yaml', 'cachedir: cache\n');
});
afterAll(() => removeFolder(project));

test('a module imports a builtin of Node and a neighbour when it runs', async () => {
  write(
    'states/_modules/late.ts',
    [
      "export const platform = async () => (await import('node:os')).platform();",
      "export const near = async () => (await import('./lib/near.ts')).here;",
    ].join('\n'),
  );
  write('states/_modules/lib/near.ts', "export const here = 'near';\n");
  expect((await run('--out', 'json', 'late.platform')).stdout).toContain('linux');
  expect((await run('--out', 'json', 'late.near')).stdout).toContain('near');
});

test('a module waits at its top level, and imports what may be missing', async () => {
  write(
    'states/_modules/waits.ts',
    [
      "import { __grains__ } from 'tsalt-ssh/module';",
      "import * as path from 'node:path';",
      "export const os: string = (await import('node:os')).platform();",
      'let cheese: unknown;',
      "try { cheese = await import('no-such-cheese' as string); } catch { cheese = 'none'; }",
      'export const { first, second } = await Promise.resolve({ first: () => 1, second: () => 2 });',
      "export const all = () => [os, cheese, path.join('a', 'b'), typeof __grains__.id];",
      'export function plain(name: string, { loud = false } = {}) { return loud ? name.toUpperCase() : name; }',
    ].join('\n'),
  );
  const { stdout, stderr } = await run('--out', 'json', 'waits.all');
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({ local: ['linux', 'none', 'a/b', 'string'] });
  expect((await run('--out', 'json', 'waits.plain', 'ann', 'loud=true')).stdout).toContain('ANN');
  expect((await run('--out', 'json', 'waits.second')).stdout).toContain('2');
});

test('functions that only show when a module runs are called from the command line', async () => {
  write(
    'states/_modules/forms.ts',
    [
      'const make = () => ({ a: () => 1, b: (x: number) => x + 1 });',
      'export const { a, b } = make();',
      'const fns = { up: (s: string) => s.toUpperCase() };',
      'export const up = fns.up;',
      "export const bound = fns.up.bind(null, 'bound');",
      'export const chosen = Math.random() < 2 ? () => 3 : () => 4;',
      "const alias = Object.fromEntries([['set_', 'set']]);",
      'export const __func_alias__ = alias;',
      'export const set_ = () => 5;',
    ].join('\n'),
  );
  write('states/_modules/loop.cjs', "for (const n of ['x', 'y']) exports[n] = () => n;\n");
  const value = async (...args: string[]) => {
    const { stdout } = await run('--out', 'json', ...args);
    return JSON.parse(stdout).local;
  };
  expect(await value('forms.a')).toBe(1);
  expect(await value('forms.b', '41')).toBe(42);
  expect(await value('forms.up', 'x')).toBe('X');
  expect(await value('forms.bound')).toBe('BOUND');
  expect(await value('forms.chosen')).toBe(3);
  expect(await value('forms.set')).toBe(5);
  expect(await value('loop.y')).toBe('y');
  const { code, stdout } = await run('forms.nosuch');
  expect(code).not.toBe(0);
  expect(stdout).toContain("'forms.nosuch' is not available");
});

test('an import of what the other file does not export leaves the module out, with its place', async () => {
  write(
    'states/_modules/wrong.ts',
    "import { getLoger } from 'tsalt-ssh/module';\nexport const x = () => getLoger('a');\n",
  );
  const { code, stderr } = await run('wrong.x');
  expect(code).toBe(64);
  expect(stderr).toMatch(
    /There is no export 'getLoger' in tsalt-ssh\/module \(.*states\/_modules\/wrong\.ts:1:10\)/,
  );
  write('states/_modules/wrong.ts', 'export const x = () => 1;\n');
  expect((await run('wrong.x')).code).toBe(0);
});

test('a package that is installed later is noticed', async () => {
  write(
    'states/_modules/cheesy.cjs',
    [
      'let enzymes;',
      "try { enzymes = require('enzymes-for-test'); } catch { enzymes = 'none'; }",
      'exports.kind = () => enzymes;',
    ].join('\n'),
  );
  expect((await run('--out', 'json', 'cheesy.kind')).stdout).toContain('none');
  write('node_modules/enzymes-for-test/index.js', "module.exports = 'rennet';\n");
  expect((await run('--out', 'json', 'cheesy.kind')).stdout).toContain('rennet');
});

test('a class that a state module exports is not a state', async () => {
  write(
    'states/_states/classy.ts',
    'export class Klass { constructor(readonly name: string) {} }\n',
  );
  write('states/classy.sls', 'x:\n  classy.Klass: []\n');
  const { stdout } = await run('state.apply', 'classy');
  expect(stdout).toContain("State 'classy.Klass' was not found in SLS 'classy'");
});
