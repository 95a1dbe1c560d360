import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FileFinder } from '../../../src/fileserver/file-finder.ts';

const finderOf = (...names: string[]): { root: string; finder: FileFinder } => {
  const root = mkdtempSync(join(tmpdir(), 'tsalt-finder-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, 'sub'));
  for (const name of names) writeFileSync(join(root, name), name);
  const places = { folders: () => [`${root}/./sub/..`], ignored: () => false, unsaved: undefined };
  return { root, finder: new FileFinder(places) };
};

test('a file of a listing is looked at once until the finder is refreshed', () => {
  const { root, finder } = finderOf('a', 'sub/b');
  const { file, stat } = finder.findListed('sub/b', 'base') ?? {};
  expect(file).toMatchObject({ path: join(root, 'sub/b'), rel: 'sub/b', size: 5 });
  expect(stat?.size).toBe(5);
  expect(finder.findListed('sub/b', 'base')).toEqual({ file, stat: undefined });
  expect(finder.find('sub/b', 'base')).toBe(file);
  rmSync(join(root, 'sub/b'));
  expect(finder.find('sub/b', 'base')).toBe(file);
  finder.refresh();
  expect(finder.find('sub/b', 'base')).toBeUndefined();
  expect(finder.findListed('sub/b', 'base')).toBeUndefined();
});

test('the paths that hosts requested are forgotten when they are too many', () => {
  const { root, finder } = finderOf('a');
  expect(finder.find('a', 'base')?.path).toBe(join(root, 'a'));
  rmSync(join(root, 'a'));
  for (let at = 1; at < 50_000; at += 1) finder.find(`missing/${at}`, 'base');
  expect(finder.find('a', 'base')).toBeDefined();
  finder.find('missing/50000', 'dev');
  expect(finder.find('a', 'base')).toBeUndefined();
});
