import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listTree } from '../../../src/fileserver/list-tree.ts';

const folderWith = (...files: string[]): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-tree-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const file of files) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  return folder;
};

const rules = { ignored: () => false, follow: true, skipLinks: false };

test('listTree: sorts whole paths, not the names of each folder', () => {
  const files = ['a/b', 'a-', 'a.b', 'a0', 'a/b.c/d', 'a/b0', 'Z', 'b/z/1', 'b/z/10', 'b/z.1'];
  const tree = listTree([folderWith(...files)], rules);
  expect(tree.files).toEqual(files.toSorted());
  expect(tree.dirs).toEqual(['a', 'a/b.c', 'b', 'b/z']);
});

test('listTree: lists what several folders have in common once', () => {
  const [one, other] = [folderWith('a', 'x/b', 'x/c'), folderWith('x/c', 'x/a', 'y/d')];
  mkdirSync(join(one, 'empty/x'), { recursive: true });
  mkdirSync(join(other, 'empty/x'), { recursive: true });
  for (const folder of [one, other]) symlinkSync('x/c', join(folder, 'link'));
  const tree = listTree([one, other], rules);
  expect(tree.files).toEqual(['a', 'link', 'x/a', 'x/b', 'x/c', 'y/d']);
  expect(tree.dirs).toEqual(['empty', 'empty/x', 'x', 'y']);
  expect(tree.emptyDirs).toEqual(['empty/x']);
  expect([...tree.links]).toEqual([['link', 'x/c']]);
  expect(listTree([], rules).files).toEqual([]);
});
