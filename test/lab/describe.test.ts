import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadYaml } from '../../src/yaml/load.ts';
import { createLab, labMissing } from '../helpers/lab.ts';
import { type LabProject, startLabProject } from '../helpers/lab-project.ts';

type StateResult = { __id__: string; result: boolean | null; changes: object; comment: string };

const missing = labMissing();
const lab = createLab(6);
const host = 'described';
const many = Array.from({ length: 20 }, (_, at) => `tsalt-many-${String(at + 1).padStart(2, '0')}`);

const things = `#!yaml
daemon:
  pkg.installed:
    - name: tsalt-daemon
  service.running:
    - name: tsalt-daemon
    - enable: true
held:
  pkg.installed:
    - name: tsalt-hello
    - version: '1.0'
    - hold: true
cron:
  service.masked: []
builders:
  group.present:
    - gid: 4711
bob:
  user.present:
    - uid: 4712
    - gid: builders
    - groups: [adm]
    - home: /srv/bob
    - fullname: Bob B
    - workphone: '0049'
MAILTO:
  cron.env_present:
    - value: ops@example.com
backup:
  cron.present:
    - name: /bin/true "a {{ b }} c" > /dev/null
    - user: bob
    - identifier: nightly
    - comment: "twice\\na day"
    - hour: '3,15'
    - minute: 7
/bin/false:
  cron.present:
    - special: '@daily'
    - commented: true
db1:
  host.present:
    - ip: [10.9.8.7, 'fd00::7']
    - comment: the database
net.ipv4.ip_default_ttl:
  sysctl.present:
    - value: 65
`;

const modules = ['pkg', 'service', 'group', 'user', 'cron', 'host', 'sysctl'];

