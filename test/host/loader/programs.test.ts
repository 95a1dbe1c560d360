import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { expect, test } from 'vitest';
import { loaderArgument, program } from '../../../src/loader/programs.ts';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const folder = fileURLToPath(new URL('../../../src/loader/', import.meta.url));
const scripts = [
  'find-node',
  'take-node',
  'pull-node',
  'pre-flight',
  'authorize-key',
  'become-su',
  'become-doas',
  'clean',
] as const;

const noneWrong = (args: readonly string[]): void => {
  const { status, stdout, stderr } = spawnSync(args[0] ?? '', args.slice(1), {
    cwd: folder,
    encoding: 'utf8',
  });
  expect([status, stdout, stderr]).toEqual([0, '', '']);
};

test.skipIf(!which('shellcheck')).each(scripts)('shellcheck has nothing to say about %s', name => {
  noneWrong(['shellcheck', '--shell=sh', '--external-sources', `${name}.sh`]);
});

test.each(scripts)(
  '%s is one line of POSIX shell that stands between single quotes in any login shell',
  name => {
    const text = program(name);
    expect(text).not.toMatch(name === 'clean' ? /['\n]|!\S/ : /['\\!\n]/);
    noneWrong(['sh', '-n', '-c', text]);
    if (which('bash')) noneWrong(['bash', '--posix', '-n', '-c', text]);
  },
);

test.skipIf(!which('strace'))('find-node starts Node without another process before it', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-find-node-'));
  try {
    const args = ['loader', 'config', '~/work', '', '', '', ''];
    const traced = ['-f', '-e', 'trace=process', '-o', join(dir, 'trace'), 'sh', '-c'];
    writeFileSync(join(dir, 'node'), '#!/bin/sh\necho "$3 $4"\n', { mode: 0o755 });
    const { stdout } = spawnSync('strace', [...traced, program('find-node'), 'sh', ...args], {
      env: { HOME: dir, PATH: `${dir}:${process.env.PATH}` },
      encoding: 'utf8',
    });
    expect(stdout).toBe('loader config\n');
    const trace = readFileSync(join(dir, 'trace'), 'utf8');
    expect(trace).toContain(`execve("${join(dir, 'node')}"`);
    expect(trace).not.toMatch(/\b(?:clone3?|v?fork)\(/);
  } finally {
    removeFolder(dir);
  }
});

test('the oldest Node can parse the loader', () => {
  const text = program('loader');
  expect(() => transformSync(text, { target: 'es5' })).not.toThrow();
  expect(text).not.toMatch(/=>|`|\?\.[a-z]/);
});

test('the loader leaves room for its arguments in the longest command of dropbear', () => {
  expect(loaderArgument()).not.toMatch(/['\\!\n]/);
  expect(decodeURIComponent(loaderArgument())).toBe(program('loader'));
  expect(loaderArgument().length + program('find-node').length).toBeLessThan(7200);
});
