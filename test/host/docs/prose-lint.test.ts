import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../../scripts/prose-lint.ts', import.meta.url));
const tsx = fileURLToPath(new URL('../../../node_modules/tsx/dist/cli.mjs', import.meta.url));

let folder: string;
const git = (...args: string[]): void => {
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@localhost', ...args], {
    cwd: folder,
    stdio: 'ignore',
  });
};
const lint = (...args: string[]) => {
  const { status, stdout } = spawnSync(process.execPath, [tsx, script, ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, stdout };
};
const source = (line: string): string => `${line}\n`.repeat(6);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tsalt-test-prose-'));
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src/old.ts'), source('// What whoever told is no list.'));
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-qm', 'old');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('prose-lint reads only lines that were added', () => {
  expect(lint()).toEqual({ status: 0, stdout: '' });
  expect(lint('--all').stdout).toContain('6 of 6 lines of prose (100.0 %)');
});

test('prose-lint lists the places of hard prose in a branch and in changes without a commit', () => {
  git('checkout', '-qb', 'work');
  writeFileSync(join(folder, 'src/new.ts'), source('// Whoever asks is told anew.'));
  git('add', '.');
  git('commit', '-qm', 'new');
  writeFileSync(
    join(folder, 'src/old.ts'),
    `${source('// Returns it.')}/** The same as below. */\n`,
  );
  const { status, stdout } = lint();
  expect(status).toBe(1);
  expect(stdout).toContain('src/new.ts:6: Whoever asks is told anew.');
  expect(stdout).toContain('src/old.ts:7: The same as below.');
  expect(stdout).toContain('7 of 13 lines of prose');
});

test('prose-lint accepts plain prose, code, and a few hits', () => {
  writeFileSync(
    join(folder, 'src/old.ts'),
    `${source('// Returns the user’s key.')}const what = 1; // none\n// What is left.\n`,
  );
  expect(lint()).toEqual({ status: 0, stdout: '' });
});
