import { copyFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { showError, type TsaltError } from '../../../src/protocol/error.ts';
import type { Host } from '../../../src/protocol/host.ts';
import { openTransport } from '../../../src/transport/open-transport.ts';
import { runRaw } from '../../../src/transport/raw-shell.ts';
import { ssh2Options } from '../../../src/transport/ssh2/options.ts';
import type { TransportOptions } from '../../../src/transport/transport.ts';
import { newKey } from '../../helpers/embedded-server.ts';
import { fault } from '../../helpers/fault.ts';
import { aHost, scratch } from '../../helpers/hosts.ts';
import { freePort, hasSshd, type Sshd, startSshd } from '../../helpers/sshd.ts';

const { path: dir, remove } = scratch('tsalt-options');
let sshd: Sshd;
const options: { -readonly [K in keyof TransportOptions]: TransportOptions[K] } = {
  sshConfig: false,
  env: { PATH: process.env.PATH, HOME: dir },
};

beforeAll(async () => {
  if (!hasSshd) return;
  sshd = await startSshd({
    dir: join(dir, 'sshd'),
    hostKeyTypes: ['ed25519', 'ecdsa'],
    config: ['ListenAddress ::1', 'LogLevel DEBUG1'],
  });
  const lines = sshd.hostKeys.flatMap(key => [
    `[127.0.0.1]:${sshd.port} ${key}\n`,
    `only-by-alias ${key}\n`,
  ]);
  writeFileSync(join(dir, 'known_hosts'), lines.join(''));
  options.knownHostsFiles = [join(dir, 'known_hosts')];
});
afterAll(async () => {
  await sshd?.close();
  remove();
});

const hostOf = (given: Partial<Host>): Host =>
  aHost({ port: sshd.port, user: sshd.user, priv: sshd.key, ...given });

const runs = async (
  given: Partial<Host>,
  command = 'echo "$SSH_CONNECTION"',
  more: Partial<TransportOptions> = {},
): Promise<string> => {
  const transport = openTransport({ ...options, ...more });
  const host = hostOf(given);
  try {
    const connection = await transport.connect(host);
    try {
      return (await runRaw({ connection, host, command })).stdout.trim();
    } finally {
      connection.close();
    }
  } finally {
    transport.close();
  }
};

test.each([
  'BindInterface=eth0',
  'CertificateFile=/id-cert.pub',
  'GSSAPIAuthentication=yes',
  'HostbasedAuthentication=yes',
  'IPQoS=throughput',
  'LogLevel=QUIET',
  'NumberOfPasswordPrompts=3',
  'RekeyLimit=1G',
  'RequiredRSASize=4096',
  'Compression=maybe',
  'ServerAliveInterval=-1',
])('ssh2 refuses %s and names the transport that can do it', option => {
  try {
    ssh2Options(aHost({ ssh_options: [option] }));
    expect.unreachable();
  } catch (error) {
    expect(showError(error as TsaltError)).toContain(option);
    expect(showError(error as TsaltError)).toContain('--transport openssh');
  }
});

describe.skipIf(!hasSshd)('ssh_options over a real sshd', () => {
  test('an option that ssh2 cannot do is refused before any connection, and openssh does it', async () => {
    const logins = (): number => sshd.log().match(/Remote protocol version/g)?.length ?? 0;
    const before = logins();
    const ssh_options = ['RekeyLimit=1G'];
    expect((await fault(runs({ ssh_options }))).code).toBe('ssh-option');
    expect(logins()).toBe(before);
    expect(await runs({ ssh_options, transport: 'openssh' }, 'echo yes')).toBe('yes');
  });

  test('Ciphers, MACs, KexAlgorithms, HostKeyAlgorithms and Compression are what the connection uses', async () => {
    const before = sshd.log().length;
    await runs({
      ssh_options: [
        'Ciphers=aes256-ctr',
        'MACs=hmac-sha2-512-etm@openssh.com',
        'KexAlgorithms=ecdh-sha2-nistp384',
        'HostKeyAlgorithms=ecdsa-sha2-nistp256',
        'Compression=yes',
      ],
    });
    const log = sshd.log().slice(before);
    expect(log).toMatch(/kex: algorithm: ecdh-sha2-nistp384/);
    expect(log).toMatch(/kex: host key algorithm: ecdsa-sha2-nistp256/);
    expect(log).toMatch(
      /cipher: aes256-ctr MAC: hmac-sha2-512-etm@openssh\.com compression: zlib@openssh\.com/,
    );
  });

  test('ssh-rsa: a server that signs host keys with SHA-1 only is refused before the login, unless an option allows it', async () => {
    const old = await startSshd({
      dir: join(dir, 'sha1'),
      hostKeyTypes: ['rsa'],
      config: ['HostKeyAlgorithms ssh-rsa', 'LogLevel DEBUG1'],
    });
    const file = join(dir, 'sha1_hosts');
    writeFileSync(file, `[127.0.0.1]:${old.port} ${old.hostKeys[0]}\n`);
    const more = { knownHostsFiles: [file] };
    const given: Partial<Host> = { port: old.port, priv: old.key };
    const logins = (): number => old.log().match(/userauth-request|Accepted/g)?.length ?? 0;
    try {
      for (const ssh_options of [
        [],
        ['HostKeyAlgorithms=-ssh-ed25519'],
        ['HostKeyAlgorithms=^ssh-ed25519'],
        ['HostKeyAlgorithms=+rsa-sha2-256'],
        ['HostKeyAlgorithms=rsa-sha2-512'],
      ]) {
        const error = await fault(runs({ ...given, ssh_options }, '', more));
        expect([error.kind, error.code]).toEqual(['unreachable', 'ssh-algorithms']);
        expect(showError(error)).toContain('HostKeyAlgorithms=+ssh-rsa');
      }
      expect(logins()).toBe(0);
      for (const option of ['+ssh-rsa', '^ssh-rsa', 'ssh-ed25519,ssh-rsa']) {
        const ssh_options = [`HostKeyAlgorithms=${option}`];
        expect(await runs({ ...given, ssh_options }, 'echo yes', more)).toBe('yes');
      }
      expect(old.log()).toMatch(/kex: host key algorithm: ssh-rsa\b/);
    } finally {
      await old.close();
    }
  });

  test('rsa-sha2: a host known by an RSA key is asked for SHA-2 signatures, with +ssh-rsa too', {
    tags: 'slow',
  }, async () => {
    const server = await startSshd({
      dir: join(dir, 'sha2'),
      hostKeyTypes: ['ed25519', 'rsa'],
      config: ['HostKeyAlgorithms ssh-ed25519,ssh-rsa,rsa-sha2-256', 'LogLevel DEBUG1'],
    });
    const file = join(dir, 'sha2_hosts');
    writeFileSync(file, `[127.0.0.1]:${server.port} ${server.hostKeys[1]}\n`);
    const more = { knownHostsFiles: [file] };
    const given: Partial<Host> = { port: server.port, priv: server.key };
    try {
      for (const ssh_options of [[], ['HostKeyAlgorithms=+ssh-rsa']])
        expect(await runs({ ...given, ssh_options }, 'echo yes', more)).toBe('yes');
      expect(server.log().match(/kex: host key algorithm: \S+/g)).toEqual(
        Array(2).fill('kex: host key algorithm: rsa-sha2-256'),
      );
    } finally {
      await server.close();
    }
  });

  test('+, - and ^ change the lists as in ssh, and an unknown algorithm is named', async () => {
    const before = sshd.log().length;
    await runs({ ssh_options: ['Ciphers=^aes192-ctr', 'MACs=-hmac-sha2-256'] });
    expect(sshd.log().slice(before)).toMatch(/cipher: aes192-ctr/);
    const error = await fault(runs({ ssh_options: ['Ciphers=rot13'] }));
    expect(showError(error)).toMatch(/rot13/);
  });

  test('IdentityFile: several keys are tried, with priv and without', async () => {
    const wrong = join(dir, 'wrong');
    writeFileSync(wrong, newKey().private, { mode: 0o600 });
    const ssh_options = [`IdentityFile=${sshd.key}`, 'IdentitiesOnly=yes'];
    expect(await runs({ priv: wrong, ssh_options }, 'echo yes')).toBe('yes');
    const without: Partial<Host> = {
      ssh_options: [`IdentityFile=${wrong}`, ...ssh_options],
    };
    const transport = openTransport(options);
    const { priv: _, ...host } = hostOf(without);
    (await transport.connect(host)).close();
  });

  test('several default keys are tried, as ssh does', async () => {
    const home = scratch('tsalt-keys');
    const { mkdirSync } = await import('node:fs');
    mkdirSync(join(home.path, '.ssh'));
    writeFileSync(join(home.path, '.ssh/id_rsa'), newKey('rsa').private, { mode: 0o600 });
    copyFileSync(sshd.key, join(home.path, '.ssh/id_ed25519'));
    const env = { PATH: process.env.PATH, HOME: home.path };
    const { priv: _, ...host } = hostOf({});
    (await openTransport({ ...options, env }).connect(host)).close();
    home.remove();
  });

  test('PubkeyAuthentication=no and PreferredAuthentications leave the key at home', async () => {
    for (const option of ['PubkeyAuthentication=no', 'PreferredAuthentications=password']) {
      const error = await fault(runs({ ssh_options: [option] }));
      expect([error.kind, error.hint]).toEqual([
        'auth',
        expect.not.stringMatching(/Tried:.*publickey/),
      ]);
    }
  });

  test('HostKeyAlias is the name that is looked up; CheckHostIP never adds another', async () => {
    const ssh_options = ['HostKeyAlias=only-by-alias'];
    writeFileSync(
      join(dir, 'alias_hosts'),
      sshd.hostKeys.map(key => `only-by-alias ${key}\n`).join(''),
    );
    const more = { knownHostsFiles: [join(dir, 'alias_hosts')] };
    expect((await fault(runs({}, '', more))).code).toBe('host-key-unknown');
    await expect(runs({ ssh_options }, 'echo yes', more)).resolves.toBe('yes');
    expect(await runs({ ssh_options, transport: 'openssh' }, 'echo yes', more)).toBe('yes');
    // A wrong key beside the address of a host that is known by name does not matter.
    writeFileSync(
      join(dir, 'alias_hosts'),
      `[127.0.0.1]:${sshd.port} ${newKey().public}\n${sshd.hostKeys.map(key => `only-by-alias ${key}\n`).join('')}`,
    );
    await expect(runs({ ssh_options }, 'echo yes', more)).resolves.toBe('yes');
  });

  test('AddressFamily and an IPv6 address: a host is reached and verified over IPv6', async () => {
    const entries = sshd.hostKeys.map(
      key => `[localhost]:${sshd.port} ${key}\n[::1]:${sshd.port} ${key}\n`,
    );
    writeFileSync(join(dir, 'six'), entries.join(''));
    const more = { knownHostsFiles: [join(dir, 'six')] };
    const four = await runs(
      { host: 'localhost', ssh_options: ['AddressFamily=inet'] },
      undefined,
      more,
    );
    expect(four).toMatch(/^127\.0\.0\.1 /);
    for (const transport of ['ssh2', 'openssh'] as const)
      expect(await runs({ host: '::1', transport }, undefined, more)).toMatch(/^::1 /);
  });

  test('BindAddress is the address that the host sees', async () => {
    expect(await runs({ ssh_options: ['BindAddress=127.0.0.7'] })).toMatch(/^127\.0\.0\.7 /);
  });

  test('ConnectionAttempts waits for a host that comes up late; ConnectTimeout bounds each try', async () => {
    const port = await freePort();
    const host = { ...hostOf({ port }), ssh_options: ['ConnectionAttempts=1'] };
    expect((await fault(openTransport(options).connect(host))).code).toBe('connect-failed');
    let tries = 0;
    const log = (): void => {
      tries++;
    };
    const again = { ...host, ssh_options: ['ConnectionAttempts=3'] };
    await fault(openTransport({ ...options, log }).connect(again));
    expect(tries).toBe(2);
    const silent: Server = createServer(() => undefined).listen(port, '127.0.0.1');
    const error = await fault(
      openTransport(options).connect({ ...host, ssh_options: ['ConnectTimeout=1'] }),
    );
    silent.close();
    expect(error.message).toMatch(/within 1 s/);
  });

  test.each(['ssh2', 'openssh'] as const)(
    'remote_port_forwards carry bytes from the host to this side (%s)',
    async transport => {
      const service = createServer(socket => {
        socket.once('data', data => socket.end(`here: ${data}`));
      }).listen(0, '127.0.0.1');
      await new Promise(resolve => service.once('listening', resolve));
      const { port: target } = service.address() as { port: number };
      const port = await freePort();
      const command = `exec 3<>/dev/tcp/127.0.0.1/${port}; echo hello >&3; cat <&3`;
      const remote_port_forwards = [`${port}:127.0.0.1:${target}`];
      expect(await runs({ transport, remote_port_forwards }, `bash -c '${command}'`)).toBe(
        'here: hello',
      );
      service.close();
    },
  );

  test('a tunnel that the host refuses is named', async () => {
    const error = await fault(runs({ remote_port_forwards: [`${sshd.port}:127.0.0.1:9`] }));
    expect(showError(error)).toContain(`refuses the tunnel ${sshd.port}:127.0.0.1:9`);
  });

  test('transports without ssh refuse tunnels', async () => {
    const error = await fault(
      runs({ transport: 'local', remote_port_forwards: ['8080:localhost:80'] }),
    );
    expect(error.code).toBe('tunnel');
  });
});
