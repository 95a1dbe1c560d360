import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLab, labMissing } from '../helpers/lab.ts';
import { type LabProject, startLabProject } from '../helpers/lab-project.ts';

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
    let project: LabProject;

    beforeAll(async () => {
      project = await startLabProject(
        lab,
        {
          web1: { user: 'root' },
          web2: { user: 'deploy', sudo: true },
          db1: { user: 'ops', sudo: true, sudo_passwd: { env: 'OPS_PASS' } },
        },
        {
          from: new URL('../fixtures/lab', import.meta.url),
          settings: 'pillar_roots: {base: [pillar]}\n',
          env: { OPS_PASS: 'ops-pass' },
        },
      );
    });

    afterAll(() => project?.close());

    const apply = async (...args: string[]): Promise<Results> => {
      const { code, stdout, stderr } = await project.run(
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
      await project.run('*', 'test.ping');
      const before = await Promise.all(hosts.map(snapshot));
      const { stdout } = await project.run(
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
      const daemon = readFileSync(join(project.dir, 'pillar/daemon.sls'), 'utf8');
      project.write({
        'pillar/daemon.sls': daemon.replace('greeting: hello', 'greeting: goodbye'),
      });
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

    test('none of our files on either side contains secrets', async () => {
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
