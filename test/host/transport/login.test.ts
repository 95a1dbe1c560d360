import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { showError } from '../../../src/protocol/error.ts';
import { type Host, Secret } from '../../../src/protocol/host.ts';
import { openTransport } from '../../../src/transport/open-transport.ts';
import type { SecretQuestion, TransportOptions } from '../../../src/transport/transport.ts';
import { type EmbeddedServerOptions, newKey } from '../../helpers/embedded-server.ts';
import { fault } from '../../helpers/fault.ts';
import { aHost, startTestHost, type TestHost } from '../../helpers/hosts.ts';
import { freePort } from '../../helpers/sshd.ts';

const open: TestHost[] = [];
afterEach(async () => {
  for (const target of open.splice(0)) await target.close();
});

const start = async (
  options: Partial<EmbeddedServerOptions> = {},
  entry: Partial<Host> = {},
): Promise<TestHost> => {
  const target = await startTestHost(options, entry);
  open.push(target);
  return target;
};

const connect = async (
  target: TestHost,
  given: Partial<Host> = {},
  options: TransportOptions = {},
): Promise<void> => {
  const transport = openTransport({
    knownHostsFiles: [target.knownHosts],
    sshConfig: false,
    env: {},
    ...options,
  });
  try {
    (await transport.connect(given.host ? (given as Host) : { ...target.host, ...given })).close();
  } finally {
    transport.close();
  }
};

const withoutKey = ({ priv: _, ...host }: Host): Host => host;

test.each(['ed25519', 'ecdsa', 'rsa'] as const)(
  'one %s key logs in by one signed request',
  async type => {
    const key = newKey(type);
    const target = await start({ keys: [key.public] });
    writeFileSync(join(target.dir, 'id'), key.private);
    await connect(target);
    expect(target.server.counts.logins).toEqual(['publickey']);
  },
);

test('an encrypted key is opened by the passphrase of the roster', async () => {
  const key = newKey('ed25519', 'open sesame');
  const target = await start({ keys: [key.public] });
  writeFileSync(join(target.dir, 'id'), key.private);
  await connect(target, { priv_passwd: new Secret('open sesame') });
  const error = await fault(connect(target, { priv_passwd: new Secret('wrong') }));
  expect({ code: error.code, kind: error.kind }).toEqual({ code: 'key-passphrase', kind: 'auth' });
});

test('a passphrase is asked for once, however many hosts use the key', async () => {
  const key = newKey('ed25519', 'open sesame');
  const target = await start({ keys: [key.public] });
  writeFileSync(join(target.dir, 'id'), key.private);
  const questions: SecretQuestion[] = [];
  const transport = openTransport({
    knownHostsFiles: [target.knownHosts],
    sshConfig: false,
    env: {},
    ask: async question => {
      questions.push(question);
      return new Secret('open sesame');
    },
  });
  const hosts = ['a', 'b', 'c'].map(id => ({ ...target.host, id }));
  const connections = await Promise.all(hosts.map(host => transport.connect(host)));
  for (const connection of connections) connection.close();
  expect(questions.map(({ what }) => what)).toEqual(['passphrase']);
});

test('an encrypted key without anybody to ask is a fault of the login', async () => {
  const key = newKey('ed25519', 'open sesame');
  const target = await start({ keys: [key.public] });
  writeFileSync(join(target.dir, 'id'), key.private);
  expect(showError(await fault(connect(target)))).toBe(
    `The private key ${join(target.dir, 'id')} is encrypted.\nSet its passphrase as priv_passwd in the roster, or load the key into an agent.`,
  );
});

test('a password logs in where no key does', async () => {
  const target = await start({ password: 'hunter2' });
  await connect(target, { ...withoutKey(target.host), passwd: new Secret('hunter2') });
});

test('the configured key comes first, then the password', async () => {
  const target = await start({ keys: [newKey().public], password: 'hunter2' });
  await connect(target, { passwd: new Secret('hunter2') });
  expect(target.server.counts.logins).toEqual(['publickey', 'password']);
});

test('a password answers the prompt of keyboard-interactive too', async () => {
  const target = await start({ keys: [], password: 'hunter2', prompt: 'Kennwort: ' });
  await connect(target, { ...withoutKey(target.host), passwd: new Secret('hunter2') });
});

