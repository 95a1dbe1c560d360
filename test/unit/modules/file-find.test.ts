import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { find } from '../../../src/modules/file/exec/file/find.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, within } from '../../modules/_context.ts';

let folder = '';
const at = (...names: string[]): string => join(folder, ...names);
const run = (path: string, options = {}, ...actions: string[]) =>
  within(contextOf({}), () => find(path, options, ...actions));
const names = async (options = {}): Promise<unknown[]> =>
  (await run(folder, { mindepth: 1, print: 'name', ...options })) as unknown[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tsalt-find-'));
  mkdirSync(at('sub'));
  writeFileSync(at('a.log'), 'one\ntwo\n');
  writeFileSync(at('big.LOG'), 'x'.repeat(1500));
  writeFileSync(at('sub', 'old.log'), '');
  utimesSync(at('sub', 'old.log'), 1_000_000_000, 1_000_000_000);
  symlinkSync('a.log', at('link'));
  symlinkSync('nowhere', at('dead'));
});
afterEach(() => removeFolder(folder));

test('a link counts as what it leads to, one that leads nowhere as a link', async () => {
  expect(await names({ type: 'f' })).toEqual(['a.log', 'big.LOG', 'link', 'old.log']);
  expect(await names({ type: 'l, d' })).toEqual(['dead', 'sub']);
  expect(await run(at('link'), { type: 'f' })).toEqual([at('link')]);
  await expect(run(folder, { type: 'fq' })).rejects.toThrow('invalid file type "q"');
});

test('names are globs in any case or not, regular expressions fit from the start of the name', async () => {
  expect(await names({ name: '*.log' })).toEqual(['a.log', 'old.log']);
  expect(await names({ iname: '*.log' })).toEqual(['a.log', 'big.LOG', 'old.log']);
  expect(await names({ regex: 'o|b' })).toEqual(['big.LOG', 'old.log']);
  expect(await names({ iregex: 'B' })).toEqual(['big.LOG']);
  await expect(run(folder, { regex: '(' })).rejects.toThrow('invalid regular expression: "("');
});

test('sizes count to their unit, times are those before, with a minus those since', async () => {
  expect(await names({ type: 'f', size: '1k' })).toEqual(['big.LOG']);
  expect(await names({ type: 'f', size: '-8' })).toEqual(['a.log', 'link', 'old.log']);
  expect(await names({ type: 'f', size: '+1.2k' })).toEqual(['big.LOG']);
  expect(await names({ type: 'f', mtime: '1w 2d' })).toEqual(['old.log']);
  expect(await names({ type: 'f', mtime: '-1d' })).toEqual(['a.log', 'big.LOG', 'link']);
  await expect(run(folder, { size: '1b-3b' })).rejects.toThrow('invalid size: "1b-3b"');
  await expect(run(folder, { mtime: '3' })).rejects.toThrow("invalid time interval: '3'");
});

test('owners are names or ids, and unknown ones are reported', async () => {
  const uid = process.getuid?.() ?? 0;
  expect(await names({ owner: `${uid},4000000000`, name: 'a*' })).toEqual(['a.log']);
  expect(await names({ user: uid, name: 'a*' })).toEqual(['a.log']);
  await expect(run(folder, { owner: 'no-such-user-x' })).rejects.toThrow(
    'no such user "no-such-user-x"',
  );
});

test('content, depths and what is printed', async () => {
  expect(await names({ grep: 't.o$' })).toEqual(['a.log', 'link']);
  expect(await names({ maxdepth: 1, name: '*.log' })).toEqual(['a.log']);
  expect(await names({ mindepth: 2 })).toEqual(['old.log']);
  expect(await run(folder, { name: '?*.log', print: 'name,size type' })).toEqual([
    ['a.log', 8, 'f'],
    ['old.log', 0, 'f'],
  ]);
  // Numbers in their own order, not in that of their digits.
  expect(await run(folder, { iname: '*.log', print: 'size' })).toEqual([0, 8, 1500]);
  expect(await run(at('sub', 'old.log'), { print: 'md5' })).toEqual([
    'd41d8cd98f00b204e9800998ecf8427e',
  ]);
  await expect(run(folder, { print: 'colour' })).rejects.toThrow('invalid print option: "colour"');
});

test('delete removes matching files and returns them; with test=True it only returns them', async () => {
  expect(await run(folder, { name: '*.log', delete: 'f', test: true })).toEqual([
    at('a.log'),
    at('sub', 'old.log'),
  ]);
  expect(existsSync(at('a.log'))).toBe(true);
  expect(await run(folder, { name: '*.log' }, 'delete')).toEqual([
    at('a.log'),
    at('sub', 'old.log'),
  ]);
  expect(await run(at('sub'), { delete: 'a' })).toEqual([at('sub')]);
  expect(readdirSync(folder).sort()).toEqual(['big.LOG', 'dead', 'link']);
});

test('exec runs a command for each, without a shell', async () => {
  expect(await run(folder, { name: 'a.log', exec: 'wc -c {}' })).toEqual([
    `wc -c ${at('a.log')}:\n8 ${at('a.log')}\n\n`,
  ]);
});

test('an unknown action is refused', async () => {
  await expect(run(folder, {}, 'nonsense')).rejects.toThrow("'nonsense'");
});
