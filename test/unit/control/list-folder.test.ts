import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listFolder, listWithHashes } from '../../../src/control/prepare/list-folder.ts';
import { FileRoots } from '../../../src/fileserver/file-roots.ts';

const files = ['a', 'app-', 'app.d/x', 'app/1', 'app/a/2', 'app/z', 'app0', 'apq/3', 'apz'];

test.each([
  ['', files],
  ['app', ['1', 'a/2', 'z']],
  ['app/a', ['2']],
  ['app.d', ['x']],
  ['ap', []],
  ['apz', []],
  ['zz', []],
  ['0', []],
])('the files below "%s" are those whose paths begin with it', async (path, expected) => {
  const root = mkdtempSync(join(tmpdir(), 'tsalt-list-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const file of files) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    writeFileSync(join(root, file), file);
  }
  const roots = new FileRoots({ base: [root] });
  const folder = { path, saltenv: 'base' };
  expect(listFolder(roots, folder)).toEqual(expected);
  const listed = await listWithHashes(roots, folder);
  expect(listed.map(([name, size]) => [name, size])).toEqual(
    expected.map(name => [name, path === '' ? name.length : path.length + 1 + name.length]),
  );
});