test('keyboard-interactive asks the person', async () => {
  const target = await start({ keys: [], password: '123456', prompt: 'Code\u001b[31m: ' });
  const asked: SecretQuestion[] = [];
  const host = withoutKey(target.host);
  const transport = openTransport({
    knownHostsFiles: [target.knownHosts],
    sshConfig: false,
    env: { HOME: target.dir },
    ask: async question => {
      asked.push(question);
      return new Secret('123456');
    },
  });
  (await transport.connect(host)).close();
  expect(asked).toEqual([{ host: 'web1', what: 'keyboard-interactive', prompt: 'web1: Code: ' }]);
});

test('a wrong password is a fault of the login, without the password in its text', async () => {
  const target = await start({ keys: [], password: 'hunter2' });
  const error = await fault(
    connect(target, { ...withoutKey(target.host), passwd: new Secret('hunter3') }),
  );
  expect(error.kind).toBe('auth');
  expect(showError(error)).toBe(
    'web1: login as tester was refused.\nTried: password. The host takes: password.',
  );
});

test('a key that is not taken is a fault of the login', async () => {
  const target = await start({ keys: [newKey().public] });
  const error = await fault(connect(target));
  expect(error.kind).toBe('auth');
  expect(showError(error)).toBe(
    'web1: login as tester was refused.\nTried: publickey. The host takes: publickey.',
  );
});

test('if a key is refused and a password would do, the ways to set one are named', async () => {
  const target = await start({ keys: [newKey().public], password: 'right' });
  const text = showError(await fault(connect(target)));
  expect(text).toContain('The host takes: publickey, password');
  expect(text).toContain('--askpass asks for the password, and --key-deploy brings the key there.');
});

test('a key file that is not there is named', async () => {
  const target = await start();
  const error = await fault(connect(target, { priv: '/nowhere/id' }));
  expect(error.kind).toBe('auth');
  expect(error.message).toBe('Cannot read the private key /nowhere/id: there is no such file.');
});

test('the usual identities are used where nothing is configured', async () => {
  const key = newKey();
  const target = await start({ keys: [key.public] });
  mkdirSync(join(target.dir, '.ssh'));
  writeFileSync(join(target.dir, '.ssh/id_ed25519'), key.private);
  const transport = openTransport({
    knownHostsFiles: [target.knownHosts],
    sshConfig: false,
    env: { HOME: target.dir },
  });
  (await transport.connect(withoutKey(target.host))).close();
});

test('without any key or password the fault says what the host takes', async () => {
  const target = await start();
  const transport = openTransport({
    knownHostsFiles: [target.knownHosts],
    sshConfig: false,
    env: { HOME: target.dir },
  });
  expect(showError(await fault(transport.connect(withoutKey(target.host))))).toBe(
    'web1: login as tester was refused.\nThere was no key or password to try. The host takes: publickey. ' +
      'Name a key by priv in the roster or --priv, start an agent, or use --askpass for a password.',
  );
});

test('an unknown host key stops before the login, and shows the fingerprint', async () => {
  const target = await start();
  writeFileSync(target.knownHosts, '');
  const error = await fault(connect(target));
  expect(error.kind).toBe('host-key');
  expect(error.message).toMatch(
    /^The key of \[127\.0\.0\.1\]:\d+ is not known: it shows ssh-ed25519 SHA256:[\w+/]{43}\.$/,
  );
  expect(target.server.counts.logins).toEqual([]);
});

test('--accept-new-host-keys writes an unknown key down, once', async () => {
  const target = await start();
  writeFileSync(target.knownHosts, '# mine');
  await connect(target, {}, { hostKeys: 'accept-new' });
  await connect(target);
  expect(readFileSync(target.knownHosts, 'utf8')).toBe(
    `# mine\n[127.0.0.1]:${target.server.port} ${target.server.hostKey}\n`,
  );
});

