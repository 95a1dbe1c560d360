import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { codeCacheOf, engineHash } from '../../../../src/bundle/cache/code-cache.ts';
import { sha256 } from '../../../../src/bundle/inputs.ts';
import { writePrivate } from '../../../../src/bundle/private-dir.ts';
import type { ArtifactCode } from '../../../../src/protocol/artifact.ts';
import type { Host } from '../../../../src/protocol/host.ts';
import { openRuntime } from '../../../../src/transport/bootstrap.ts';
import { openTransport } from '../../../../src/transport/open-transport.ts';
import { startTestHost, type TestHost } from '../../../helpers/hosts.ts';
import { tinyArtifact } from '../../../helpers/tiny-artifact.ts';

const never = new AbortController().signal;
let target: TestHost;
let artifact: Awaited<ReturnType<typeof tinyArtifact>>;
let number = 0;
/** The files of the control node; new in each test. */
let paths: { js: string; code: string };

beforeAll(async () => {
  artifact = await tinyArtifact();
  target = await startTestHost();
});
afterAll(() => target.close());
beforeEach(() => {
  number += 1;
  paths = {
    js: join(target.dir, `${number}.js`),
    code: join(target.dir, `${number}.code`),
  };
  writeFileSync(paths.js, artifact.text);
});

const codeCache = (): ArtifactCode => codeCacheOf(artifact.sha256, paths, writePrivate);

const keptFile = (): string | undefined =>
  readdirSync(target.dir).find(name => name.startsWith(`${number}.code`));

/** Makes the code cache, as the first run with a host that lacks the artifact does. */
const made = async (): Promise<Uint8Array> => {
  const first = codeCache();
  expect(await first.take(engineHash())).toBe(undefined);
  await first.finish(never);
  const bytes = await first.take(engineHash());
  if (!bytes) throw new Error('no code cache was made');
  return bytes;
};

const commandLines = (): string[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => {
      try {
        return [readFileSync(join('/proc', pid, 'cmdline'), 'utf8')];
      } catch {
        return [];
      }
    });
const makers = (): string[] => commandLines().filter(line => line.includes(paths.js));

/** Starts a runtime, which then ends. @returns what it found on the host */
const start = async (
  code: ArtifactCode | undefined,
  more: Partial<Host> = {},
): Promise<{ cached: boolean; compiled: boolean }> => {
  const host = { ...target.host, thin_dir: join(target.home, `ws${number}`), ...more };
  const known = join(target.dir, 'known_hosts');
  writeFileSync(known, `[127.0.0.1]:${host.port} ${target.server.hostKey}\n`);
  const opened = openTransport({ knownHostsFiles: [known], sshConfig: false, env: {} });
  const connection = await opened.connect(host);
  const link = await openRuntime({
    connection,
    host,
    artifact: { ...artifact, ...(code ? { codeCache: code } : {}) },
    handlers: {},
    events: {},
  });
  expect(await link.peer.request('echo', 'there')).toBe('there');
  link.close();
  connection.close();
  opened.close();
  return { cached: link.cached, compiled: link.compiled };
};

const ownCache = (): string | undefined => {
  const dir = join(target.home, `ws${number}`);
  const name = readdirSync(dir).find(one => one.endsWith('.cache'));
  return name === undefined ? undefined : join(dir, name);
};

const sends = (bytes: Uint8Array): ArtifactCode => ({
  take: async () => bytes,
  finish: async () => undefined,
});

test('a host with the same Node starts from the code cache that is sent, and makes its own for later runs', async () => {
  const sent = await made();
  expect(await start(codeCache())).toEqual({ cached: false, compiled: false });

  await expect.poll(ownCache).toBeDefined();
  const own = readFileSync(ownCache() ?? '');
  // It has the functions that the run called.
  expect(own.length).toBeGreaterThan(brotliDecompressSync(sent).length);
  expect(await start(undefined)).toEqual({ cached: true, compiled: false });
  expect(readFileSync(ownCache() ?? '').equals(own)).toBe(true);
});

