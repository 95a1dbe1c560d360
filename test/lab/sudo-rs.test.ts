import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { showError } from '../../src/protocol/error.ts';
import { type Host, Secret } from '../../src/protocol/host.ts';
import { openRuntime } from '../../src/transport/bootstrap.ts';
import { nodeSource } from '../../src/transport/node-source.ts';
import { openTransport } from '../../src/transport/open-transport.ts';
import { runRaw } from '../../src/transport/raw-shell.ts';
import { fault } from '../helpers/fault.ts';
import { aHost } from '../helpers/hosts.ts';
import { createLab, labMissing } from '../helpers/lab.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { tinyArtifact } from '../helpers/tiny-artifact.ts';

const scratch = mkdtempSync(join(tmpdir(), 'tsalt-sudo-rs-'));

/** sudo-rs as Debian 13 ships it; undefined where no archive can be reached. */
const sudoRs = ((): string | undefined => {
  if (labMissing()) return;
  for (const folder of ['lists', 'cache']) mkdirSync(join(scratch, folder));
  writeFileSync(join(scratch, 'sources.list'), 'deb http://deb.debian.org/debian trixie main\n');
  const options = [
    `Dir::Etc::SourceList=${scratch}/sources.list`,
    'Dir::Etc::SourceParts=-',
    `Dir::State::Lists=${scratch}/lists`,
    `Dir::Cache=${scratch}/cache`,
    'APT::Sandbox::User=root',
  ].flatMap(option => ['-o', option]);
  for (const words of [['update'], ['download', 'sudo-rs']])
    spawnSync('apt-get', [...options, '-qq', ...words], { cwd: scratch, timeout: 60_000 });
  const name = readdirSync(scratch).find(file => file.startsWith('sudo-rs_'));
  return name && join(scratch, name);
})();
const missing = labMissing() ?? (sudoRs ? undefined : 'no archive of Debian 13 can be reached');

const lab = createLab(13);
const source = nodeSource({ cacheDir: join(scratch, 'node') });
const sh = (command: string): Promise<string> => lab.sh('rs1', 'sh', '-c', command);
let address = '';

beforeAll(async () => {
  if (missing) return;
  await lab.down();
  address = (await lab.up('rs1@trixie')).rs1 ?? '';
  spawnSync('dpkg', ['-x', sudoRs ?? '', `${lab.dir}/run/rs1/root`]);
  await sh('chmod 4755 /usr/lib/cargo/bin/sudo && ln -sf /usr/lib/cargo/bin/sudo /usr/bin/sudo');
  expect(await sh('sudo --version 2>&1')).toMatch(/^sudo-rs /);
});
afterAll(async () => {
  if (!missing) await lab.down();
  removeFolder(scratch);
});

/**
 * Returns the user of the runtime and of a raw command, and whether the password shows anywhere
 * meanwhile.
 */
const became = async (given: Partial<Host>): Promise<string> => {
  const host = aHost({
    id: 'rs1',
    host: address,
    priv: lab.key,
    sudo: true,
    timeout: 30,
    ...given,
  });
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
      artifact: await tinyArtifact(),
      nodeSource: source,
      handlers: {},
      events: {},
    });
    const env = JSON.stringify(await link.peer.request('env', {}));
    const seen = await sh('cat /proc/*/cmdline /proc/*/environ 2>/dev/null | tr "\\0" " "');
    expect(env + seen).not.toContain('ops-pass');
    const { user, dir } = { user: link.hello.user, dir: await link.peer.request('dir', {}) };
    link.close();
    const raw = await runRaw({ connection, host, command: 'id -un' });
    return `${user} ${dir} ${raw.stdout.trim()}`;
  } finally {
    connection.close();
  }
};

describe.skipIf(missing)(`sudo-rs on Debian 13${missing ? ` (${missing})` : ''}`, () => {
  test.each([false, true])('without a password (tty: %s)', async tty => {
    expect(await became({ user: 'deploy', tty })).toBe('root /root/.cache/tsalt-ssh root');
  });

  test.each([false, true])('its password goes to its own prompt, once (tty: %s)', async tty => {
    const sudo_passwd = new Secret('ops-pass');
    expect(await became({ user: 'ops', tty, sudo_passwd })).toBe(
      'root /root/.cache/tsalt-ssh root',
    );
  });

  test('another user', async () => {
    expect(await became({ user: 'deploy', sudo_user: 'ops' })).toBe(
      'ops /home/ops/.cache/tsalt-ssh ops',
    );
  });

  test('a wrong password is a fault of the login', async () => {
    const error = await fault(became({ user: 'ops', sudo_passwd: new Secret('wrong') }));
    expect({ kind: error.kind, code: error.code }).toEqual({ kind: 'auth', code: 'sudo-password' });
    expect(showError(error)).not.toContain('wrong');
  });

  test('a password that nobody has is a fault of the login, at once', async () => {
    const began = Date.now();
    const error = await fault(became({ user: 'ops' }));
    expect({ kind: error.kind, code: error.code }).toEqual({ kind: 'auth', code: 'sudo-refused' });
    expect(Date.now() - began).toBeLessThan(25_000);
  });
});