test('a run takes no second key for a name whose first one it has accepted', async () => {
  const [first, second] = [await start(), await start()];
  writeFileSync(first.knownHosts, '');
  const transport = openTransport({
    knownHostsFiles: [first.knownHosts],
    sshConfig: false,
    env: {},
    hostKeys: 'accept-new',
  });
  const ssh_options = ['HostKeyAlias=web1'];
  (await transport.connect({ ...first.host, ssh_options })).close();
  (await transport.connect({ ...first.host, ssh_options })).close();
  const error = await fault(transport.connect({ ...second.host, ssh_options }));
  expect(error.code).toBe('host-key-changed');
  expect(readFileSync(first.knownHosts, 'utf8')).toBe(`web1 ${first.server.hostKey}\n`);
  expect(second.server.counts.logins).toEqual([]);
});

test('a known_hosts that cannot be written is reported before the login', async () => {
  const target = await start();
  const file = join(target.dir, 'id', 'known_hosts');
  const error = await fault(
    connect(target, {}, { hostKeys: 'accept-new', knownHostsFiles: [file] }),
  );
  expect({ code: error.code, kind: error.kind }).toEqual({
    code: 'known-hosts-write',
    kind: 'host-key',
  });
  expect(error.message).toMatch(/^The key of \[127\.0\.0\.1\]:\d+ cannot be written to .*\.$/);
  expect(target.server.counts.logins).toEqual([]);
});

test.each(['strict', 'accept-new', 'ignore'] as const)(
  'a changed host key is refused in mode %s, before the login',
  async hostKeys => {
    const target = await start();
    const line = `[127.0.0.1]:${target.server.port} ${newKey().public}\n`;
    writeFileSync(target.knownHosts, line);
    const error = await fault(connect(target, {}, { hostKeys }));
    expect(error.kind).toBe('host-key');
    expect(error.message).toMatch(/^The key of \[127\.0\.0\.1\]:\d+ has changed: it shows /);
    expect(error.at).toEqual({ file: target.knownHosts, line: 1 });
    expect(readFileSync(target.knownHosts, 'utf8')).toBe(line);
    expect(target.server.counts.logins).toEqual([]);
  },
);

test('-i takes an unknown key and writes nothing', async () => {
  const target = await start();
  const file = join(target.dir, 'none');
  await connect(target, {}, { hostKeys: 'ignore', knownHostsFiles: [file] });
  expect(existsSync(file)).toBe(false);
});

test('a pinned key beats known_hosts, as fingerprint and as line', async () => {
  const target = await start();
  const { hostKey } = target.server;
  const { createHash } = await import('node:crypto');
  const print = createHash('sha256')
    .update(Buffer.from(hostKey.split(' ')[1] ?? '', 'base64'))
    .digest('base64')
    .replace(/=+$/, '');
  writeFileSync(target.knownHosts, '');
  await connect(target, { host_key: `SHA256:${print}` });
  await connect(target, { host_key: hostKey });
  for (const host_key of [newKey().public, 'SHA256:AAAA', '']) {
    const error = await fault(connect(target, { host_key }, { hostKeys: 'ignore' }));
    expect(error.code).toBe('host-key-pin');
  }
  expect(target.server.counts.logins).toHaveLength(2);
});

test('a host known by another kind of key is asked for that kind', async () => {
  const rsa = newKey('rsa');
  const target = await start({ hostKey: rsa.private });
  writeFileSync(target.knownHosts, `[127.0.0.1]:${target.server.port} ${rsa.public}\n`);
  await connect(target);
});

test('through a jump host: each hop is verified, one connection serves several hosts', async () => {
  const key = newKey();
  const jump = await start({ keys: [key.public] });
  const target = await start(
    { keys: [key.public] },
    { proxy_jump: `tester@127.0.0.1:${jump.server.port}` },
  );
  writeFileSync(join(target.dir, 'id'), key.private);
  const own = readFileSync(target.knownHosts, 'utf8');
  writeFileSync(target.knownHosts, `${readFileSync(jump.knownHosts, 'utf8')}${own}`);
  const transport = openTransport({
    knownHostsFiles: [target.knownHosts],
    sshConfig: false,
    env: {},
  });
  const hosts = ['a', 'b', 'c'].map(id => ({ ...target.host, id }));
  const connections = await Promise.all(hosts.map(host => transport.connect(host)));
  for (const connection of connections) connection.close();
  transport.close();
  expect(jump.server.counts.connections).toBe(1);
  expect(target.server.counts.connections).toBe(3);
});

