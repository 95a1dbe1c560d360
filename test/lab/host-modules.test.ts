import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLab, labMissing } from '../helpers/lab.ts';
import { type LabProject, startLabProject } from '../helpers/lab-project.ts';

type StateResult = {
  __id__: string;
  result: boolean | null;
  changes: Record<string, unknown>;
  comment: string;
};

const missing = labMissing();
const lab = createLab(8);
const host = 'mods';

const sources: Record<string, string> = {
  packages: `
old:
  pkg.installed:
    - name: tsalt-hello
    - version: '1.0'
    - refresh: true
    - hold: true
several:
  pkg.installed:
    - pkgs:
      - tsalt-greet
      - tsalt-hello: '>=1.0'
`,
  upgrade: `
new:
  pkg.latest:
    - name: tsalt-hello
held:
  pkg.held:
    - name: tsalt-hello
`,
  downgrade: `
old:
  pkg.installed:
    - name: tsalt-hello
    - version: '1.0'
    - hold: false
`,
  remove: `
gone:
  pkg.purged:
    - pkgs: [tsalt-greet, tsalt-hello]
`,
  file: `
from a file:
  pkg.installed:
    - sources:
      - tsalt-many-01: /srv/10.0.0.1:80/tsalt-many-01_1.0_all.deb
`,
  service: `
daemon:
  pkg.installed:
    - name: tsalt-daemon
  service.running:
    - name: tsalt-daemon
    - enable: true
`,
  masked: `
stopped:
  service.dead:
    - name: tsalt-daemon
    - enable: false
masked:
  service.masked:
    - name: tsalt-daemon
`,
  unmasked: `
up:
  service.running:
    - name: tsalt-daemon
    - enable: true
    - unmask: true
`,
  users: `
group:
  group.present:
    - name: builders
    - gid: 4711
user:
  user.present:
    - name: bob
    - uid: 4712
    - gid: builders
    - groups: [adm]
    - optional_groups: [not-there]
    - shell: /bin/bash
    - home: /srv/bob
    - fullname: Bob B
    - password: correct horse
    - hash_password: true
    - maxdays: 90
    - require:
      - group: group
`,
  userschanged: `
group:
  group.present:
    - name: adm
    - addusers: [games]
user:
  user.present:
    - name: bob
    - shell: /bin/sh
    - fullname: Robert B
    - groups: []
    - password_lock: true
`,
  usersgone: `
user:
  user.absent:
    - name: bob
    - purge: true
group:
  group.absent:
    - name: builders
`,
  nothinggiven: `
user:
  user.present:
    - name: bob
    - home: false
    - shell: false
    - password: false
    - uid: false
    - gid: false
`,
  locale: `
made:
  locale.system:
    - name: it_IT.UTF-8
`,
  repos: `
line:
  pkgrepo.managed:
    - name: deb http://127.0.0.1:9/debian bookworm main contrib
    - file: /etc/apt/sources.list.d/line.list
    - enabled: false
    - refresh: false
stanza:
  pkgrepo.managed:
    - name: deb [arch=amd64] http://127.0.0.1:9/other stable main
    - file: /etc/apt/sources.list.d/stanza.sources
    - enabled: false
    - refresh: false
`,
  answers: `
tsalt-hello:
  debconf.set:
    - data:
        tsalt-hello/greeting: {type: string, value: hello world}
        tsalt-hello/loud: {type: boolean, value: true}
`,
  reposgone: `
line:
  pkgrepo.absent:
    - name: deb http://127.0.0.1:9/debian bookworm main contrib
    - refresh: false
stanza:
  pkgrepo.absent:
    - name: deb [arch=amd64] http://127.0.0.1:9/other stable main
    - refresh: false
`,
};

