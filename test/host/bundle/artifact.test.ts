import {
  chmodSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { engineHash } from '../../../src/bundle/cache/code-cache.ts';
import { workshop } from '../../bundle/workshop.ts';

const greet = `
import { __grains__, __salt__, type StateReturn } from 'tsalt-ssh/module';
/**
 * Greets.
 * @param name whom
 */
export async function hello(name: string, { loud = false, times = 1 }: { loud?: boolean; times?: number } = {}) {
  return Array(times).fill(loud ? name.toUpperCase() : name).join(' ') + ' on ' + __grains__.os;
}
export async function twice(name: string) {
  return __salt__['greet.hello'](name, { times: 2 });
}
export const _private = () => 1;
`;

test('an artifact runs a module that a user wrote, with its arguments bound', {
  tags: 'slow',
}, async () => {
  const { open } = workshop({ 'salt/_modules/greet.ts': greet });
  const { registry, run } = await open();
  await run({}, async () => {
    const found = await registry.resolve('exec', 'greet.hello');
    expect(found.ok && (await found.call(['bob'], { loud: 'yes', times: '2' }))).toBe(
      'BOB BOB on Debian',
    );
    expect(await registry.salt['greet.twice']?.('al')).toBe('al al on Debian');
  });
});

/** Bundling all built-in modules takes seconds: tests of the user's modules need few of them. */
const few = { builtins: ['cmd', 'test'] };

test("the classes of a user's module keep their names", async () => {
  const { open } = workshop(
    {
      'salt/_modules/shapes.ts': `
class LocalCircle {}
export const nameOf = () => new LocalCircle().constructor.name;
`,
    },
    few,
  );
  const { registry, run } = await open();
  await run({}, async () => {
    expect(await registry.salt['shapes.nameOf']?.()).toBe('LocalCircle');
  });
});

test('a module nobody asks for is not evaluated', async () => {
  const { open } = workshop(
    {
      'salt/_modules/greet.ts': greet,
      'salt/_modules/boom.ts': 'throw new Error("evaluated"); export const x = () => 1;',
    },
    few,
  );
  const { registry, run, evaluated } = await open();
  await run({}, () => registry.resolve('exec', 'greet.hello'));
  expect(evaluated).toEqual(['greet']);
});

test('an unchanged artifact is not built again', async () => {
  const { build } = workshop({ 'salt/_modules/greet.ts': greet }, few);
  const first = await build();
  const { mtimeMs } = statSync(first.path);
  const second = await build();
  expect(second.sha256).toBe(first.sha256);
  expect(statSync(second.path).mtimeMs).toBe(mtimeMs);
});

test('a changed, a new, a linked and a removed module are noticed', { tags: 'slow' }, async () => {
  const { build, dir, write } = workshop({ 'salt/_modules/greet.ts': greet }, few);
  const names = async (): Promise<string[]> =>
    (await build()).modules.filter(module => !module.builtin).map(module => module.file);
  const before = await build();
  write({ 'salt/_modules/greet.ts': greet.replace(' on ', ' at ') });
  expect((await build()).sha256).not.toBe(before.sha256);
  write({ 'salt/_modules/other.mjs': 'export const x = () => 1;' });
  expect(await names()).toEqual(['greet', 'other']);
  symlinkSync(join(dir, 'elsewhere.ts'), join(dir, 'salt/_modules/linked.ts'));
  expect(await names()).toEqual(['greet', 'other']);
  write({ 'elsewhere.ts': 'export const x = () => 1;', 'dev/_modules/deep/er.ts': greet });
  expect(await names()).toEqual(['greet', 'linked', 'other', 'deep.er']);
  rmSync(join(dir, 'salt/_modules/other.mjs'));
  expect(await names()).toEqual(['greet', 'linked', 'deep.er']);
});

test('the compressed artifact is the artifact', async () => {
  const { build } = workshop({ 'salt/_modules/greet.ts': greet }, few);
  const artifact = await build();
  const text = brotliDecompressSync(await artifact.compressed());
  expect(text.equals(readFileSync(artifact.path))).toBe(true);
  expect(statSync(artifact.path).mode & 0o077).toBe(0);
});

test('a module that cannot be parsed or bundled is left out with its place, the rest works', async () => {
  const { open, build } = workshop(
    {
      'salt/_modules/greet.ts': greet,
      'salt/_modules/typo.ts': 'export const x = () => {\n  return 1 +;\n};',
      'salt/_modules/needs.ts': "import { a } from 'no-such-package';\nexport const x = () => a;",
      'salt/_modules/thrower.ts': "throw new Error('no cheese');\nexport const x = () => 1;",
      'salt/_modules/snake.py': 'def x(): pass',
    },
    few,
  );
  const { registry, run } = await open();
  const reason = (name: string): Promise<string> =>
    run({}, async () => {
      const found = await registry.resolve('exec', name);
      return found.ok ? 'ok' : found.reason;
    });
  expect(await reason('greet.hello')).toBe('ok');
  expect(await reason('typo.x')).toMatch(/^'typo\.x' is not available: .*typo\.ts:2:13\)$/);
  expect(await reason('needs.x')).toMatch(/no-such-package.*needs\.ts:1:19\)$/);
  expect(await reason('thrower.x')).toMatch(
    /^'thrower\.x' is not available: no cheese \(.*thrower\.ts\)$/,
  );
  expect(await reason('snake.x')).toMatch(/Python/);
  expect(await reason('nosuch.x')).toBe("'nosuch.x' is not available.");
  const artifact = await build();
  const broken = artifact.modules.filter(module => module.broken).map(module => module.file);
  expect(broken.sort()).toEqual(['needs', 'snake', 'typo']);
});

