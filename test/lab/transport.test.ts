import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { showError, type TsaltError } from '../../src/protocol/error.ts';
import { type Host, Secret } from '../../src/protocol/host.ts';
import { openRuntime } from '../../src/transport/bootstrap.ts';
import { nodeSource } from '../../src/transport/node-source.ts';
import { openTransport } from '../../src/transport/open-transport.ts';
import { runRaw } from '../../src/transport/raw-shell.ts';
import type { Link, RuntimeOptions } from '../../src/transport/runtime-link.ts';
import type { Connection, TransportOptions } from '../../src/transport/transport.ts';
import { transportContract } from '../contract/transport.ts';
import { fault } from '../helpers/fault.ts';
import { aHost } from '../helpers/hosts.ts';
import { createLab, labMissing } from '../helpers/lab.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { tinyArtifact } from '../helpers/tiny-artifact.ts';

const missing = labMissing();
const lab = createLab(16);
const cache = mkdtempSync(join(tmpdir(), 'tsalt-lab-cache-'));
const source = nodeSource({ cacheDir: cache });
let address = '';
let artifact: Awaited<ReturnType<typeof tinyArtifact>>;

const up = async (): Promise<void> => {
  address = (await lab.up('fault1')).fault1 ?? '';
};
const options = (): TransportOptions => ({
  knownHostsFiles: [lab.knownHosts],
  sshConfig: false,
  env: { PATH: process.env.PATH },
});
const hostOf = (given: Partial<Host>): Host =>
  aHost({ id: 'fault1', host: address, user: 'root', priv: lab.key, timeout: 30, ...given });

beforeAll(async () => {
  if (missing) return;
  await lab.down();
  artifact = await tinyArtifact();
  await up();
});
afterAll(async () => {
  if (!missing) await lab.down();
  removeFolder(cache);
});

const subject = (given: Partial<Host>) => async () => ({
  host: hostOf(given),
  options: options(),
  nodeSource: source,
  close: () => undefined,
});
const skip = { skip: missing !== undefined };
const reason = missing ? ` (${missing})` : '';
transportContract(`ssh2 to a bare Debian host as root${reason}`, subject({}), skip);
transportContract(`ssh2 with sudo${reason}`, subject({ user: 'deploy', sudo: true }), skip);
transportContract(
  `ssh2 with sudo and its password${reason}`,
  () => subject({ user: 'ops', sudo: true, sudo_passwd: new Secret('ops-pass') })(),
  skip,
);

// The tree of the same machine, mounted on this one, without its sshd.
transportContract(
  `chroot into a Debian tree${reason}`,
  async () => ({
    host: hostOf({ transport: 'chroot', host: `${lab.dir}/run/fault1/root` }),
    options: options(),
    nodeSource: source,
    close: () => undefined,
  }),
  skip,
);

const connections: Connection[] = [];
const open = async (
  given: Partial<Host> = {},
  more: Partial<RuntimeOptions> = {},
): Promise<{ link: Link; connection: Connection }> => {
  const host = hostOf(given);
  const connection = await openTransport(options()).connect(host);
  connections.push(connection);
  const link = await openRuntime({
    connection,
    host,
    artifact,
    nodeSource: source,
    handlers: {},
    events: {},
    ...more,
  });
  return { link, connection };
};
const sh = (command: string): Promise<string> => lab.sh('fault1', 'sh', '-c', command);
const ended = async (link: Link): Promise<TsaltError> => (await link.ended) as TsaltError;

