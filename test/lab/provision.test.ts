import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tsalt } from '../helpers/cli.ts';
import { createLab, labMissing } from '../helpers/lab.ts';

type StateResult = { result: boolean | null; changes: Record<string, unknown>; comment: string };
type Results = Record<string, Record<string, StateResult>>;

const missing = labMissing();
const lab = createLab(4);
const hosts = ['web1', 'web2', 'db1'];

/** Everything a run could change, in one comparable text: paths, modes, owners, sizes, contents' hashes, packages, units. */
const snapshot = (name: string): Promise<string> =>
  lab.sh(
    name,
    'sh',
    '-c',
    'cd /; for d in etc srv home usr opt var/lib/dpkg lib/systemd; do [ -e $d ] && find $d -xdev -printf "%p %m %U %G %s %l\\n"; done | sort; find /etc /srv /home -xdev -type f -exec sha256sum {} + | sort; systemctl list-units --type=service --all --no-legend --plain | grep -v user | sort; cat /etc/passwd /etc/group',
  );

describe.skipIf(missing)(
  `bare Debian hosts are provisioned from one roster${missing ? ` (${missing})` : ''}`,
  () => {
    let project: string;
    let home: string;

    beforeAll(async () => {
      await lab.down();
      const address = await lab.up(...hosts);
      home = mkdtempSync(join(tmpdir(), 'tsalt-home-'));
      project = mkdtempSync(join(tmpdir(), 'tsalt-project-'));
      cpSync(new URL('../fixtures/lab', import.meta.url), project, { recursive: true });
      writeFileSync(
        join(project, 'roster.yaml'),
        `web1:
  host: ${address.web1}
  user: root
  priv: ${lab.key}
web2:
  host: ${address.web2}
  user: deploy
  priv: ${lab.key}
  sudo: true
db1:
  host: ${address.db1}
  user: ops
  priv: ${lab.key}
  sudo: true
  sudo_passwd:
    env: OPS_PASS
`,
      );
      writeFileSync(
        join(project, 'tsalt.yaml'),
        `known_hosts_file: ${lab.knownHosts}\npillar_roots:\n  base: [pillar]\n`,
      );
    });

    afterAll(async () => {
      await lab.down();
      rmSync(project, { recursive: true, force: true });
      rmSync(home, { recursive: true, force: true });
    });

    const run = (...args: string[]) =>
      tsalt(args, {
        cwd: project,
        env: { HOME: home, XDG_CACHE_HOME: join(home, '.cache'), OPS_PASS: 'ops-pass' },
      });
    const apply = async (...args: string[]): Promise<Results> => {
      const { code, stdout, stderr } = await run(
        '*',
        'state.apply',
        '--static',
        '--out',
        'json',
        ...args,
      );
      expect(stderr).toBe('');
      expect(code, stdout).toBe(0);
      return JSON.parse(stdout) as Results;
    };
    const changed = (results: Results): string[] =>
      Object.entries(results).flatMap(([host, states]) =>
        Object.entries(states)
          .filter(([, { changes }]) => Object.keys(changes).length > 0)
          .map(([tag]) => `${host} ${tag}`),
      );

    test('test mode on bare hosts predicts and changes nothing', async () => {
      // Node is brought and the artifact cached by any first run; what is provisioned must not change.
      await run('*', 'test.ping');
      const before = await Promise.all(hosts.map(snapshot));
      const { stdout } = await run(
        '*',
        'state.apply',
        'users,tree',
        'test=True',
        '--static',
        '--out',
        'json',
      );
      const results = JSON.parse(stdout) as Results;
      expect(Object.keys(results).sort()).toEqual([...hosts].sort());
      for (const states of Object.values(results))
        expect(Object.values(states).map(({ result }) => result)).toContain(null);
      expect(await Promise.all(hosts.map(snapshot))).toEqual(before);
    });

    test('the first run changes every host and all states succeed', async () => {
      const results = await apply();
      expect(Object.keys(results).sort()).toEqual([...hosts].sort());
      for (const host of hosts) {
        const states = Object.entries(results[host] ?? {});
        expect(states.filter(([, { result }]) => result !== true)).toEqual([]);
        expect(states.length).toBe(8);
        expect(await lab.sh(host, 'cat', '/run/tsalt-daemon.seen')).toContain(
          `# ${host} runs Debian 12`,
        );
        expect((await lab.sh(host, 'stat', '-c', '%a %U %G', '/srv/app')).trim()).toBe(
          '750 alice alice',
        );
        expect((await lab.sh(host, 'systemctl', 'is-enabled', 'tsalt-daemon')).trim()).toBe(
          'enabled',
        );
        expect((await lab.sh(host, 'readlink', '/srv/app/releases/current')).trim()).toBe(
          '/srv/app/releases/1',
        );
      }
    });

    test('the second run changes nothing', async () => {
      const before = await Promise.all(hosts.map(snapshot));
      expect(changed(await apply())).toEqual([]);
      expect(await Promise.all(hosts.map(snapshot))).toEqual(before);
    });

    test('a changed pillar value changes exactly one file and reloads one service', async () => {
      const pillar = join(project, 'pillar/daemon.sls');
      writeFileSync(
        pillar,
        readFileSync(pillar, 'utf8').replace('greeting: hello', 'greeting: goodbye'),
      );
      const before = await Promise.all(hosts.map(snapshot));
      const predicted = changed(await apply('test=True'));
      expect(predicted.filter(tag => tag.includes('file_|-daemon-config'))).toHaveLength(3);
      expect(await Promise.all(hosts.map(snapshot))).toEqual(before);

      const results = await apply();
      expect(changed(results).sort()).toEqual(
        hosts
          .flatMap(host => [
            `${host} file_|-daemon-config_|-/etc/tsalt-daemon/daemon.conf_|-managed`,
            `${host} service_|-tsalt-daemon_|-tsalt-daemon_|-running`,
          ])
          .sort(),
      );
      const diff = String(
        results.web1?.['file_|-daemon-config_|-/etc/tsalt-daemon/daemon.conf_|-managed']?.changes
          .diff,
      );
      expect(diff).toContain('-greeting=hello\n+greeting=goodbye');
      for (const host of hosts)
        expect(await lab.sh(host, 'cat', '/run/tsalt-daemon.seen')).toContain('greeting=goodbye');
      expect(changed(await apply())).toEqual([]);
    });

    test('secrets are in no file of ours on either side', async () => {
      const found = await lab.sh(
        'db1',
        'sh',
        '-c',
        'grep -rl ops-pass /home/ops /root /tmp /var/tmp 2>/dev/null || true',
      );
      expect(found.trim()).toBe('');
    });
  },
);
