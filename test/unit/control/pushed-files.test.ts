import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pushHandler } from '../../../src/control/serve/pushed-files.ts';
import { push, push_dir } from '../../../src/modules/file/exec/cp/push.ts';
import type { ControlMethods } from '../../../src/protocol/job.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, within } from '../../modules/_context.ts';

type Push = ControlMethods['file.push'];
type Take = (push: Push) => Promise<null>;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tsalt-push-'));
});
afterEach(() => removeFolder(root));

const cache = (): string => join(root, 'cache');
const place = (...parts: string[]): string => join(cache(), 'minions/web1/files', ...parts);
const handler = (options: object = {}, id = 'web1'): Take =>
  pushHandler(
    { cachedir: cache(), file_recv: true, file_recv_max_size: 1, ...options },
    id,
  ) as unknown as Take;

const whole = (path: readonly string[], text = 'x'): Push => ({
  path,
  offset: 0,
  size: Buffer.byteLength(text),
  data: Buffer.from(text).toString('base64'),
});

/** Runs a function of the host whose requests go to the real handler. */
const onHost = <T>(take: Take, work: () => Promise<T>): Promise<T> => {
  const request = (_: string, params: unknown) => take(params as Push);
  return within({ ...contextOf({}), control: { request: request as never } }, work);
};

test('cp.push sends a file in pieces; it lands below the folder of its host, private', async () => {
  const text = 'line\n'.repeat(100_000);
  writeFileSync(join(root, 'file'), text);
  expect(await onHost(handler(), () => push(join(root, 'file')))).toBe(true);
  const target = place(...root.split('/').filter(Boolean), 'file');
  expect(readFileSync(target, 'utf8')).toBe(text);
  expect(statSync(target).mode & 0o777).toBe(0o600);
  expect(statSync(place()).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(cache(), 'minions/web1'))).toEqual(['files']);
});

test('cp.push renames a file, sends an empty one, follows links and removes its source', async () => {
  writeFileSync(join(root, 'file'), '');
  symlinkSync('file', join(root, 'link'));
  await onHost(handler(), async () => {
    expect(await push(join(root, 'link'), { upload_path: '/named/it' })).toBe(true);
    expect(await push(join(root, 'link'), { upload_path: 'up/../../it' })).toBe(false);
    expect(await push(join(root, 'none'))).toBe(false);
    expect(await push(`${root}/../${root}/file`)).toBe(false);
    expect(await push('file')).toBe(false);
    expect(await push(join(root, 'file'), { remove_source: true })).toBe(true);
  });
  expect(readFileSync(place('named/it'), 'utf8')).toBe('');
  expect(existsSync(join(root, 'file'))).toBe(false);
});

test('cp.push_dir sends the files of a folder that a glob names', async () => {
  mkdirSync(join(root, 'in/sub'), { recursive: true });
  for (const name of ['a.conf', 'b.txt', 'sub/c.conf']) writeFileSync(join(root, 'in', name), name);
  await onHost(handler(), async () => {
    const options = { glob: '*.conf', upload_path: '/up' };
    expect(await push_dir(join(root, 'in'), options)).toBe(true);
    expect(await push_dir(join(root, 'in'), { glob: '*.none' })).toBe(false);
  });
  expect(readdirSync(place('up'), { recursive: true }).sort()).toEqual([
    'a.conf',
    'sub',
    'sub/c.conf',
  ]);
});

test('nothing is taken unless file_recv says so, and nothing larger than file_recv_max_size', async () => {
  writeFileSync(join(root, 'file'), 'x'.repeat(1024 * 1024 + 1));
  await expect(
    onHost(handler({ file_recv: false }), () => push(join(root, 'file'))),
  ).rejects.toThrow('file_recv is not true in tsalt.yaml');
  await expect(onHost(handler(), () => push(join(root, 'file')))).rejects.toThrow(
    'file_recv_max_size allows 1048576',
  );
  expect(existsSync(join(cache(), 'minions'))).toBe(false);
});

test.each<[string, readonly unknown[]]>([
  ['a way up', ['..', '..', '..', '.ssh', 'authorized_keys']],
  ['a way up inside', ['a', '..', '..', 'b']],
  ['a separator in a name', ['../../../etc/cron.d/x']],
  ['an absolute name', ['/etc/passwd']],
  ['a backslash', ['a\\b']],
  ['a NUL', ['a\0b']],
  ['an empty name', ['a', '']],
  ['the folder itself', ['.']],
  ['no name', []],
  ['no text', [{ length: 1 }]],
  ['a name that is too long', ['x'.repeat(256)]],
  ['too many folders', Array(101).fill('a')],
])('%s is refused before anything is written', async (_, path) => {
  await expect(handler()(whole(path as string[]))).rejects.toThrow('The file was not taken');
  expect(existsSync(cache())).toBe(false);
});

test.each(['..', '.', 'a/b', ''])('a host by the name of "%s" has no folder', async id => {
  await expect(handler({}, id)(whole(['x']))).rejects.toThrow('cannot be the name of a folder');
  expect(existsSync(cache())).toBe(false);
});

test('a link that leads out is not followed', async () => {
  const take = handler();
  await take(whole(['first']));
  mkdirSync(join(root, 'out'));
  symlinkSync(join(root, 'out'), place('dir'));
  await expect(take(whole(['dir', 'x']))).rejects.toThrow();
  symlinkSync(join(root, 'out/target'), place('link'));
  await take(whole(['link']));
  expect(readdirSync(join(root, 'out'))).toEqual([]);
  expect(readFileSync(place('link'), 'utf8')).toBe('x');
});

test.each<[string, (size: number) => Push[]]>([
  ['more than was said', () => [{ ...whole(['f'], 'xxxx'), size: 2 }]],
  [
    'a piece that does not follow',
    size => [
      { ...whole(['f'], 'xx'), size },
      { ...whole(['f'], 'xx'), offset: 3, size },
    ],
  ],
  ['a piece of no file', size => [{ ...whole(['f'], 'xx'), offset: 2, size }]],
  [
    'a piece of another file',
    size => [
      { ...whole(['f'], 'xx'), size },
      { ...whole(['g'], 'xx'), offset: 2, size },
    ],
  ],
  [
    'another size',
    size => [
      { ...whole(['f'], 'xx'), size },
      { ...whole(['f'], 'xx'), offset: 2, size: size + 1 },
    ],
  ],
  [
    'an empty piece',
    size => [
      { ...whole(['f'], 'xx'), size },
      { ...whole(['f'], ''), offset: 2, size },
    ],
  ],
  ['a size that is none', size => [{ ...whole(['f']), size: -size }]],
])('%s is refused and leaves no file behind', async (_, pieces) => {
  const take = handler();
  await expect(Promise.all(pieces(8).map(piece => take(piece)))).rejects.toThrow(
    'The file was not taken',
  );
  await take(whole(['after']));
  expect(readdirSync(join(cache(), 'minions/web1'))).toEqual(['files']);
  expect(readdirSync(place())).toEqual(['after']);
});

test('a file and a folder do not take each other’s place', async () => {
  const take = handler();
  await take(whole(['a', 'b']));
  await expect(take(whole(['a']))).rejects.toThrow('a folder of that name exists');
  await expect(take(whole(['a', 'b', 'c']))).rejects.toThrow('one of its folders is a file here');
  expect(readFileSync(place('a/b'), 'utf8')).toBe('x');
  expect(readdirSync(join(cache(), 'minions/web1'))).toEqual(['files']);
});