describe.skipIf(missing)(`becoming root on a real host${reason}`, () => {
  test.each([false, true])('the sudo password goes to sudo only (tty: %s)', async tty => {
    const host = { user: 'ops', sudo: true, tty, sudo_passwd: new Secret('ops-pass') };
    const { link, connection } = await open(host);
    expect(link.hello.user).toBe('root');
    const env = JSON.stringify(await link.peer.request('env', {}));
    expect(
      env + (await sh('cat /proc/*/cmdline /proc/*/environ 2>/dev/null | tr "\\0" " "')),
    ).not.toContain('ops-pass');
    link.close();
    const raw = await runRaw({ connection, host: hostOf(host), command: 'id -un' });
    expect(raw.stdout).toBe('root\n');
    connection.close();
    expect(
      await sh('grep -rl ops-pass /var/log /root /home /tmp /var/tmp 2>/dev/null || true'),
    ).toBe('');
  });

  test('the login password is used for sudo if the roster has no other one', async () => {
    const { link } = await open({ user: 'ops', sudo: true, passwd: new Secret('ops-pass') });
    expect(link.hello.user).toBe('root');
    link.close();
  });

  test('another sudo_user', async () => {
    const { link } = await open({ user: 'deploy', sudo_user: 'ops' });
    expect(link.hello.user).toBe('ops');
    expect(await link.peer.request('dir', {})).toBe('/home/ops/.cache/tsalt-ssh');
    link.close();
  });

  test('a wrong sudo password is a fault of the login, sent once', async () => {
    const error = await fault(open({ user: 'ops', sudo: true, sudo_passwd: new Secret('wrong') }));
    expect({ kind: error.kind, message: error.message }).toEqual({
      kind: 'auth',
      message: 'fault1: sudo does not take the password.',
    });
  });

  test('sudo that wants a password which nobody has', async () => {
    const error = await fault(open({ user: 'ops', sudo: true }));
    expect({ kind: error.kind, code: error.code }).toEqual({ kind: 'auth', code: 'sudo-refused' });
  });

  test('sudo that wants a password which a person knows', async () => {
    let asked = 0;
    const { link } = await open(
      { user: 'ops', sudo: true },
      {
        askSudoPassword: async () => {
          asked++;
          return new Secret('ops-pass');
        },
      },
    );
    expect({ user: link.hello.user, asked }).toEqual({ user: 'root', asked: 1 });
    link.close();
  });

  test('requiretty is met by tty: true, and said otherwise', async () => {
    await sh("echo 'Defaults:deploy requiretty' >/etc/sudoers.d/tty");
    const error = await fault(open({ user: 'deploy', sudo: true }));
    expect(showError(error)).toContain('you must have a tty');
    const { link } = await open({ user: 'deploy', sudo: true, tty: true });
    expect(link.hello.user).toBe('root');
    link.close();
    await sh('rm /etc/sudoers.d/tty');
  });
});

describe.skipIf(missing)(`places of the workspace on a real host${reason}`, () => {
  test('a home that may not hold programs: Node goes elsewhere', async () => {
    await sh(
      'mount -t tmpfs -o noexec,mode=755,uid=$(id -u deploy) tmpfs /home/deploy; mkdir -m700 /home/deploy/.ssh; cp /root/.ssh/authorized_keys /home/deploy/.ssh/; chown -R deploy /home/deploy',
    );
    const { link } = await open({ user: 'deploy' });
    const { argv } = await link.peer.request<{ argv: string[] }>('env', {});
    expect(argv[0]).toMatch(/^\/var\/tmp\/tsalt-ssh-\d+\/node-[0-9a-f]{64}$/);
    link.close();
  });

  test('a home that cannot be written: the workspace is in /var/tmp, and private', async () => {
    await sh('mount -o remount,ro /home/deploy; rm -rf /home/deploy/.cache; true');
    await sh(
      'umount /home/deploy; mount -t tmpfs -o mode=755,uid=$(id -u deploy) tmpfs /home/deploy; mkdir -m700 /home/deploy/.ssh; cp /root/.ssh/authorized_keys /home/deploy/.ssh/; chown -R deploy /home/deploy; mount -o remount,ro /home/deploy',
    );
    const { link } = await open({ user: 'deploy' });
    const dir = await link.peer.request<string>('dir', {});
    expect(dir).toMatch(/^\/var\/tmp\/tsalt-ssh-\d+$/);
    expect(await sh(`stat -c '%a %U' ${dir}`)).toBe('700 deploy\n');
    link.close();
    await sh('umount /home/deploy');
  });

  test('a workspace that another user made first is refused', async () => {
    await sh('rm -rf /var/tmp/tsalt-evil; install -d -m 700 -o ops /var/tmp/tsalt-evil');
    const node_bin = (await sh('ls /root/.cache/tsalt-ssh/node-*')).trim();
    const error = await fault(open({ thin_dir: '/var/tmp/tsalt-evil', node_bin }));
    expect(showError(error)).toBe(
      'fault1: The workspace /var/tmp/tsalt-evil belongs to another user.',
    );
  });

  test('a Node that another user planted is not run', async () => {
    // The loader looks only at names that end in a hash of this length.
    const evil = 'e'.repeat(64);
    await sh(
      `rm -rf /var/tmp/tsalt-ssh-0; install -d -m 755 -o ops /var/tmp/tsalt-ssh-0; printf "#!/bin/sh\\ntouch /tmp/pwned\\n" >/var/tmp/tsalt-ssh-0/node-${evil}; chmod 755 /var/tmp/tsalt-ssh-0/node-${evil}`,
    );
    const { link } = await open();
    link.close();
    expect(await sh('ls /tmp/pwned 2>/dev/null || echo none')).toBe('none\n');
    await sh('rm -rf /var/tmp/tsalt-ssh-0');
  });

  test('a full disk: the artifact runs from memory', async () => {
    await lab.run('fill', 'fault1', '8');
    const node_bin = (await sh('ls /root/.cache/tsalt-ssh/node-*')).trim();
    for (const _ of [1, 2]) {
      const { link } = await open({ thin_dir: '/tmp/ws', node_bin });
      expect(link.cached).toBe(false);
      expect(await link.peer.request('echo', 1)).toBe(1);
      link.close();
    }
    expect(await sh('ls /tmp/ws')).toBe('');
    await sh('umount /tmp');
  });
});