/** V8 ignores bytes after a code cache. */
const megabytes = Buffer.alloc(32 * 1024 * 1024);
const hashed = (data: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(sha256(data), 'hex'), data]);

test.each<[string, (good: Buffer) => Uint8Array]>([
  ['that is not compressed', good => good],
  ['that is cut off', good => brotliCompressSync(good).subarray(0, -100)],
  ['with another hash', good => brotliCompressSync(good.fill(1, 100, 200))],
  [
    'that is too large',
    good => brotliCompressSync(hashed(Buffer.concat([good.subarray(32), megabytes]))),
  ],
  ['of another program', () => brotliCompressSync(hashed(new Script('1').createCachedData()))],
])('a code cache %s only costs time', async (_, damage) => {
  const code = sends(damage(brotliDecompressSync(await made())));
  expect(await start(code)).toEqual({ cached: false, compiled: true });
  await expect.poll(ownCache).toBeDefined();
  expect(await start(code)).toEqual({ cached: true, compiled: false });
});

test('a host with another Node compiles the artifact', async () => {
  await made();
  const preload = join(target.dir, 'preload.cjs');
  const node_bin = join(target.dir, 'other-node');
  writeFileSync(
    preload,
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, v8: '11.3' } });`,
  );
  writeFileSync(node_bin, `#!/bin/sh\nexec ${process.execPath} --require ${preload} "$@"\n`, {
    mode: 0o755,
  });
  expect(await start(codeCache(), { node_bin })).toEqual({ cached: false, compiled: true });
});

test('later runs use the file of the first one', async () => {
  const sent = await made();
  const file = join(target.dir, keptFile() ?? '');
  const { ino, mode } = statSync(file);
  expect(mode & 0o777).toBe(0o600);

  const later = codeCache();

  expect(Buffer.from((await later.take(engineHash())) ?? []).equals(sent)).toBe(true);
  expect(makers()).toEqual([]);
  await later.finish(never);
  expect(statSync(file).ino).toBe(ino);
});

test('one process makes the code cache, and has ended at the end of the run', async () => {
  const first = codeCache();
  for (const _ of [1, 2, 3]) expect(await first.take(engineHash())).toBe(undefined);
  expect(makers()).toHaveLength(1);
  await first.finish(never);
  expect(makers()).toEqual([]);
  expect(keptFile()).toBeDefined();
});

test('an interrupted run ends that process at once', async () => {
  const first = codeCache();
  await first.take(engineHash());
  const stop = new AbortController();
  const ended = first.finish(stop.signal);
  expect(makers()).toHaveLength(1);
  stop.abort();
  await ended;
  expect(makers()).toEqual([]);
  expect(keptFile()).toBe(undefined);
});

test('a host with another Node does not start that process', async () => {
  const first = codeCache();
  for (const engine of ['', 'a'.repeat(64), 1, undefined])
    expect(await first.take(engine)).toBe(undefined);
  expect(makers()).toEqual([]);
  await first.finish(never);
  expect(keptFile()).toBe(undefined);
});

test('a text that has changed since the artifact was built is not compiled', async () => {
  const first = codeCache();
  writeFileSync(paths.js, artifact.text.toString().replace('pong', 'pang'));
  await first.take(engineHash());
  await first.finish(never);
  expect(keptFile()).toBe(undefined);
});

test('where the code cache cannot be written, or made, the run goes on', async () => {
  const cannot = codeCacheOf(artifact.sha256, paths, () => Promise.reject(new Error('full')));
  await cannot.take(engineHash());
  await cannot.finish(never);
  expect(await cannot.take(engineHash())).toBeDefined();

  rmSync(paths.js);
  const lost = codeCache();
  expect(await lost.take(engineHash())).toBe(undefined);
  await lost.finish(never);
  expect(await lost.take(engineHash())).toBe(undefined);
  expect(existsSync(paths.js)).toBe(false);
});
