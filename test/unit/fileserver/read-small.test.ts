import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { smallFile } from '../../../src/fileserver/hash-file.ts';
import { readSmall } from '../../../src/fileserver/read-small.ts';

const fileWith = (content: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-small-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'file'), content);
  return join(folder, 'file');
};

test('readSmall: returns the present content of a file, whichever size it had when it was found', () => {
  const memory = Buffer.alloc(smallFile + 11, '.');
  const path = fileWith('content');
  for (const size of [7, 3, 100, 0]) {
    memory.fill('.');
    expect(readSmall(path, size, memory, 10)).toBe(7);
    expect(memory.toString('latin1', 0, 20)).toBe('..........content...');
  }
});

test('readSmall: leaves out a file that has grown too long, and reports one that is gone', () => {
  const memory = Buffer.alloc(smallFile + 1);
  const path = fileWith('x'.repeat(smallFile));
  expect(readSmall(path, 1, memory, 0)).toBe(smallFile);
  writeFileSync(path, 'x'.repeat(smallFile + 1));
  expect(readSmall(path, 1, memory, 0)).toBeUndefined();
  expect(readSmall(path, smallFile, memory, 0)).toBeUndefined();
  rmSync(path);
  expect(() => readSmall(path, 1, memory, 0)).toThrow('ENOENT');
});
