import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { showError } from '../../../src/protocol/error.ts';
import { unpackNode } from '../../../src/transport/fetch-node.ts';
import { isLocalTarget, nodeSource, targetOf } from '../../../src/transport/node-source.ts';
import { scratch } from '../../helpers/hosts.ts';

const { path: dir, remove } = scratch();
afterAll(remove);
const linux = { os: 'Linux', arch: 'x86_64', libc: 'glibc' } as const;

test.each([
  ['linux-x64', linux],
  ['linux-x64', { os: 'Linux', arch: 'x64', libc: 'unknown' }],
  ['linux-arm64', { os: 'Linux', arch: 'aarch64', libc: 'glibc' }],
  [undefined, { os: 'Linux', arch: 'x86_64', libc: 'musl' }],
  [undefined, { os: 'Linux', arch: 'armv7l', libc: 'glibc' }],
  [undefined, { os: 'FreeBSD', arch: 'amd64', libc: 'unknown' }],
] as const)('%s is what fits %j', (target, platform) => {
  expect(targetOf(platform)).toBe(target);
});

test('a platform that nothing fits is named with what to do', async () => {
  const source = nodeSource({ cacheDir: join(dir, 'none') });
  const musl = source.find({ os: 'Linux', arch: 'x86_64', libc: 'musl' }, 'web1');
  expect(showError(await musl.catch(error => error))).toBe(
    'web1: there is no Node, and none can be sent for Linux x86_64 with musl.\nInstall it there (apk add nodejs), or set node_bin in the roster to one.',
  );
  const old = source.find({ os: 'Linux', arch: 'ppc64', libc: 'glibc', have: 'v12.22.5' }, 'web1');
  expect(showError(await old.catch(error => error))).toBe(
    'web1: Node v12.22.5 is too old, and none can be sent for Linux ppc64.\nInstall Node 18 or later there, or set node_bin in the roster to one.',
  );
});

test('without leave to fetch, the missing binary is named', async () => {
  const source = nodeSource({ cacheDir: join(dir, 'offline'), mayFetch: false });
  const arm = source.find({ os: 'Linux', arch: 'aarch64', libc: 'glibc' }, 'web1');
  expect(showError(await arm.catch(error => error))).toBe(
    'web1: there is no Node, and this machine has none for linux-arm64.\nPrepare one by "tsalt-ssh node fetch linux-arm64", or set node_bin in the roster.',
  );
});

test.skipIf(!isLocalTarget('linux-x64'))(
  'the own binary is compressed once and kept by its hash',
  { tags: 'slow', timeout: 240_000 },
  async () => {
    const cacheDir = join(dir, 'own');
    const [first, same] = await Promise.all(
      [1, 2].map(() => nodeSource({ cacheDir }).find(linux, 'web1')),
    );
    expect(first?.sha256).toBe(
      createHash('sha256').update(readFileSync(process.execPath)).digest('hex'),
    );
    expect(same?.sha256).toBe(first?.sha256);
    const made = statSync(first?.gz ?? '');
    expect({ mode: made.mode & 0o777, size: made.size }).toEqual({
      mode: 0o600,
      size: first?.gzSize,
    });
    expect(
      createHash('sha256')
        .update(gunzipSync(readFileSync(first?.gz ?? '')))
        .digest('hex'),
    ).toBe(first?.sha256);
    const again = await nodeSource({ cacheDir }).find(linux, 'web2');
    expect(statSync(again.gz).mtimeMs).toBe(made.mtimeMs);
  },
);

test('a prepared binary in the cache comes before the own one', async () => {
  const cacheDir = join(dir, 'prepared');
  mkdirSync(join(cacheDir, 'node'), { recursive: true, mode: 0o700 });
  for (const version of ['v22.9.0', 'v22.10.0'])
    writeFileSync(join(cacheDir, 'node', `node-${version}-linux-x64`), version);
  const binary = await nodeSource({ cacheDir }).find(linux, 'web1');
  expect(binary.version).toBe('v22.10.0');
  expect(gunzipSync(readFileSync(binary.gz)).toString()).toBe('v22.10.0');
});

test('a cache that others can write is refused', async () => {
  const cacheDir = join(dir, 'open');
  mkdirSync(join(cacheDir, 'node'), { recursive: true });
  chmodSync(join(cacheDir, 'node'), 0o777);
  await expect(nodeSource({ cacheDir }).find(linux, 'web1')).rejects.toMatchObject({
    code: 'cache-unsafe',
  });
});

const aPackage = (
  name: string,
  files: Record<string, string | Buffer>,
): { file: string; integrity: string } => {
  const root = join(dir, name);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  const file = join(dir, `${name}.tgz`);
  execFileSync('tar', ['czf', file, '-C', root, 'package']);
  const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  return { file, integrity };
};

test('bin/node is taken out of a package, private and whole', async () => {
  const node = Buffer.alloc(1_234_567, 'node');
  const { file, integrity } = aPackage('good', {
    'package/LICENSE': 'x'.repeat(1000),
    'package/bin/node': node,
    'package/zzz': 'later',
  });
  const destination = join(dir, 'node-good');
  await unpackNode(file, integrity, destination);
  expect(readFileSync(destination).equals(node)).toBe(true);
  expect(statSync(destination).mode & 0o777).toBe(0o700);
});

test('a package with another hash is not unpacked', async () => {
  const { file } = aPackage('evil', { 'package/bin/node': 'evil' });
  const destination = join(dir, 'node-evil');
  await expect(unpackNode(file, 'sha512-AAAA', destination)).rejects.toMatchObject({
    code: 'node-integrity',
  });
  expect(existsSync(destination)).toBe(false);
});

test('a package without bin/node is refused', async () => {
  const { file, integrity } = aPackage('empty', { 'package/LICENSE': 'x' });
  await expect(unpackNode(file, integrity, join(dir, 'node-empty'))).rejects.toThrow('no bin/node');
  expect(existsSync(join(dir, 'node-empty'))).toBe(false);
});
