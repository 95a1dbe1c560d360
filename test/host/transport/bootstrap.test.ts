import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Host } from '../../../src/protocol/host.ts';
import { openRuntime } from '../../../src/transport/bootstrap.ts';
import { openTransport } from '../../../src/transport/open-transport.ts';
import type { Link, RuntimeOptions } from '../../../src/transport/runtime-link.ts';
import type { TransportOptions } from '../../../src/transport/transport.ts';
import { startTestHost, type TestHost } from '../../helpers/hosts.ts';
import { tinyArtifact } from '../../helpers/tiny-artifact.ts';

const commands: string[] = [];
let target: TestHost;
let artifact: Awaited<ReturnType<typeof tinyArtifact>>;

beforeAll(async () => {
  artifact = await tinyArtifact();
  target = await startTestHost({ onExec: command => commands.push(command) });
});
afterAll(() => target.close());

const open = async (
  host: Host,
  options: Partial<RuntimeOptions> = {},
  transport: TransportOptions = {},
): Promise<{ link: Link; done: () => void }> => {
  const opened = openTransport({
    knownHostsFiles: [target.knownHosts],
    sshConfig: false,
    env: {},
    ...transport,
  });
  const connection = await opened.connect(host);
  const link = await openRuntime({
    connection,
    host,
    artifact,
    handlers: {},
    events: {},
    ...options,
  });
  return {
    link,
    done: () => {
      link.close();
      connection.close();
      opened.close();
    },
  };
};

test('a runtime starts over one connection and one channel, first with the artifact sent, then without', async () => {
  const { counts } = target.server;
  const before = { ...counts };
  const cold = await open(target.host);
  expect(cold.link.cached).toBe(false);
  expect(await cold.link.peer.request('echo', { hello: 'ü' })).toEqual({ hello: 'ü' });
  cold.done();
  const warm = await open(target.host);
  expect(warm.link.cached).toBe(true);
  expect(await warm.link.peer.request('dir', {})).toBe(join(target.home, '.cache/tsalt-ssh'));
  warm.done();
  expect(counts.connections - before.connections).toBe(2);
  expect(counts.channels - before.channels).toBe(2);
});

test('an early request is answered, with or without the artifact on the host', async () => {
  for (const wipe of [true, false]) {
    const host = { ...target.host, thin_dir: join(target.home, `early-${wipe}`) };
    let answer: Promise<unknown> = Promise.resolve();
    const { done } = await open(host, {
      wipe,
      early: peer => {
        answer = peer.request('echo', 'early');
      },
    });
    expect(await answer).toBe('early');
    done();
  }
});

test('the workspace and all in it are private, and the artifact is there by its hash', async () => {
  const { done } = await open(target.host);
  done();
  const dir = join(target.home, '.cache/tsalt-ssh');
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(dir, `${artifact.sha256}.js`)).equals(artifact.text)).toBe(true);
});

test('the command that starts a runtime is short enough for dropbear, with words to spare', async () => {
  const { done } = await open({
    ...target.host,
    thin_dir: join(target.home, 'ws'),
    cmd_umask: '0022',
  });
  done();
  expect(commands.at(-1)).toContain('TSALT1-NONODE');
  expect(commands.at(-1)?.length).toBeLessThan(8500);
});

test('an artifact with letters beyond ASCII runs as it was written, sent and from the workspace', async () => {
  const letters = 'ä€😀';
  const text = Buffer.concat([Buffer.from(`process.env.LETTERS = '${letters}';\n`), artifact.text]);
  const other = {
    text,
    sha256: createHash('sha256').update(text).digest('hex'),
    size: text.length,
    compressed: () => promisify(brotliCompress)(text),
  };
  for (const cached of [false, true]) {
    const { link, done } = await open(target.host, { artifact: other });
    expect(link.cached).toBe(cached);
    expect(await link.peer.request('env', {})).toMatchObject({ LETTERS: letters });
    done();
  }
});

