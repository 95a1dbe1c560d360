import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { Secret } from '../../../src/protocol/host.ts';
import { openRuntime } from '../../../src/transport/bootstrap.ts';
import { openTransport } from '../../../src/transport/open-transport.ts';
import { fault } from '../../helpers/fault.ts';
import { aHost, scratch, startTestHost } from '../../helpers/hosts.ts';
import { hasSshd, startSshd } from '../../helpers/sshd.ts';
import { tinyArtifact } from '../../helpers/tiny-artifact.ts';

/** Begins on a host whose `sudo` ends like this; returns how often a password was asked for. */
const withSudo = async (words: string, status = 1) => {
  const { path, remove } = scratch();
  mkdirSync(join(path, 'bin'));
  const script = `#!/bin/sh\ncat <<'WORDS' >&2\n${words}\nWORDS\nexit ${status}\n`;
  writeFileSync(join(path, 'bin/sudo'), script, { mode: 0o755 });
  const subject = await startTestHost(
    { env: { PATH: `${join(path, 'bin')}:/usr/bin:/bin:/usr/sbin` } },
    { sudo: true },
  );
  const transport = openTransport({ knownHostsFiles: [subject.knownHosts], sshConfig: false });
  const connection = await transport.connect(subject.host);
  let asked = 0;
  const error = await fault(
    openRuntime({
      connection,
      host: subject.host,
      artifact: await tinyArtifact(),
      handlers: {},
      events: {},
      askSudoPassword: async () => {
        asked += 1;
        return new Secret('x');
      },
    }),
  );
  connection.close();
  await subject.close();
  remove();
  return { asked, kind: error.kind, code: error.code, excerpt: error.excerpt ?? '' };
};

test.each([
  ['deploy is not in the sudoers file.', 'sudo-refused'],
  ["Sorry, user deploy is not allowed to execute '/bin/sh' as root on web1.", 'sudo-refused'],
  ['sudo: /usr/bin/sudo must be owned by uid 0 and have the setuid bit set', 'sudo-refused'],
  ['sudo: unable to open /etc/sudoers: Permission denied', 'sudo-refused'],
  ['This account is currently not available.', 'bootstrap-ended'],
  ['Password change required but no TTY available.', 'bootstrap-ended'],
])('sudo that says %j is quoted, and no password is asked for', async (words, code) => {
  const { asked, kind, code: found, excerpt } = await withSudo(words);
  expect({ asked, kind, code: found }).toEqual({ asked: 0, kind: 'auth', code });
  expect(excerpt).toContain(words);
});

test.each([
  'sudo: a password is required',
  'sudo: interactive authentication is required',
  'sudo: Ein Passwort ist notwendig',
])('sudo that says %j has the user asked for the password', async words => {
  expect((await withSudo(words)).asked).toBe(1);
});

test('a command that ends with status 1 and no word was not refused by sudo', async () => {
  expect(await withSudo('')).toMatchObject({ asked: 0, code: 'bootstrap-ended', kind: 'host' });
});

test.skipIf(!hasSshd)(
  'with MaxSessions 1 the next command waits until sshd has noticed the end of the last (needs sshd)',
  async () => {
    const { path, remove } = scratch();
    const sshd = await startSshd({ dir: join(path, 'sshd'), config: ['MaxSessions 1'] });
    const known = join(path, 'known_hosts');
    writeFileSync(known, `[127.0.0.1]:${sshd.port} ${sshd.hostKeys[0]}\n`);
    const transport = openTransport({ knownHostsFiles: [known], sshConfig: false });
    const connection = await transport.connect(
      aHost({ port: sshd.port, user: sshd.user, priv: sshd.key }),
    );
    // The first one ends while the second is asked for.
    const first = await connection.exec('sleep 0.3');
    const second = await connection.exec('exit 7');
    for (const { stdout, stderr } of [first, second]) {
      stdout.resume();
      stderr.resume();
    }
    expect((await first.exited).code).toBe(0);
    expect((await second.exited).code).toBe(7);
    connection.close();
    await sshd.close();
    remove();
  },
);

/** Passes on what comes, some bytes in each tick. */
const slowProxy = async (port: number, bytesPerTick: number) => {
  const server = createServer(socket => {
    const behind = createConnection(port, '127.0.0.1');
    const queue: Buffer[] = [];
    const timer = setInterval(() => {
      const all = Buffer.concat(queue.splice(0));
      behind.write(all.subarray(0, bytesPerTick));
      if (all.length > bytesPerTick) queue.push(all.subarray(bytesPerTick));
    }, 10);
    socket.on('data', chunk => queue.push(chunk));
    behind.pipe(socket);
    for (const one of [socket, behind]) one.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(timer);
      behind.destroy();
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return server;
};

test('an artifact takes longer over a slow link than a host has to answer', {
  tags: 'slow',
}, async () => {
  const subject = await startTestHost();
  const proxy = await slowProxy(subject.server.port, 100);
  const { port } = proxy.address() as { port: number };
  writeFileSync(subject.knownHosts, `[127.0.0.1]:${port} ${subject.server.hostKey}\n`);
  const transport = openTransport({ knownHostsFiles: [subject.knownHosts], sshConfig: false });
  const host = { ...subject.host, port };
  const connection = await transport.connect(host);
  const tiny = await tinyArtifact();
  const text = Buffer.concat([
    tiny.text,
    Buffer.from(`\n//${randomBytes(50_000).toString('hex')}`),
  ]);
  const artifact = {
    sha256: createHash('sha256').update(text).digest('hex'),
    size: text.length,
    compressed: async () => brotliCompressSync(text),
  };
  const link = await openRuntime({
    connection,
    host,
    artifact,
    timeouts: { hello: 2 },
    handlers: {},
    events: {},
  });
  expect(await link.peer.request('echo', 1)).toBe(1);
  link.close();
  connection.close();
  proxy.close();
  await subject.close();
});