describe.skipIf(missing)(`a real Debian${missing ? ` (${missing})` : ''}`, () => {
  let project: LabProject;

  const write = (name: string, text: string): void =>
    project.write({ [`states/${name}.sls`]: text });

  const call = (...args: string[]) => project.run(host, ...args);

  const apply = async (sls: string, ...args: string[]): Promise<StateResult[]> => {
    const { stdout, stderr } = await call('state.apply', sls, ...args, '--out=json');
    expect(stderr).toBe('');
    return Object.values(
      (JSON.parse(stdout) as Record<string, Record<string, StateResult>>)[host] ?? {},
    );
  };

  /** States that are not as they should be: with their reasons. */
  const astray = (states: readonly StateResult[]) =>
    states.filter(({ result, changes }) => result !== true || Object.keys(changes).length > 0);

  const inside = async (...command: string[]): Promise<string> =>
    (await lab.sh(host, ...command)).trim();

  beforeAll(async () => {
    project = await startLabProject(lab, { [host]: { user: 'root' } });
    // Counts what is run as apt-get; the real one keeps its name for everybody who looks.
    await inside('mkdir', '-p', '/usr/local/sbin');
    await inside(
      'sh',
      '-c',
      `dpkg-divert --quiet --local --rename --divert /usr/bin/apt-get.real --add /usr/bin/apt-get
printf '#!/bin/sh\\necho "$*" >>/var/log/apt-get.calls\\nexec /usr/bin/apt-get.real "$@"\\n' >/usr/bin/apt-get
chmod 755 /usr/bin/apt-get`,
    );
  }, 600_000);

  afterAll(() => project?.close());

  /** The apt-get processes since the last look: installs and updates. */
  const aptCalls = async (): Promise<{ installs: string[]; updates: string[] }> => {
    const text = await inside(
      'sh',
      '-c',
      'cat /var/log/apt-get.calls 2>/dev/null; rm -f /var/log/apt-get.calls',
    );
    const lines = text.split('\n');
    return {
      installs: lines.filter(line => /\binstall\b/.test(line)),
      updates: lines.filter(line => /\bupdate\b/.test(line)),
    };
  };

  test('twenty packages of twenty states are one apt-get, after one update', async () => {
    const states = (extra: string): string =>
      many.map(name => `${name}:\n  pkg.installed${extra}\n`).join('');
    write('many', states(': []'));
    write('gone', `gone:\n  pkg.purged:\n    - pkgs: [${many.join(', ')}]\n`);
    write(
      'keyword',
      `${many[0]}:\n  pkg.installed:\n    - aggregate: true\n${many
        .slice(1)
        .map(name => `${name}:\n  pkg.installed: []\n`)
        .join('')}`,
    );

    await aptCalls();
    expect((await apply('many')).filter(({ result }) => result !== true)).toEqual([]);
    const apart = await aptCalls();
    expect(apart.installs.length).toBe(20);
    expect(apart.updates.length).toBe(1);

    expect(astray(await apply('gone')).map(({ result }) => result)).toEqual([true]);
    await aptCalls();
    expect((await apply('keyword')).filter(({ result }) => result !== true)).toEqual([]);
    const keyword = await aptCalls();
    expect(keyword.installs).toEqual([expect.stringContaining(many.at(-1) as string)]);
    expect(keyword.updates.length).toBe(1);

    await apply('gone');
    await aptCalls();
    project.configure('state_aggregate: true\n');
    const results = await apply('many');
    expect(results.map(({ result }) => result)).toEqual(many.map(() => true));
    const together = await aptCalls();
    expect(together.installs).toEqual([expect.stringContaining(many.at(-1) as string)]);
    expect(together.updates.length).toBe(1);
    expect(Object.keys(results[0]?.changes ?? {}).sort()).toEqual(many);
    project.configure('');
  }, 300_000);

  test('the described states change nothing where they were described', async () => {
    write('things', things);
    expect((await apply('things')).filter(({ result }) => result !== true)).toEqual([]);
    const { code, stdout, stderr } = await call('state.describe', modules.join(','));
    expect([code, stderr]).toEqual([0, '']);
    write('described', stdout);
    const sls = stdout.split('\n');
    expect(sls.slice(0, 2)).toEqual(['#!yaml', `# ${host}`]);
    for (const line of [
      "  - tsalt-hello: '1.0'",
      '  service.masked: []',
      '  - fullname: Bob B',
      '  - ip:',
      '  - value: 65',
      "  - special: '@daily'",
    ])
      expect(
        sls.map(text => text.replace(/^ +/, '  ')),
        line,
      ).toContain(line);
    const data = loadYaml(stdout) as Map<string, unknown>;
    expect([...data.keys()]).toEqual(
      expect.arrayContaining([
        'packages',
        'held packages',
        'tsalt-daemon',
        'bob',
        'builders',
        'MAILTO',
        'nightly of bob',
        'db1',
        'net.ipv4.ip_default_ttl',
      ]),
    );
    const predicted = await apply('described', 'test=True');
    expect(predicted.length).toBeGreaterThan(50);
    expect(astray(predicted)).toEqual([]);
    expect(astray(await apply('described'))).toEqual([]);
    expect(await call('state.describe', modules.join(',')).then(again => again.stdout)).toBe(
      stdout,
    );
  }, 300_000);

  test('a host that has drifted is brought back by what was described', async () => {
    await inside('systemctl', 'stop', 'tsalt-daemon');
    await inside('usermod', '-s', '/bin/bash', '-G', '', 'bob');
    await inside('sed', '-i', '/db1/d', '/etc/hosts');
    await inside('crontab', '-r', '-u', 'bob');
    await inside('sysctl', '-w', 'net.ipv4.ip_default_ttl=70');
    const states = await apply('described');
    expect(states.filter(({ result }) => result !== true)).toEqual([]);
    expect(
      astray(states)
        .map(({ __id__ }) => __id__)
        .sort(),
    ).toEqual(
      ['adm', 'bob', 'db1', 'net.ipv4.ip_default_ttl', 'nightly of bob', 'tsalt-daemon'].sort(),
    );
    expect(astray(await apply('described'))).toEqual([]);
  }, 300_000);

  test('one module, a pattern, and one that is misspelt', async () => {
    const one = await call('state.describe', 'gro*', '--out=json');
    const groups = (one.json() as Record<string, Record<string, object>>)[host] ?? {};
    expect(groups.builders).toEqual({ 'group.present': [{ gid: 4711 }, { members: [] }] });
    expect(Object.values(groups).every(state => 'group.present' in state)).toBe(true);
    const wrong = await call('state.describe', 'sevice');
    expect(wrong.code).not.toBe(0);
    expect(wrong.stdout + wrong.stderr).toContain("did you mean 'service'?");
  });
});
