import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  type ReadStream,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FileRoots } from '../../../src/fileserver/file-roots.ts';
import { parseSaltUrl } from '../../../src/fileserver/url.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

const folder = (files: Readonly<Record<string, string>> = {}): string => {
  const root = mkdtempSync(join(tmpdir(), 'tsalt-roots-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
};

test('the first folder that has a file wins, and lists are joined', () => {
  const [a, b] = [
    folder({ 'x.sls': 'a', 'd/init.sls': '' }),
    folder({ 'x.sls': 'b', 'y.txt': 'y' }),
  ];
  const files = new FileRoots({ base: [a, b] });
  expect(files.read('x.sls')).toBe('a');
  expect(files.read('salt://y.txt')).toBe('y');
  expect(files.list()).toEqual(['d/init.sls', 'x.sls', 'y.txt']);
  expect(files.listDirs()).toEqual(['d']);
  expect(files.listStates()).toEqual(['d', 'x']);
  expect(files.find('x.sls')).toMatchObject({
    path: join(a, 'x.sls'),
    rel: 'x.sls',
    saltenv: 'base',
    size: 1,
  });
});

test('each saltenv has its roots; __env__ matches all others; a URL may name one', () => {
  const root = folder({ 'base/x': 'b', 'dev/x': 'd' });
  const files = new FileRoots({ base: [join(root, 'base')], __env__: [join(root, '__env__')] });
  expect(files.read('x', 'dev')).toBe('d');
  expect(files.read('salt://x?saltenv=dev')).toBe('d');
  expect(files.find('x', 'prod')).toBeUndefined();
  expect(files.find('x', '../base')).toBeUndefined();
  expect(files.envs()).toEqual(['__env__', 'base']);
});

test('a file that is missing is an error that says where it was looked for', () => {
  const root = folder();
  const files = new FileRoots({ base: [root] });
  expect(() => files.read('nope/x.sls')).toThrow("nope/x.sls was not found in saltenv 'base'.");
  expect(() => files.read('x', 'dev')).toThrow("x was not found in saltenv 'dev'.");
});

test('nothing outside of the roots is ever found', () => {
  const outside = folder({ secret: 's', 'd/f': 'x' });
  const root = folder({ 'a/x': '1' });
  symlinkSync(join(outside, 'secret'), join(root, 'link'));
  symlinkSync(join(outside, 'd'), join(root, 'dir'));
  symlinkSync('a/x', join(root, 'inner'));
  const files = new FileRoots({ base: [root] });
  for (const path of [
    '../secret',
    '/etc/passwd',
    'a/../../x',
    'link',
    'dir/f',
    'a\0/x',
    '',
    '.',
    '..',
    'a',
    'salt:///etc/passwd',
    'salt://../x',
  ])
    expect(files.find(path), path).toBeUndefined();
  expect(files.read('inner')).toBe('1');
  expect(files.read('a/../a/x')).toBe('1');
  expect(files.list()).toEqual(['a/x', 'inner']);
  expect([...files.listSymlinks()]).toEqual([['inner', 'a/x']]);
});

test('links in a circle end', () => {
  const root = folder({ 'a/x': '1' });
  symlinkSync('..', join(root, 'a/up'));
  expect(new FileRoots({ base: [root] }).list()).toEqual(['a/x']);
});

test('files that an editor has not saved yet are found and listed, but not through links out', async () => {
  const outside = folder();
  const [first, second] = [folder({ 'old.sls': 'saved' }), folder({ 'new.sls': 'second' })];
  symlinkSync(outside, join(first, 'link'));
  symlinkSync(join(outside, 'none'), join(first, 'dangling.sls'));
  const unsaved = new Map(
    [
      [join(first, 'old.sls'), 'typed'],
      [join(first, 'new.sls'), 'new'],
      [join(first, 'deep/er/init.sls'), ''],
      [join(first, 'link/x.sls'), 'outside'],
      [join(first, 'dangling.sls'), 'outside'],
      [join(first, 'old.sls/x.sls'), 'below a file'],
      [join(first, 'new.sls~'), 'ignored'],
      [join(outside, 'x.sls'), 'outside'],
      [join(first, 'missing/root/a.sls'), 'in a root to come'],
    ].map(([path = '', text = '']) => [path, text]),
  );
  const files = new FileRoots(
    { base: [first, second], other: [join(first, 'missing/root')] },
    { unsaved, file_ignore_glob: ['*~'] },
  );
  expect(files.listStates()).toEqual(['deep.er', 'missing.root.a', 'new', 'old']);
  expect(files.listStates('other')).toEqual(['a']);
  expect(files.read('new.sls')).toBe('new');
  expect(files.find('new.sls')).toMatchObject({ path: join(first, 'new.sls'), size: 3 });
  expect(files.read('old.sls')).toBe('typed');
  expect(await files.hash('new.sls')).toMatch(/^11507a0e/);
  for (const path of ['link/x.sls', 'dangling.sls', 'old.sls/x.sls', 'new.sls~', '../x.sls'])
    expect(files.find(path)).toBeUndefined();
});

test('ignored files are neither listed nor found', () => {
  const root = folder({ 'x.sls': '', 'x.swp': '', 'x.tmp': '', '.git/config': '' });
  const files = new FileRoots(
    { base: [root] },
    { file_ignore_glob: ['*.swp'], file_ignore_regex: ['^\\.git(/|$)', '(?i)\\.TMP\\Z'] },
  );
  expect(files.list()).toEqual(['x.sls']);
  expect(files.find('.git/config')).toBeUndefined();
  expect(() => new FileRoots({}, { file_ignore_regex: ['('] })).toThrow(
    "file_ignore_regex contains '('",
  );
});

test('hashes and texts follow a file that changed', async () => {
  const root = folder({ x: 'one' });
  const files = new FileRoots({ base: [root] });
  const first = await files.hash('x');
  expect(first).toBe('7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed');
  expect(files.read('x')).toBe('one');
  writeFileSync(join(root, 'x'), 'other');
  expect(await files.hash('x')).not.toBe(first);
  expect(files.read('x')).toBe('other');
});

test('a large file comes as a stream, a small one at once', async () => {
  const root = folder({ big: 'x'.repeat(3_000_000), small: 'y' });
  const files = new FileRoots({ base: [root] });
  const content = files.content('big');
  expect(content).not.toBeInstanceOf(Buffer);
  const sizes: number[] = [];
  for await (const chunk of content as AsyncIterable<Buffer>) sizes.push(chunk.length);
  expect(sizes.length).toBeGreaterThan(1);
  expect(sizes.reduce((a, b) => a + b)).toBe(3_000_000);
  expect(files.content('small')).toEqual(Buffer.from('y'));
  writeFileSync(join(root, 'small'), 'z'.repeat(1_000_000));
  const grown = files.content('small');
  expect(grown).not.toBeInstanceOf(Buffer);
  (grown as ReadStream).destroy();
});

test('a stream that its host left is harmless although its file is removed', async () => {
  const root = folder({ big: 'x'.repeat(3_000_000) });
  const stream = new FileRoots({ base: [root] }).content('big') as ReadStream;
  stream.destroy();
  rmSync(join(root, 'big'));

  const errors: unknown[] = [];
  stream.on('error', error => errors.push(error));
  await new Promise<void>(resolve => stream.once('close', () => resolve()));
  expect(errors).toEqual([]);
});

test('text that is not UTF-8 is refused by name, a byte order mark is dropped', () => {
  const root = folder({ ok: '\ufeffa' });
  writeFileSync(join(root, 'bad'), Buffer.from([0xff, 0xfe, 0x00]));
  const files = new FileRoots({ base: [root] });
  expect(files.read('ok')).toBe('a');
  expect(() => files.read('bad')).toThrow('bad is not UTF-8 text.');
});

test('folders that do not exist or cannot be read are empty', () => {
  const root = folder({ 'a/x': '' });
  chmodSync(join(root, 'a'), 0o700);
  expect(new FileRoots({ base: [join(root, 'nope')] }).list()).toEqual([]);
  expect(new FileRoots({ base: [join(root, 'nope'), root] }).list()).toEqual(['a/x']);
});

test('thousands of files are listed once and found fast', () => {
  const root = folder();
  for (let dir = 0; dir < 30; dir += 1) {
    mkdirSync(join(root, `d${dir}`));
    for (let file = 0; file < 100; file += 1) writeFileSync(join(root, `d${dir}/f${file}.sls`), '');
  }
  const files = new FileRoots({ base: [root] });
  const start = cpuTime();
  expect(files.list()).toHaveLength(3000);
  for (let round = 0; round < 100; round += 1) files.list();
  expect(cpuTime() - start).toBeLessThan(3000);
});

test.each([
  ['salt://a/b.txt', 'a/b.txt', undefined],
  ['salt://a?saltenv=dev', 'a', 'dev'],
  ['salt://a?env=dev', 'a', undefined],
  ['salt://|a?b', 'a?b', undefined],
  ['salt://|a?b?saltenv=dev', 'a?b', 'dev'],
  ['a?b', 'a?b', undefined],
])('%s names %s', (url, path, saltenv) => {
  expect(parseSaltUrl(url)).toEqual({ path, saltenv });
});

test('hosts that want the same file at once have it hashed once', async () => {
  const root = folder({ large: '' });
  const size = 64 * 1024 ** 2;
  truncateSync(join(root, 'large'), size);
  const files = new FileRoots({ base: [root] });
  const read = (): number =>
    Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
  const before = read();

  const hashes = await Promise.all(Array.from({ length: 50 }, () => files.hash('salt://large')));

  expect(new Set(hashes).size).toBe(1);
  expect(read() - before).toBeLessThan(size * 2);
});

test('a path that no system could open is not there, and is not remembered', () => {
  const files = new FileRoots({ base: [folder({ 'x.sls': '' })] });
  const begin = process.memoryUsage().heapUsed;
  for (let count = 0; count < 200; count += 1)
    expect(files.find(`${count}${'x'.repeat(1_000_000)}`)).toBeUndefined();

  expect(process.memoryUsage().heapUsed - begin).toBeLessThan(100_000_000);
  expect(files.find('x.sls')).toBeDefined();
});
