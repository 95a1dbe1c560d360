// @module-tag slow
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { showError, TsaltError } from '../../../src/protocol/error.ts';
import { openRuntime } from '../../../src/transport/bootstrap.ts';
import { readMirrors } from '../../../src/transport/node-mirror.ts';
import { isLocalTarget, type NodeSource, nodeSource } from '../../../src/transport/node-source.ts';
import { openTransport } from '../../../src/transport/open-transport.ts';
import { scratch, startTestHost, type TestHost } from '../../helpers/hosts.ts';
import { tinyArtifact } from '../../helpers/tiny-artifact.ts';

const { path: dir, remove } = scratch('tsalt-bring');
const target = `linux-${process.arch}` as 'linux-x64' | 'linux-arm64';
const tools =
  'cat chmod curl df find gzip head id ls mkdir mv openssl rm sh sha256sum tail tar uname'.split(
    ' ',
  );
const missing =
  isLocalTarget(target) && existsSync('/usr/bin/curl') ? '' : ' (needs curl and an official Node)';

let server: Server;
let base = '';
let hash = '';
const asked: string[] = [];

beforeAll(async () => {
  if (missing) return;
  const folder = join(dir, 'node-v22.0.0-test');
  mkdirSync(join(folder, 'bin'), { recursive: true });
  symlinkSync(realpathSync(process.execPath), join(folder, 'bin/node'));
  const archive = join(dir, 'node-v22.0.0-test.tar.gz');
  execFileSync('tar', ['-C', dir, '-I', 'gzip -1', '-chf', archive, 'node-v22.0.0-test']);
  hash = createHash('sha256').update(readFileSync(archive)).digest('hex');
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url?.endsWith('.tar.gz')) createReadStream(archive).pipe(response);
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}, 240_000);
afterAll(() => {
  server?.close();
  remove();
});

/** A host whose programs are these, and whose Node is the given script, if any. */
const bareHost = async (name: string, node?: string | Buffer): Promise<TestHost> => {
  const bin = join(dir, `bin-${name}`);
  mkdirSync(bin);
  for (const tool of tools)
    for (const place of ['/bin', '/usr/bin'])
      if (existsSync(`${place}/${tool}`) && !existsSync(`${bin}/${tool}`))
        symlinkSync(`${place}/${tool}`, `${bin}/${tool}`);
  if (node !== undefined) writeFileSync(join(bin, 'node'), node, { mode: 0o755 });
  return await startTestHost({ env: { PATH: `${bin}:/usr/sbin` } });
};

const begin = async (
  subject: TestHost,
  source: NodeSource,
): Promise<{ node: string; path: string }> => {
  const transport = openTransport({ knownHostsFiles: [subject.knownHosts], sshConfig: false });
  const connection = await transport.connect(subject.host);
  try {
    const link = await openRuntime({
      connection,
      host: subject.host,
      artifact: await tinyArtifact(),
      nodeSource: source,
      handlers: {},
      events: {},
    });
    const { argv } = await link.peer.request<{ argv: string[] }>('env', {});
    link.close();
    return { node: link.node, path: argv[0] ?? '' };
  } finally {
    connection.close();
  }
};

const withMirror = (url: string, sha256 = hash): NodeSource =>
  nodeSource({ cacheDir: join(dir, 'cache'), mirrors: readMirrors({ [target]: { url, sha256 } }) });