test('files of the workspace are hashed again when they have changed, also if size and times of modification are the same', {
  tags: 'slow',
}, async () => {
  const host = { ...target.host, thin_dir: join(target.home, 'checked') };
  const start = async (): Promise<boolean> => {
    const { link, done } = await open(host);
    expect(await link.peer.request('echo', 'there')).toBe('there');
    done();
    return link.cached;
  };
  const named = (ending: string): string => {
    const name = readdirSync(host.thin_dir).find(one => one.endsWith(ending));
    return name === undefined ? '' : join(host.thin_dir, name);
  };
  const spoil = (path: string): void => {
    // Node sets milliseconds only.
    execFileSync('cp', ['-p', path, join(target.home, 'as-before')]);
    const bytes = readFileSync(path);
    bytes.fill('!', 1000, 1100);
    writeFileSync(path, bytes);
    execFileSync('touch', ['-r', join(target.home, 'as-before'), path]);
  };
  const checkedStart = async (): Promise<void> => {
    // Files are trusted by their times only when these are older than a clock's tick.
    await expect.poll(() => named('.cache')).not.toBe('');
    await sleep(300);
    rmSync(named('.checked'), { force: true });
    expect(await start()).toBe(true);
    await expect.poll(() => named('.checked')).not.toBe('');
    expect(await start()).toBe(true);
  };
  expect(await start()).toBe(false);
  await checkedStart();
  spoil(named('.js'));
  expect(await start()).toBe(false);
  await checkedStart();
  spoil(named('.cache'));
  const spoiled = readFileSync(named('.cache'));
  expect(await start()).toBe(true);
  await expect.poll(() => readFileSync(named('.cache')).equals(spoiled)).toBe(false);
});

test('what others have in a thin_dir is neither run nor wiped', async () => {
  const thin_dir = join(target.home, 'shared');
  const mine = ['node-exporter', 'pre-flight-notes'];
  mkdirSync(thin_dir, { mode: 0o700 });
  for (const name of mine)
    writeFileSync(join(thin_dir, name), '#!/bin/sh\nexit 3\n', { mode: 0o700 });
  const { link, done } = await open({ ...target.host, thin_dir }, { wipe: true });
  expect(readdirSync(thin_dir).length).toBeGreaterThan(mine.length);
  await link.peer.request('dir', {});
  done();
  await expect.poll(() => readdirSync(thin_dir)).toEqual(mine);
});

test('wipe leaves nothing, unless disable_wipe keeps the workspace', async () => {
  for (const disable_wipe of [true, false]) {
    const host = { ...target.host, thin_dir: join(target.home, 'wiped'), disable_wipe };
    const { link, done } = await open(host, { wipe: true });
    expect(await link.peer.request('dir', {})).toBe(host.thin_dir);
    done();
    const left = (): boolean => existsSync(host.thin_dir);
    if (disable_wipe) await new Promise(resolve => setTimeout(resolve, 500));
    await expect.poll(left).toBe(disable_wipe);
  }
});

test('while this process stands still no link is lost', { tags: 'slow' }, async () => {
  const { link, done } = await open(target.host, { timeouts: { heartbeat: 2 } });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 8000);
  // Ending one takes a moment.
  for (let asked = 0; asked < 8; asked += 1) {
    await new Promise(resolve => setTimeout(resolve, 500));
    expect(await link.peer.request('echo', asked)).toBe(asked);
  }
  done();
});

test('a run that is cancelled between two steps goes no further, whichever they are', async () => {
  const cancelledAt = (when: (stop: () => void) => Partial<RuntimeOptions>): Promise<unknown> => {
    const stop = new AbortController();
    return open(target.host, { signal: stop.signal, ...when(() => stop.abort()) });
  };
  const cancelled = { code: 'cancelled' };
  await expect(cancelledAt(stop => ({ onSent: stop }))).rejects.toMatchObject(cancelled);
  for (const step of ['bootstrap', 'hello'])
    await expect(
      cancelledAt(stop => ({ onPhase: phase => (phase === step ? stop() : undefined) })),
    ).rejects.toMatchObject(cancelled);
});

test('where no workspace can be made, as in /proc, another place is taken or named', async () => {
  // Node's own way to make folders with those above them would never return here.
  await expect(open({ ...target.host, thin_dir: '/proc/tsalt/ws' })).rejects.toThrow(
    'There is no place for the workspace. Tried /proc/tsalt/ws: ENOENT.',
  );
  const lost = await startTestHost({ env: { HOME: '/proc' } });
  onTestFinished(lost.close);
  const known = { knownHostsFiles: [lost.knownHosts] };
  const { link, done } = await open(lost.host, { randomDir: true }, known);
  const dir = await link.peer.request<string>('dir', {});
  expect(dir).toMatch(/^\/var\/tmp\/tsalt-ssh-\d+-[0-9a-f]{16}$/);
  done();
  // It is outside of the test's folders, and the end of the server would kill who removes it.
  await expect.poll(() => existsSync(dir)).toBe(false);
});

test('a workspace is made with the folders above it, all private', async () => {
  const above = join(target.home, 'one');
  const { done } = await open({ ...target.host, thin_dir: join(above, 'two/three') });
  done();
  for (const path of ['', 'two', 'two/three'])
    expect(statSync(join(above, path)).mode & 0o777).toBe(0o700);
});
