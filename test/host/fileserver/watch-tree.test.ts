import { spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { watchTree } from '../../../src/fileserver/watch-tree.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const watched = (skip?: (path: string) => boolean) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'watch-tree-')));
  onTestFinished(() => removeFolder(root));
  mkdirSync(join(root, 'a/b'), { recursive: true });
  mkdirSync(join(root, 'skipped'));
  writeFileSync(join(root, 'a/b/x.sls'), '');
  const seen: string[] = [];
  const close = watchTree(root, path => seen.push(relative(root, path)), skip);
  onTestFinished(close);
  const reported = async (path: string): Promise<void> => {
    await vi.waitFor(() => expect(seen).toContain(path));
    // Several events may report one save.
    await new Promise(done => setTimeout(done, 20));
    seen.length = 0;
  };
  return { root, seen, reported, close };
};

const replace = (path: string, text: string): void => {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
};

test('watchTree reports each save of a file that is replaced by a new one', async () => {
  const { root, reported } = watched();
  for (const text of ['1', '2', '3']) {
    replace(join(root, 'a/b/x.sls'), text);
    await reported('a/b/x.sls');
  }
});

test('watchTree reports files in new folders, and in one that was made again', async () => {
  const { root, reported } = watched();
  for (const text of ['1', '2']) {
    mkdirSync(join(root, 'n/m'), { recursive: true });
    writeFileSync(join(root, 'n/m/y.sls'), text);
    await reported('n/m/y.sls');
    replace(join(root, 'n/m/y.sls'), `${text} again`);
    await reported('n/m/y.sls');
    rmSync(join(root, 'n'), { recursive: true });
    await reported('n');
  }
  renameSync(join(root, 'a'), join(root, 'moved'));
  await reported('moved/b/x.sls');
  writeFileSync(join(root, 'moved/b/x.sls'), 'x');
  await reported('moved/b/x.sls');
});

test.runIf(process.getuid?.() === 0)(
  'watchTree reports a file in a folder that this user may list and not enter',
  async () => {
    const { root, reported } = watched();
    const nobody = 65534;
    chmodSync(root, 0o755);
    mkdirSync(join(root, 'a/b/closed'), { mode: 0o744 });
    await reported('a/b/closed');
    const change = spawn('/bin/sh', ['-c', 'read line; touch "$0"', join(root, 'a/b/closed/new')], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    onTestFinished(() => void change.kill());
    process.seteuid?.(nobody);
    try {
      change.stdin?.end('now\n');
      await reported('a/b/closed/new');
    } finally {
      process.seteuid?.(0);
    }
  },
);

test('watchTree leaves out folders that are skipped and links to folders', async () => {
  const { root, seen, reported, close } = watched(path => path.endsWith('/skipped'));
  const outside = mkdtempSync(join(tmpdir(), 'watch-outside-'));
  onTestFinished(() => removeFolder(outside));
  symlinkSync(outside, join(root, 'link'));
  await reported('link');
  writeFileSync(join(outside, 'y'), '');
  writeFileSync(join(root, 'skipped/y'), '');
  writeFileSync(join(root, 'last'), '');
  await vi.waitFor(() => expect(seen).toContain('last'));
  expect(seen.filter(path => path !== 'last')).toEqual([]);
  close();
  writeFileSync(join(root, 'later'), '');
  await new Promise(done => setTimeout(done, 20));
  expect(seen).not.toContain('later');
});

test('watchTree reports a folder that cannot be watched', () => {
  expect(() => watchTree('/nonexistent', () => undefined)).toThrow(/\/nonexistent cannot be/);
});
