import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeCompressed } from '../../../scripts/compressed-program.ts';
import { packageRoot } from '../../helpers/cli.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

let dir = '';
const days = 24 * 3600;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tsalt-launcher-'));
});
afterEach(() => removeFolder(dir));

/** An install whose program is a line of its own. */
const install = (name: string, line = 'console.log(1);'): string => {
  const folder = join(dir, name);
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(packageRoot, 'scripts/launcher.cjs'), join(folder, 'tsalt-ssh.cjs'));
  writeFileSync(join(folder, 'main.cjs'), `exports.runCommandLine = () => { ${line} };`);
  return join(folder, 'tsalt-ssh.cjs');
};

const start = (program: string, ...args: string[]): string =>
  execFileSync(process.execPath, [program, ...args], {
    env: { ...process.env, XDG_CACHE_HOME: join(dir, 'cache') },
    encoding: 'utf8',
  }).trim();

const cacheDir = (): string => join(dir, 'cache/tsalt-ssh');
const caches = (): string[] => readdirSync(cacheDir()).sort();
const age = (name: string, by: number): void => {
  const then = Date.now() / 1000 - by;
  utimesSync(join(cacheDir(), name), then, then);
};

test('two installs keep their code caches side by side', () => {
  const [one, two] = [install('one'), install('two')];

  start(one);
  const first = caches();
  start(two);
  start(one);

  expect(first).toHaveLength(1);
  expect(caches()).toHaveLength(2);
  expect(caches()).toEqual(expect.arrayContaining(first));
});

test('state runs and other calls have a cache each, written once', () => {
  const program = install('one');
  start(program, 'state.apply');
  start(program, 'test.ping');
  const stamps = (): number[] => caches().map(name => statSync(join(cacheDir(), name)).mtimeMs);
  const before = stamps();

  start(program, 'state.apply');
  start(program, 'test.ping');

  expect(before).toHaveLength(2);
  expect(stamps()).toEqual(before);
});

test('a large package beside the program has a cache of its own, and works without a launcher', () => {
  const program = install('one', "console.log(require('./queue.cjs').answer());");
  const beside = join(dir, 'one/queue.cjs');
  writeCompressed(beside, 'exports.answer = () => 42;');
  expect(start(program)).toBe('42');
  const [own] = caches().filter(name => name.endsWith('-queue.cache'));
  const file = join(cacheDir(), own ?? '');
  const before = statSync(file).mtimeMs;

  // A cache that V8 does not accept is written again.
  expect(start(program)).toBe('42');
  expect(statSync(file).mtimeMs).toBe(before);
  writeFileSync(file, 'of another V8');
  expect(start(program)).toBe('42');
  expect(statSync(file).size).toBeGreaterThan(100);

  const alone = `console.log(require(${JSON.stringify(beside)}).answer())`;
  expect(execFileSync(process.execPath, ['-e', alone], { encoding: 'utf8' }).trim()).toBe('42');
});

test('a new version in the same place replaces the caches of the old one', () => {
  start(install('one'));
  const [old] = caches();

  expect(start(install('one', 'console.log(22);'))).toBe('22');

  expect(caches()).toHaveLength(1);
  expect(caches()).not.toContain(old);
});

test('caches of installs that have not run for a month are removed, those in use are not', () => {
  const used = install('used');
  start(used);
  const [inUse = ''] = caches();
  age(inUse, 40 * days);
  start(used);
  mkdirSync(cacheDir(), { recursive: true });
  for (const name of ['cli-v20.1.0-12-34-state.cache', 'notes']) {
    writeFileSync(join(cacheDir(), name), '');
    age(name, 40 * days);
  }

  start(install('new'));

  expect(caches()).toHaveLength(3);
  expect(caches()).toEqual(expect.arrayContaining([inUse, 'notes']));
});
