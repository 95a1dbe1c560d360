import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { showError } from '../../src/protocol/error.ts';
import { type Host, Secret } from '../../src/protocol/host.ts';
import { openRuntime } from '../../src/transport/bootstrap.ts';
import { nodeSource } from '../../src/transport/node-source.ts';
import { openTransport } from '../../src/transport/open-transport.ts';
import { runRaw } from '../../src/transport/raw-shell.ts';
import { fault as faultOf } from '../helpers/fault.ts';
import { aHost } from '../helpers/hosts.ts';
import { createLab, labMissing } from '../helpers/lab.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { tinyArtifact } from '../helpers/tiny-artifact.ts';

const missing = labMissing();
const lab = createLab(17);
const scratch = mkdtempSync(join(tmpdir(), 'tsalt-become-'));
const source = nodeSource({ cacheDir: scratch });
const reason = missing ? ` (${missing})` : '';

/** doas as Debian ships it; undefined where no archive can be reached. */
const doasPackage = ((): string | undefined => {
  if (missing) return;
  spawnSync('apt-get', ['download', 'opendoas'], { cwd: scratch, timeout: 30_000 });
  const name = readdirSync(scratch).find(file => file.startsWith('opendoas_'));
  return name && join(scratch, name);
})();

let address = '';
let artifact: Awaited<ReturnType<typeof tinyArtifact>>;
const sh = (command: string): Promise<string> => lab.sh('become1', 'sh', '-c', command);

beforeAll(async () => {
  if (missing) return;
  await lab.down();
  artifact = await tinyArtifact();
  address = (await lab.up('become1')).become1 ?? '';
  await sh("printf 'root:root-pass\\ndeploy:deploy-pass\\n' | chpasswd");
  if (doasPackage) {
    spawnSync('dpkg', ['-x', doasPackage, `${lab.dir}/run/become1/root`]);
    await sh(
      "printf 'permit nopass deploy\\npermit ops\\n' >/etc/doas.conf; chmod 400 /etc/doas.conf",
    );
  }
});
afterAll(async () => {
  if (!missing) await lab.down();
  removeFolder(scratch);
});

const hostOf = (given: Partial<Host>): Host =>
  aHost({ id: 'become1', host: address, user: 'ops', priv: lab.key, timeout: 30, ...given });

/**
 * Returns the user of the runtime and of a raw command, and whether the password shows anywhere
 * meanwhile.
 */
const became = async (given: Partial<Host>, secret = 'nothing to look for'): Promise<string> => {
  const host = hostOf(given);
  const transport = openTransport({
    knownHostsFiles: [lab.knownHosts],
    sshConfig: false,
    env: { PATH: process.env.PATH },
  });
  const connection = await transport.connect(host);
  try {
    const link = await openRuntime({
      connection,
      host,
      artifact,
      nodeSource: source,
      handlers: {},
      events: {},
    });
    // Bytes of all sizes pass a terminal unchanged.
    const text = 'ä\u0003\u0004\r\n'.repeat(20_000);
    expect(await link.peer.request('echo', text)).toBe(text);
    const env = JSON.stringify(await link.peer.request('env', {}));
    const visible = await sh('cat /proc/*/cmdline /proc/*/environ 2>/dev/null | tr "\\0" " "');
    expect(env + visible).not.toContain(secret);
    link.close();
    const raw = await runRaw({ connection, host, command: 'id -un; echo "$HOME"' });
    return `${link.hello.user} ${raw.stdout.trim().replace('\n', ' ')}`;
  } finally {
    connection.close();
    transport.close();
  }
};

const fault = async (work: Promise<unknown>): Promise<string> => {
  const error = await faultOf(work);
  return `${error.kind} ${error.code}: ${showError(error)}`;
};

describe.skipIf(missing)(`becoming root by su${reason}`, () => {
  test.each([false, true])("su takes the other user's password, once (tty: %s)", async tty => {
    const sudo_passwd = new Secret('root-pass');
    expect(await became({ become: 'su', tty, sudo_passwd }, 'root-pass')).toBe('root root /root');
  });

  test('su to another user than root', async () => {
    const sudo_passwd = new Secret('deploy-pass');
    expect(await became({ become: 'su', sudo_user: 'deploy', sudo_passwd })).toBe(
      'deploy deploy /home/deploy',
    );
  });

  test('root needs no password for su', async () => {
    expect(await became({ user: 'root', become: 'su', sudo_user: 'ops' })).toBe(
      'ops ops /home/ops',
    );
  });

  test('a wrong password for su is a fault of the login', async () => {
    const text = await fault(became({ become: 'su', sudo_passwd: new Secret('wrong-pass') }));
    expect(text).toMatch(/^auth sudo-refused: become1: su refused\./);
    expect(text).toContain('Authentication failure');
    expect(text).not.toContain('wrong-pass');
  });

  test('su without a password is said before anything is sent', async () => {
    const text = await fault(became({ become: 'su', passwd: new Secret('ops-pass') }));
    expect(text).toMatch(/^auth sudo-refused: become1: su needs a password\./);
  });
});

const noDoas = missing ?? (doasPackage ? undefined : 'needs the package opendoas');
describe.skipIf(noDoas)(`becoming root by doas${noDoas ? ` (${noDoas})` : ''}`, () => {
  test.each([false, true])('doas that asks nothing (tty: %s)', async tty => {
    expect(await became({ user: 'deploy', become: 'doas', tty })).toBe('root root /root');
  });

  test('doas gets the password at its own terminal', async () => {
    const sudo_passwd = new Secret('ops-pass');
    expect(await became({ become: 'doas', sudo_passwd }, 'ops-pass')).toBe('root root /root');
  });

  test('a wrong password for doas is a fault of the login', async () => {
    const text = await fault(became({ become: 'doas', sudo_passwd: new Secret('wrong-pass') }));
    expect(text).toMatch(/^auth sudo-refused: become1: doas refused\./);
    expect(text).not.toContain('wrong-pass');
  });

  test('doas that asks what nobody knows', async () => {
    const text = await fault(became({ become: 'doas' }));
    expect(text).toMatch(/^auth sudo-refused: become1: doas refused\./);
  });
});

describe.skipIf(missing)(`sudo as people set it up${reason}`, () => {
  test('pwfeedback, a lecture and a prompt of its own do no harm', async () => {
    await sh(
      'printf \'Defaults pwfeedback\\nDefaults lecture=always\\nDefaults passprompt="Wachtwoord: "\\n\' >/etc/sudoers.d/feedback',
    );
    const sudo_passwd = new Secret('ops-pass');
    for (const tty of [false, true])
      expect(await became({ sudo: true, tty, sudo_passwd }, 'ops-pass')).toBe('root root /root');
    await sh('rm /etc/sudoers.d/feedback');
  });
});