describe.skipIf(missing)(`bringing Node to a host${missing}`, () => {
  test('a host without Node downloads it from the mirror, checks it, and has it the next time', async () => {
    const subject = await bareHost('mirror');
    const workspace = join(subject.home, '.cache/tsalt-ssh');
    mkdirSync(join(workspace, '.pre-flight-old'), { recursive: true, mode: 0o700 });
    chmodSync(workspace, 0o700);
    for (const name of ['.node-1.tgz', '.node-2']) writeFileSync(join(workspace, name), 'half');
    const hours = (ago: number): Date => new Date(Date.now() - ago * 3_600_000);
    for (const name of ['.node-1.tgz', '.pre-flight-old'])
      utimesSync(join(workspace, name), hours(2), hours(2));
    const source = withMirror(`${base}/node-v22.0.0-test.tar.gz`);
    const { node, path } = await begin(subject, source);
    expect(node).toBe(process.version);
    expect(path).toBe(join(subject.home, `.cache/tsalt-ssh/node-${hash}`));
    // Remains of killed runs are removed; files of a possible running one stay.
    expect(readdirSync(workspace).filter(file => file.startsWith('.'))).toEqual(['.node-2']);
    const count = asked.length;
    await begin(subject, source);
    expect(asked).toHaveLength(count);
    expect(existsSync(join(dir, 'cache'))).toBe(false);
    await subject.close();
  });

  test('a download from the mirror is not run if its hash differs', async () => {
    const subject = await bareHost('wrong');
    const source = withMirror(`${base}/node-v22.0.0-test.tar.gz`, '0'.repeat(64));
    const error = await begin(subject, source).catch((fault: unknown) => fault as TsaltError);
    expect(error).toBeInstanceOf(TsaltError);
    expect(showError(error as TsaltError)).toContain('has a different hash; it was not run');
    expect(readdirSync(join(subject.home, '.cache/tsalt-ssh'))).toEqual([]);
    await subject.close();
  });

  test('an unreachable mirror is not fatal: Node is sent from here', async () => {
    const subject = await bareHost('fallback');
    const { path } = await begin(
      subject,
      withMirror(
        `${base}/gone/node-v1.tar.gz.tar.gz`
          .replace('.tar.gz.tar.gz', '.tar.gz')
          .replace(base, 'http://127.0.0.1:9'),
      ),
    );
    expect(path).toMatch(/tsalt-ssh\/node-[0-9a-f]{64}$/);
    await subject.close();
  }, 240_000);

  test.each([
    ['ends without a word', '#!/bin/sh\nexit 1\n'],
    ['is cut off', readFileSync(process.execPath).subarray(0, 4096)],
    ['is no program', 'hello\n'],
    ['crashes', '#!/bin/sh\nkill -SEGV $$\n'],
  ])('a node on PATH that %s is passed over: the host gets one', async (what, node) => {
    const subject = await bareHost(what.replaceAll(' ', '-'), node);
    const { path } = await begin(subject, withMirror(`${base}/node-v22.0.0-test.tar.gz`));
    expect(path).toMatch(/tsalt-ssh\/node-[0-9a-f]{64}$/);
    await subject.close();
  });

  test('a Node that is too old is the same as none', async () => {
    const old = join(dir, 'old.cjs');
    writeFileSync(
      old,
      "for (const [key, value] of [['version', 'v12.22.12']]) Object.defineProperty(process, key, { value });\nObject.defineProperty(process.versions, 'node', { value: '12.22.12' });\n",
    );
    const subject = await bareHost('old', `#!/bin/sh\nexec ${process.execPath} -r ${old} "$@"\n`);
    const { node, path } = await begin(subject, withMirror(`${base}/node-v22.0.0-test.tar.gz`));
    expect(node).toBe(process.version);
    expect(path).toMatch(/tsalt-ssh\/node-[0-9a-f]{64}$/);
    await subject.close();
  });
});

test.each([
  { 'linux-x64': { url: 'https://x/node.tar.gz' } },
  { 'linux-x64': { url: "https://x/a';id;'.tar.gz", sha256: '0'.repeat(64) } },
  { 'linux-x64': { url: 'file:///etc/node.tar.gz', sha256: '0'.repeat(64) } },
  { 'linux-x64': { url: 'https://x/node.zip', sha256: '0'.repeat(64) } },
  { 'windows-x64': { url: 'https://x/node.tar.gz', sha256: '0'.repeat(64) } },
  { 'linux-x64': 'https://x/node.tar.gz' },
])('node_mirror %j is refused', value => {
  expect(() => readMirrors(value)).toThrow(/node_mirror/);
});