test('the Python of the ufw formula does not hide the module that is built in for it', {
  tags: 'slow',
}, async () => {
  const { build } = workshop({
    'salt/_modules/ufw.py': 'def add_rule(): pass',
    'salt/_states/ufw.py': 'def allow(): pass',
    'salt/_states/pip.py': 'def installed(): pass',
  });
  const { modules } = await build();
  expect(modules.filter(({ broken }) => broken).map(({ file }) => file)).toEqual(['pip']);
});

test('an artifact that was not used for a month is removed with its parts when another is built', async () => {
  const { build, write } = workshop({ 'salt/_modules/greet.ts': greet }, few);
  const old = await build();
  await old.compressed();
  await old.codeCache?.take(engineHash());
  await old.codeCache?.finish(new AbortController().signal);
  const folder = dirname(old.path);
  const partsOf = (sha: string) => readdirSync(folder).filter(name => name.startsWith(sha));
  const kindsOf = (sha: string) =>
    partsOf(sha)
      .map(name => extname(name).replace(/-.*/, ''))
      .sort();
  expect(kindsOf(old.sha256)).toEqual(['.br', '.code', '.js', '.map', '.meta']);
  write({ 'salt/_modules/greet.ts': greet.replace(' on ', ' at ') });
  const second = await build();
  expect(kindsOf(old.sha256)).toHaveLength(5);
  const longAgo = new Date(Date.now() - 40 * 24 * 3600 * 1000);
  for (const name of partsOf(old.sha256)) utimesSync(join(folder, name), longAgo, longAgo);
  write({ 'salt/_modules/greet.ts': greet.replace(' on ', ' in ') });
  await build();
  expect(partsOf(old.sha256)).toEqual([]);
  expect(kindsOf(second.sha256)).toEqual(['.js', '.map', '.meta']);
});

test('a package that appears heals the module that lacked it', async () => {
  const { build, write } = workshop(
    {
      'salt/_modules/needs.ts': "import { a } from 'late';\nexport const x = () => a;",
    },
    few,
  );
  const reason = async () => (await build()).modules.find(({ file }) => file === 'needs')?.broken;
  expect(await reason()).toMatch(/late/);
  write({ 'salt/node_modules/late/index.js': 'exports.a = 1;' });
  expect(await reason()).toBeUndefined();
});

test('a cache folder that others may write is refused', async () => {
  const { build, dir } = workshop({ 'cache/artifacts/x': '' });
  chmodSync(join(dir, 'cache'), 0o777);
  await expect(build()).rejects.toThrow(/is not a private folder of yours/);
});