test('the host behind a jump host is verified as itself', async () => {
  const key = newKey();
  const jump = await start({ keys: [key.public] });
  const target = await start(
    { keys: [key.public] },
    { proxy_jump: `127.0.0.1:${jump.server.port}` },
  );
  writeFileSync(join(target.dir, 'id'), key.private);
  writeFileSync(target.knownHosts, readFileSync(jump.knownHosts, 'utf8'));
  expect((await fault(connect(target))).code).toBe('host-key-unknown');
  expect(target.server.counts.logins).toEqual([]);
});

test('a jump host whose link was cut is connected to again', async () => {
  const key = newKey();
  const jump = await start({ keys: [key.public] });
  const target = await start(
    { keys: [key.public] },
    { proxy_jump: `tester@127.0.0.1:${jump.server.port}` },
  );
  writeFileSync(join(target.dir, 'id'), key.private);
  const transport = openTransport({
    knownHostsFiles: [target.knownHosts, jump.knownHosts],
    sshConfig: false,
    env: {},
  });
  const first = await transport.connect(target.host);
  jump.server.cut();
  await expect.poll(() => first.lost()).toBeDefined();
  (await transport.connect(target.host)).close();
  expect(jump.server.counts.connections).toBe(2);
  transport.close();
});

test('a run that is cancelled does not wait for a jump host that says nothing', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const target = await start({}, { proxy_jump: `tester@127.0.0.1:${port}` });
  const transport = openTransport({
    knownHostsFiles: [target.knownHosts],
    sshConfig: false,
    env: {},
  });
  const stop = new AbortController();
  const connecting = transport.connect(target.host, { signal: stop.signal });
  setTimeout(() => stop.abort(), 200);
  // The jump host's own time would be another fault.
  expect((await fault(connecting)).code).toBe('cancelled');
  transport.close();
  silent.close();
});

test('a jump host with a wrong key is refused at that hop; nothing is offered to it', async () => {
  const jump = await start();
  const target = await start({}, { proxy_jump: `127.0.0.1:${jump.server.port}` });
  writeFileSync(
    target.knownHosts,
    `${readFileSync(target.knownHosts, 'utf8')}[127.0.0.1]:${jump.server.port} ${newKey().public}\n`,
  );
  const error = await fault(connect(target));
  expect(error.code).toBe('host-key-changed');
  expect(jump.server.counts.logins).toEqual([]);
  expect(target.server.counts.connections).toBe(0);
});

test('a port that nobody listens on is unreachable', async () => {
  const port = await freePort();
  const transport = openTransport({ sshConfig: false, env: {} });
  const error = await fault(transport.connect(aHost({ port, passwd: new Secret('x') })));
  expect(error.kind).toBe('unreachable');
  expect(error.message).toBe(
    `Cannot connect to web1 (127.0.0.1:${port}): the connection was refused.`,
  );
});

test('a name that does not exist is unreachable', async () => {
  const transport = openTransport({ sshConfig: false, env: {} });
  const error = await fault(
    transport.connect(aHost({ host: 'no-such-host.invalid', passwd: new Secret('x') })),
  );
  expect(error.kind).toBe('unreachable');
  expect(error.message).toMatch(/^Cannot connect to web1 \(no-such-host\.invalid:22\): the name /);
});

const silentServer = async (text?: string): Promise<{ port: number; close: () => void }> => {
  const server = createServer(socket => {
    socket.on('error', () => undefined);
    if (text) socket.end(text);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as { port: number }).port, close: () => server.close() };
};

test('a server that says nothing is given up in the time set', async () => {
  const { port, close } = await silentServer();
  const transport = openTransport({ sshConfig: false, env: {}, connectTimeout: 0.3 });
  const error = await fault(transport.connect(aHost({ port, passwd: new Secret('x') })));
  expect({ code: error.code, kind: error.kind }).toEqual({
    code: 'connect-timeout',
    kind: 'unreachable',
  });
  expect(error.message).toBe(`web1 (127.0.0.1:${port}): no host key within 0.3 s.`);
  close();
});