describe.skipIf(missing)(`faults of a real host${reason}`, () => {
  test('MaxSessions: the refused channel is named, the first goes on', async () => {
    await sh("echo 'MaxSessions 1' >/etc/ssh/sshd_config.d/a.conf; systemctl restart ssh");
    const { link, connection } = await open();
    const error = await fault(connection.exec('true'));
    expect({ kind: error.kind, code: error.code }).toEqual({
      kind: 'host',
      code: 'channel-refused',
    });
    expect(await link.peer.request('echo', 1)).toBe(1);
    link.close();
    await sh('rm /etc/ssh/sshd_config.d/a.conf; systemctl restart ssh');
  });

  test('a login shell that runs nothing', async () => {
    await sh('usermod -s /usr/sbin/nologin deploy');
    const error = await fault(open({ user: 'deploy' }));
    expect(showError(error)).toContain('This account is currently not available.');
    await sh('usermod -s /bin/bash deploy');
  });

  test('a short cut of the network is outlived', async () => {
    const { link } = await open({}, { timeouts: { heartbeat: 5 } });
    await lab.run('cut', 'fault1');
    const answer = link.peer.request('echo', 'late');
    await new Promise(resolve => setTimeout(resolve, 1000));
    await lab.run('mend', 'fault1');
    expect(await answer).toBe('late');
    link.close();
  });

  test.each(['cut', 'freeze'] as const)('%s: given up after three heartbeats', async verb => {
    const { link } = await open({}, { timeouts: { heartbeat: 1 } });
    await lab.run(verb, 'fault1');
    const started = Date.now();
    const error = await ended(link);
    expect({ kind: error.kind, code: error.code }).toEqual({
      kind: 'unreachable',
      code: 'connection-lost',
    });
    expect(Date.now() - started).toBeLessThan(25_000);
    await lab.run(verb === 'cut' ? 'mend' : 'thaw', 'fault1');
  });

  test('a frozen host does not answer the connection: given up in time', async () => {
    await lab.run('freeze', 'fault1');
    const transport = openTransport({ ...options(), connectTimeout: 1 });
    const error = await fault(transport.connect(hostOf({})));
    expect({ kind: error.kind, code: error.code }).toEqual({
      kind: 'unreachable',
      code: 'connect-timeout',
    });
    await lab.run('thaw', 'fault1');
  });

  test('when control goes without a goodbye, the runtime ends', async () => {
    const { link, connection } = await open();
    const { pid } = await link.peer.request<{ pid: number }>('env', {});
    connection.close();
    expect((await ended(link)).code).toMatch(/runtime-ended|connection-lost/);
    await expect
      .poll(() => sh(`kill -0 ${pid} 2>/dev/null && echo alive || echo gone`), { timeout: 30_000 })
      .toBe('gone\n');
  });

  test('kill -9 of the runtime is named', async () => {
    const { link } = await open();
    const { pid } = await link.peer.request<{ pid: number }>('env', {});
    await sh(`kill -9 ${pid}`);
    const error = await ended(link);
    expect(error.code).toBe('runtime-ended');
    expect(error.message).toBe('fault1: the runtime ended by SIGKILL before its work was done.');
  });

  test('the plug is pulled', async () => {
    const { link } = await open({}, { timeouts: { heartbeat: 1 } });
    await lab.run('kill', 'fault1');
    const error = await ended(link);
    expect(error.kind === 'unreachable' || error.code === 'runtime-ended').toBe(true);
    await lab.down('fault1');
    const gone = await fault(
      openTransport({ ...options(), connectTimeout: 2 }).connect(hostOf({})),
    );
    expect(gone.kind).toBe('unreachable');
  });
});