describe.skipIf(missing)(
  `packages, services and accounts of a real Debian${missing ? ` (${missing})` : ''}`,
  () => {
    let project: LabProject;

    beforeAll(async () => {
      const files = Object.entries(sources).map(([name, text]) => [`states/${name}.sls`, text]);
      project = await startLabProject(
        lab,
        { [host]: { user: 'root' } },
        { files: Object.fromEntries(files) },
      );
    }, 600_000);

    afterAll(() => project?.close());

    const run = (...args: string[]) => project.run(host, ...args, '--static', '--out', 'json');

    const apply = async (sls: string, ...args: string[]): Promise<Map<string, StateResult>> => {
      const { stdout, stderr } = await run('state.sls', sls, ...args);
      expect(stderr).toBe('');
      const states = (JSON.parse(stdout) as Record<string, Record<string, StateResult>>)[host];
      return new Map(
        Object.entries(states ?? {}).map(([tag, one]) => [
          `${one.__id__} ${tag.split('_|-')[0]}`,
          one,
        ]),
      );
    };

    const inside = async (...command: string[]): Promise<string> =>
      (await lab.sh(host, ...command)).trim();
    const dpkg = (name: string): Promise<string> =>
      inside('sh', '-c', `dpkg-query -W -f '\${Status} \${Version}' ${name} 2>/dev/null || true`);

    /** test=True predicts, the first run does it, the second has nothing to do. */
    const converge = async (sls: string): Promise<Map<string, StateResult>> => {
      const predicted = await apply(sls, 'test=True');
      expect([...predicted.values()].some(({ result }) => result === null)).toBe(true);
      const first = await apply(sls);
      expect([...first].filter(([, { result }]) => result !== true)).toEqual([]);
      const second = await apply(sls);
      expect(
        [...second].filter(([, one]) => one.result !== true || Object.keys(one.changes).length > 0),
      ).toEqual([]);
      return first;
    };

    test('packages are installed at a version, held and upgraded only when asked', async () => {
      const first = await converge('packages');
      expect(first.get('old pkg')?.changes).toEqual({
        'tsalt-hello': { old: 'install', new: expect.stringContaining('1.0') },
      });
      expect(await dpkg('tsalt-hello')).toBe('hold ok installed 1.0');
      expect(await dpkg('tsalt-greet')).toBe('install ok installed 1.0');
    });

    test('latest upgrades what is held and keeps it held; a version brings it back down', async () => {
      await apply('upgrade');
      expect(await dpkg('tsalt-hello')).toBe('hold ok installed 2.0');
      await converge('downgrade');
      expect(await dpkg('tsalt-hello')).toBe('install ok installed 1.0');
    });

    test('purged packages leave nothing', async () => {
      const first = await converge('remove');
      expect(first.get('gone pkg')?.comment).toBe('All targeted packages were purged.');
      expect(await dpkg('tsalt-hello')).toBe('');
    });

    test('a package file is installed from a path with a colon, as URLs with a port are kept', async () => {
      await inside('mkdir', '/srv/10.0.0.1:80');
      await inside('cp', '/opt/repo/tsalt-many-01_1.0_all.deb', '/srv/10.0.0.1:80/');
      await converge('file');
      expect(await dpkg('tsalt-many-01')).toBe('install ok installed 1.0');
    });

    test('a package that is nowhere fails with what apt says', async () => {
      const { code, stdout } = await run('state.single', 'pkg.installed', 'name=no-such-package');
      expect(code).not.toBe(0);
      expect(stdout).toContain('E: Unable to locate package no-such-package');
    });

    test('a service is started, masked and brought back', async () => {
      await converge('service');
      expect(await inside('systemctl', 'is-active', 'tsalt-daemon')).toBe('active');
      expect(await inside('systemctl', 'is-enabled', 'tsalt-daemon')).toBe('enabled');
      await converge('masked');
      expect(await inside('readlink', '/etc/systemd/system/tsalt-daemon.service')).toBe(
        '/dev/null',
      );
      const up = await apply('unmasked');
      expect(up.get('up service')).toMatchObject({ result: true });
      expect(await inside('systemctl', 'is-active', 'tsalt-daemon')).toBe('active');
    });

    test('an account is made, changed and removed', async () => {
      await converge('users');
      expect(await inside('id', 'bob')).toBe(
        'uid=4712(bob) gid=4711(builders) groups=4711(builders),4(adm)',
      );
      expect(await inside('getent', 'passwd', 'bob')).toBe(
        'bob:x:4712:4711:Bob B:/srv/bob:/bin/bash',
      );
      expect(await inside('stat', '-c', '%U %F', '/srv/bob')).toBe('bob directory');
      const hash = (await inside('getent', 'shadow', 'bob')).split(':')[1] ?? '';
      expect(hash).toMatch(/^\$6\$/);
      expect((await apply('nothinggiven')).get('user user')?.changes).toEqual({});
      await converge('userschanged');
      expect(await inside('getent', 'passwd', 'bob')).toBe(
        'bob:x:4712:4711:Robert B:/srv/bob:/bin/sh',
      );
      expect(await inside('id', '-nG', 'bob')).toBe('builders');
      expect((await inside('getent', 'shadow', 'bob')).split(':')[1]).toBe(`!${hash}`);
      await converge('usersgone');
      const left = 'getent passwd bob; getent group builders; find /srv -name bob';
      expect(await inside('sh', '-c', left)).toBe('');
    });

    test('the locale of the system is made where it is not there, keeps what is set beside it, and is not set to one that is none', async () => {
      await inside('sh', '-c', 'printf "LANG=C\\nLC_TIME=C.UTF-8\\n" >/etc/default/locale');
      await converge('locale');
      const set = await inside('sh', '-c', 'cat /etc/default/locale; locale -a | grep it_IT');
      expect(set).toBe('LANG=it_IT.UTF-8\nLC_TIME=C.UTF-8\nit_IT.utf8');
      const wrong = await run('state.single', 'locale.system', 'name=xx_XX.UTF-8');
      expect(wrong.stdout).toContain('invalid locale: xx_XX.UTF-8');
      expect(await inside('cat', '/etc/default/locale')).toContain('LANG=it_IT.UTF-8');
    });

    test('questions of a package are answered', async () => {
      const first = await converge('answers');
      expect(first.get('tsalt-hello debconf')?.changes).toEqual({
        'tsalt-hello/greeting': 'hello world',
        'tsalt-hello/loud': 'true',
      });
      expect(
        await inside('sh', '-c', 'echo GET tsalt-hello/greeting | debconf-communicate tsalt-hello'),
      ).toBe('0 hello world');
    });

    test('sources of packages are written in both forms and taken away', async () => {
      await converge('repos');
      expect(await inside('cat', '/etc/apt/sources.list.d/line.list')).toBe(
        '# deb http://127.0.0.1:9/debian bookworm main contrib',
      );
      expect(await inside('cat', '/etc/apt/sources.list.d/stanza.sources')).toBe(
        'Enabled: no\nTypes: deb\nURIs: http://127.0.0.1:9/other\nSuites: stable\nComponents: main\nArchitectures: amd64',
      );
      await converge('reposgone');
      expect(await inside('ls', '/etc/apt/sources.list.d')).toBe('lab.list');
    });
  },
);
