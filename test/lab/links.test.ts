import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot, tsalt } from '../helpers/cli.ts';
import { createLab, labMissing } from '../helpers/lab.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

const missing = labMissing();
const reason = missing ? ` (${missing})` : '';
const lab = createLab(14);
const dir = mkdtempSync(join(tmpdir(), 'tsalt-links-'));
const env = {
  HOME: join(dir, 'home'),
  XDG_CACHE_HOME: join(dir, 'home/.cache'),
  SSH_AUTH_SOCK: '',
};
const run = (...args: string[]) => tsalt(args, { cwd: dir, env });
const sh = (command: string): Promise<string> => lab.sh('link1', 'sh', '-c', command);
const write = (files: Readonly<Record<string, string>>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
};

beforeAll(async () => {
  if (missing) return;
  await lab.down();
  const { link1: host } = await lab.up('link1');
  const entry = (id: string, user: string): string =>
    `${id}:\n  host: ${host}\n  user: ${user}\n  priv: ${lab.key}\n  timeout: 20\n`;
  write({
    'tsalt.yaml': `known_hosts_file: ${lab.knownHosts}\ncachedir: cache\n`,
    'roster.yaml': `${entry('link1', 'root')}${entry('user1', 'deploy')}`,
  });
  mkdirSync(env.HOME, { mode: 0o700 });
  const { code, stdout, stderr } = await run('link1', 'test.ping');
  expect(code, stdout + stderr).toBe(0);
});
afterAll(async () => {
  if (!missing) await lab.down();
  removeFolder(dir);
});

/** The most memory that a process ever had, in megabytes; undefined once it is gone. */
const peakOf = (status: string): number | undefined => {
  const kilobytes = /VmHWM:\s*(\d+) kB/.exec(status)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
};

describe.skipIf(missing)(`links to a real host${reason}`, () => {
  test('a missing login shell is reported as a refused login, in time', async () => {
    await sh('usermod -s /bin/no-such-shell deploy');
    const began = Date.now();
    const { code, stdout } = await run('user1', 'test.ping');
    expect(code).toBe(77);
    expect(stdout).toContain('user1');
    expect(Date.now() - began).toBeLessThan(60_000);
    await sh('usermod -s /bin/bash deploy');
  });

  test('a disk that is full where a file should go: the state says so, nothing half is left', async () => {
    await sh('mkdir -p /srv/small; mount -t tmpfs -o size=1m tmpfs /srv/small');
    write({
      'states/full.sls':
        '/srv/small/big:\n  file.managed:\n    - source: salt://big\n/srv/after:\n  file.managed:\n    - contents: fine\n',
      'states/big': 'x'.repeat(3 * 1024 * 1024),
    });
    await sh('echo old >/srv/small/big');
    const { code, stdout } = await run('link1', 'state.apply', 'full');
    expect(code, stdout).toBe(20);
    expect(stdout).toMatch(/no space is left on the device/);
    expect(stdout).toContain('/srv/small/big');
    expect(await sh('ls -A /srv/small; cat /srv/small/big /srv/after')).toBe('big\nold\nfine\n');
    await sh('umount /srv/small; rm -f /srv/after');
  });

  test('a link that is cut and mended: the reaction that was owed happens in the next run, once', async () => {
    write({
      'states/owed.sls': `/srv/conf:
  file.managed:
    - contents: {{ pillar.version }}
between:
  cmd.run:
    - name: sleep 12
    - require: [{file: /srv/conf}]
restart:
  cmd.wait:
    - name: echo restarted >>/srv/restarts
    - require: [{cmd: between}]
    - watch: [{file: /srv/conf}]
`,
    });
    const args = ['state.apply', 'owed', 'pillar={version: 1}'];
    const began = Date.now();
    const alive = ['--keepalive-interval', '1', '--keepalive-count-max', '3'];
    const first = run('link1', ...alive, ...args);
    await expect
      .poll(() => sh('cat /srv/conf 2>/dev/null || true'), { timeout: 30_000 })
      .toBe('1\n');
    await lab.run('cut', 'link1');
    const { code, stdout } = await first;
    expect({ code, stdout }).toEqual({ code: 68, stdout: expect.stringContaining('link1') });
    expect(Date.now() - began).toBeLessThan(100_000);
    await lab.run('mend', 'link1');
    const second = await run('link1', ...args, 'queue=True');
    expect(second.code, second.stdout + second.stderr).toBe(0);
    expect(await sh('cat /srv/restarts')).toBe('restarted\n');
    const third = await run('link1', ...args);
    expect(third.code, third.stdout).toBe(0);
    expect(await sh('cat /srv/restarts')).toBe('restarted\n');
  }, 400_000);

  test('queue=True waits for the run that holds the host, and then goes on', async () => {
    const command = (name: string, text: string) => `${name}:\n  cmd.run:\n    - name: ${text}\n`;
    write({
      'states/long.sls': command('long', 'echo long >>/srv/order; sleep 4; echo end >>/srv/order'),
      'states/short.sls': command('short', 'echo short >>/srv/order'),
    });
    const long = run('link1', 'state.apply', 'long');
    await expect
      .poll(() => sh('cat /srv/order 2>/dev/null || true'), { timeout: 30_000 })
      .toMatch(/^long\n/);
    const waited = await run('link1', 'state.apply', 'short', 'queue=True');
    expect(waited.code, waited.stdout + waited.stderr).toBe(0);
    expect((await long).code).toBe(0);
    expect(await sh('cat /srv/order')).toBe('long\nend\nshort\n');
  });

  test('a large file moves in bounded memory on both sides, and is not sent again', async () => {
    const size = 400 * 1024 * 1024;
    write({
      'states/large.sls':
        '/srv/large:\n  file.managed:\n    - source: salt://large.bin\n    - show_changes: False\n',
      'states/large.bin': '',
    });
    truncateSync(join(dir, 'states/large.bin'), size);
    const child = spawn(
      process.execPath,
      [`${packageRoot}dist/tsalt-ssh.cjs`, 'link1', 'state.apply', 'large'],
      { cwd: dir, env: { ...process.env, ...env }, stdio: 'ignore' },
    );
    let here = 0;
    let there = 0;
    const gone = new Promise(resolve => child.once('exit', resolve));
    while (child.exitCode === null) {
      try {
        here = Math.max(here, peakOf(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? 0);
      } catch {
        // It has just ended.
      }
      const found = await sh(
        'for p in $(grep -la "[t]salt-ssh/node-" /proc/[0-9]*/cmdline 2>/dev/null); do cat "${p%cmdline}status"; done 2>/dev/null || true',
      );
      there = Math.max(there, peakOf(found) ?? 0);
      await new Promise(resolve => setTimeout(resolve, 200));
    }
    expect(await gone).toBe(0);
    expect(await sh('stat -c %s /srv/large')).toBe(`${size}\n`);
    expect(here).toBeGreaterThan(20);
    expect(there).toBeGreaterThan(20);
    expect(here).toBeLessThan(260);
    expect(there).toBeLessThan(200);
    const again = await run('link1', 'state.apply', 'large');
    expect(again.code, again.stdout).toBe(0);
    expect(again.stdout).not.toContain('changed=1');
  }, 400_000);
});