test('a server of another protocol is named as such', async () => {
  const { port, close } = await silentServer('HTTP/1.1 400 Bad Request\r\n\r\n');
  const transport = openTransport({ sshConfig: false, env: {} });
  const error = await fault(transport.connect(aHost({ port, passwd: new Secret('x') })));
  expect(error.kind).toBe('unreachable');
  expect(error.message).toBe(`web1 (127.0.0.1:${port}) does not answer as an SSH server.`);
  close();
});

test.each(['-oProxyCommand=touch /tmp/tsalt-pwned', '-V', 'a\x7fb', 'a b', 'a\nb', ''])(
  'the host %j is refused before any connection, by each transport',
  async host => {
    for (const transport of ['ssh2', 'openssh'] as const) {
      const opened = openTransport({ transport, env: { PATH: process.env.PATH } });
      const error = await fault(opened.connect(aHost({ host })));
      expect(error.code).toBe('roster-value');
    }
    expect(existsSync('/tmp/tsalt-pwned')).toBe(false);
  },
);

test.each(['-oProxyCommand=x', 'a b', 'a;b\0'])('the user %j is refused', async user => {
  const opened = openTransport({ env: {} });
  expect((await fault(opened.connect(aHost({ user })))).code).toBe('roster-value');
});

test('an ssh option outside of the allow-list is refused and named', async () => {
  const opened = openTransport({ transport: 'openssh', env: {} });
  for (const option of [
    'ProxyCommand=touch /tmp/x',
    'LocalCommand=x',
    'KnownHostsCommand x',
    'StrictHostKeyChecking=no',
    '-oX=y',
  ]) {
    const error = await fault(opened.connect(aHost({ ssh_options: [option] })));
    expect(error.code).toBe('ssh-option');
    expect(error.message).toContain(option.split(/[= ]/)[0]);
  }
});

test('cancelling while connecting ends at once', async () => {
  const { port, close } = await silentServer();
  const stop = new AbortController();
  const transport = openTransport({ sshConfig: false, env: {} });
  const attempt = fault(
    transport.connect(aHost({ port, passwd: new Secret('x') }), { signal: stop.signal }),
  );
  setTimeout(() => stop.abort(), 50);
  expect((await attempt).code).toBe('cancelled');
  close();
});

test('a connection that sshd drops unread (MaxStartups) is tried again', {
  tags: 'slow',
}, async () => {
  const target = await start();
  let dropped = 0;
  const front = createServer(socket => {
    socket.on('error', () => undefined);
    if (dropped < 2) {
      dropped++;
      socket.end();
      return;
    }
    const behind = createConnection(target.server.port, '127.0.0.1');
    behind.on('error', () => socket.destroy());
    socket.pipe(behind).pipe(socket);
  });
  await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve));
  const { port } = front.address() as { port: number };
  writeFileSync(target.knownHosts, `[127.0.0.1]:${port} ${target.server.hostKey}\n`);
  await connect(target, { port });
  expect(dropped).toBe(2);
  dropped = -100;
  const error = await fault(connect(target, { port }));
  expect({ code: error.code, kind: error.kind, tries: dropped + 100 }).toEqual({
    code: 'connect-dropped',
    kind: 'unreachable',
    tries: 7,
  });
  front.close();
});

test.skipIf(!existsSync('/usr/bin/ssh-agent'))('a key in an agent logs in', async () => {
  const key = newKey();
  const target = await start({ keys: [key.public] });
  writeFileSync(join(target.dir, 'agent_key'), key.private, { mode: 0o600 });
  const socket = join(target.dir, 'agent');
  const agent = spawn('/usr/bin/ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
  try {
    await expect.poll(() => existsSync(socket)).toBe(true);
    execFileSync('/usr/bin/ssh-add', ['-q', join(target.dir, 'agent_key')], {
      env: { ...process.env, SSH_AUTH_SOCK: socket },
      stdio: 'ignore',
    });
    const env = { SSH_AUTH_SOCK: socket, HOME: target.dir };
    await connect(target, withoutKey(target.host), { env });
    await connect(target, { priv: 'agent-forwarding' }, { env });
    // The configured key is refused; the agent's is tried next, unless it must not be.
    await connect(target, {}, { env });
    const error = await fault(connect(target, { identities_only: true }, { env }));
    expect(error.kind).toBe('auth');
  } finally {
    agent.kill();
  }
});
