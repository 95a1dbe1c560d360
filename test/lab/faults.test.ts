import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot, tsalt } from '../helpers/cli.ts';
import { createLab, labMissing } from '../helpers/lab.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

const missing = labMissing();
const lab = createLab(7);
const reason = missing ? ` (${missing})` : '';
const dir = mkdtempSync(join(tmpdir(), 'tsalt-faults-'));
const env = {
  HOME: join(dir, 'home'),
  XDG_CACHE_HOME: join(dir, 'home/.cache'),
  SSH_AUTH_SOCK: '',
};
const secret = 'pillar-5ecret';
const files = Array.from({ length: 12 }, (_, at) => `f${at}`);
const contentOf = (name: string): string => `${name} ${'x'.repeat(99)}\n`.repeat(3000);

const sh = (command: string): Promise<string> => lab.sh('fault1', 'sh', '-c', command);
const run = (...args: string[]) => tsalt(args, { cwd: dir, env });
/** The runtimes on the host: what runs on the Node that we brought, and what it started. */
const runtimes = async (): Promise<string[]> =>
  (
    await sh(
      "grep -la '[t]salt-ssh/node-\\|[t]salt-marker' /proc/[0-9]*/cmdline 2>/dev/null || true",
    )
  )
    .split('\n')
    .flatMap(line => /\/proc\/(\d+)\//.exec(line)?.[1] ?? []);

beforeAll(async () => {
  if (missing) return;
  await lab.down();
  const address = (await lab.up('fault1')).fault1;
  const texts: Record<string, string> = {
    'tsalt.yaml': `known_hosts_file: ${lab.knownHosts}\ncachedir: cache\n`,
    'roster.yaml': `fault1:\n  host: ${address}\n  user: root\n  priv: ${lab.key}\n`,
    'pillar/top.sls': "base:\n  '*':\n    - secret\n",
    'pillar/secret.sls': `token: ${secret}\n`,
    'states/work.sls': [
      '/srv/work/secret:\n  file.managed:\n    - contents: {{ pillar.token }}\n    - mode: "0600"\n    - makedirs: True\n',
      ...files.map(
        name =>
          `/srv/work/${name}:\n  file.managed:\n    - source: salt://${name}\n    - makedirs: True\nwait-${name}:\n  cmd.run:\n    - name: sleep 0.05 && true tsalt-marker\n`,
      ),
    ].join(''),
    'states/held.sls':
      'held:\n  cmd.run:\n    - name: until [ -e /srv/go ]; do sleep 0.2; done && true tsalt-marker\n',
    'states/slow.sls':
      'one:\n  cmd.run:\n    - name: sleep 6; echo finished >/srv/finished && true tsalt-marker\ntwo:\n  cmd.run:\n    - name: touch /srv/never\n    - require:\n      - cmd: one\n',
    ...Object.fromEntries(files.map(name => [`states/${name}`, contentOf(name)])),
  };
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  mkdirSync(env.HOME, { mode: 0o700 });
  const { code, stdout, stderr } = await run('fault1', 'test.ping');
  expect(code, stdout + stderr).toBe(0);
});
afterAll(async () => {
  if (!missing) await lab.down();
  removeFolder(dir);
});

/** A seeded generator (mulberry32), so that a failure can be seen again. */
const random = ((): (() => number) => {
  let state = 20_261_121;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
})();

const start = (...args: string[]) =>
  spawn(process.execPath, [`${packageRoot}dist/tsalt-ssh.cjs`, ...args], {
    cwd: dir,
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });

/** A file under its own name is whole, or it is not there. */
const checkFiles = async (): Promise<void> => {
  const sums = await sh('cd /srv/work 2>/dev/null && sha256sum f* 2>/dev/null || true');
  for (const line of sums.trim().split('\n').filter(Boolean)) {
    const [sum, name = ''] = line.split(/\s+/);
    if (files.includes(name))
      expect(sum, name).toBe(createHash('sha256').update(contentOf(name)).digest('hex'));
  }
};

describe.skipIf(missing)(`life and death on a real host${reason}`, () => {
  test('kill -9 of control and of the runtime at 20 moments: no torn file, orphan or stale lock', async () => {
    for (let round = 0; round < 20; round++) {
      await sh('rm -rf /srv/work');
      const child = start('fault1', 'state.apply', 'work');
      const gone = new Promise(resolve => child.once('exit', resolve));
      await new Promise(resolve => setTimeout(resolve, 300 + random() * 2000));
      if (round % 2 === 0) child.kill('SIGKILL');
      else for (const pid of await runtimes()) await sh(`kill -9 ${pid} 2>/dev/null || true`);
      await gone;
      await expect.poll(runtimes, { timeout: 30_000, interval: 200 }).toEqual([]);
      await checkFiles();
    }
    const { code, stdout, stderr } = await run('fault1', 'state.apply', 'work');
    expect(code, stdout + stderr).toBe(0);
    await checkFiles();
    expect((await sh('ls /srv/work')).trim().split('\n').sort()).toEqual(
      [...files, 'secret'].sort(),
    );
    expect(await sh('find /root/.cache/tsalt-ssh -perm /077')).toBe('');
  }, 400_000);

  test('a secret of the pillar is in no process list, environment, log or temporary file', async () => {
    await sh('rm -rf /srv/work');
    const child = start(
      'fault1',
      'state.apply',
      'work',
      '-l',
      'debug',
      '--log-file',
      'run.log',
      '--log-file-level',
      'all',
    );
    let seen = '';
    const gone = new Promise(resolve => child.once('exit', resolve));
    while (child.exitCode === null) {
      seen += await sh("cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' ' '");
      seen += execFileSync(
        'sh',
        [
          '-c',
          `tr '\\0' ' ' </proc/${child.pid}/cmdline; tr '\\0' ' ' </proc/${child.pid}/environ; true`,
        ],
        { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
      );
      await new Promise(resolve => setTimeout(resolve, 50));
    }
    await gone;
    expect(seen).toContain('tsalt-ssh');
    expect(seen).not.toContain(secret);
    expect(
      await sh(`grep -rl ${secret} /var/log /tmp /var/tmp /root /home 2>/dev/null || true`),
    ).toBe('');
    expect(
      execFileSync('sh', ['-c', `grep -rl ${secret} cache home run.log || true`], {
        cwd: dir,
        encoding: 'utf8',
      }),
    ).toBe('');
  });

  test('a lost link: the running state finishes, nothing new starts, the next run reports it', async () => {
    await sh('rm -f /srv/finished /srv/never');
    const child = start('fault1', 'state.apply', 'slow');
    await expect
      .poll(() => sh("grep -la '[t]salt-marker' /proc/[0-9]*/cmdline 2>/dev/null || true"), {
        timeout: 30_000,
      })
      .not.toBe('');
    child.kill('SIGKILL');
    await expect
      .poll(() => sh('cat /srv/finished 2>/dev/null || true'), { timeout: 30_000 })
      .toBe('finished\n');
    await expect.poll(runtimes, { timeout: 30_000 }).toEqual([]);
    expect(await sh('ls /srv/never 2>/dev/null || true')).toBe('');
    const { code, stdout, stderr } = await run('fault1', 'state.apply', 'slow');
    expect(code, stdout + stderr).toBe(0);
    expect(stderr).toMatch(/one/);
  });

  test('a second run on the same host reports which run holds it, and the first goes on', async () => {
    await sh('rm -f /srv/go');
    const first = run('fault1', 'state.apply', 'held');
    await expect
      .poll(() => sh("grep -la '[t]salt-marker' /proc/[0-9]*/cmdline 2>/dev/null || true"), {
        timeout: 30_000,
      })
      .not.toBe('');
    const second = await run('fault1', 'state.apply', 'work');
    expect(second.code).not.toBe(0);
    expect(second.stdout + second.stderr).toMatch(/state\.apply.*\d+|pid|PID|running/);
    await sh('touch /srv/go');
    expect((await first).code).toBe(0);
  });
});
