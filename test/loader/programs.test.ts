import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { expect, test } from 'vitest';
import { loaderArgument, program } from '../../src/loader/programs.ts';
import { which } from '../../src/modules/_shared/commands/which.ts';

const folder = fileURLToPath(new URL('../../src/loader/', import.meta.url));
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

test('the oldest Node can parse the loader', () => {
  const text = program('loader');
  expect(() => transformSync(text, { target: 'es5' })).not.toThrow();
  expect(text).not.toMatch(/=>|`|\?\.[a-z]/);
});

test('the loader leaves room for its arguments in the longest command of dropbear', () => {
  expect(loaderArgument()).not.toMatch(/['\\!\n]/);
  expect(decodeURIComponent(loaderArgument())).toBe(program('loader'));
  expect(loaderArgument().length + program('find-node').length).toBeLessThan(7000);
});
