import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLab, labMissing } from '../helpers/lab.ts';
import { type LabProject, startLabProject } from '../helpers/lab-project.ts';

type StateResult = {
  result: boolean | null;
  changes: Record<string, unknown>;
  comment: string;
};

const missing = labMissing();
const lab = createLab(21);
const host = 'packages';

/** Packages built on the host: its own repository `/srv/repo`, and files that are in none. */
const build = `set -e
  pack() {
    root=$(mktemp -d); mkdir -p $root/DEBIAN $1
    printf 'Package: %s\\nVersion: %s\\nArchitecture: all\\nMaintainer: L <l@lab.invalid>\\nDescription: lab\\n' $2 $3 >$root/DEBIAN/control
    dpkg-deb -b $root $1/$2-$4.deb >/dev/null
  }
  pack /srv/repo lab-epoch 1:1.0 1; pack /srv/repo lab-epoch 1:2.0 2
  pack /srv/repo lab-plain 1.0 1; pack /srv/repo lab-plain 1.5 15; pack /srv/repo lab-plain 2.0 2
  pack /srv/files lab-file 1.0 1; pack /srv/files lab-file 2.0 2
  echo none >/srv/files/none.deb
  cd /srv/repo; for file in *.deb; do
    dpkg-deb -f $file; printf 'Filename: ./%s\\nSize: %s\\nSHA256: %s\\n\\n' $file $(stat -c %s $file) $(sha256sum $file | cut -d' ' -f1)
  done >Packages
  echo 'deb [trusted=yes] file:/srv/repo ./' >/etc/apt/sources.list.d/own.list
  apt-get -q update`;

const unit = '[Service]\nExecStart=/bin/sleep infinity\n';

describe.skipIf(missing)(
  `packages, their sources and services of a Debian host, as Salt 3006.9 treats them${missing ? ` (${missing})` : ''}`,
  () => {
    let project: LabProject;

    const inside = (command: string): Promise<string> => lab.sh(host, 'sh', '-c', command);

    beforeAll(async () => {
      project = await startLabProject(lab, { [host]: { user: 'root' } });
      await inside(build);
    }, 600_000);

    afterAll(() => project?.close());

    const run = (...args: string[]) => project.run(host, ...args, '--static', '--out', 'json');

    /** Applies states one after another; each is a line `function: {arguments}` of YAML. */
    const apply = async (...states: string[]): Promise<StateResult[]> => {
      const sls = states.map((state, at) => `s${at}:\n  ${state}\n`).join('');
      project.write({ 'states/packages.sls': sls });
      const { stdout } = await run('state.apply', 'packages');
      return Object.values((JSON.parse(stdout) as Record<string, StateResult[]>)[host] ?? {});
    };

    const call = async (...args: string[]): Promise<unknown> =>
      (JSON.parse((await run(...args)).stdout) as Record<string, unknown>)[host];

    const versions = (...names: string[]): Promise<string> =>
      inside(`dpkg-query -W -f '\${Package} \${Version}\\n' ${names.join(' ')}`);

    test('a version that YAML reads as a number is that version', async () => {
      const [alone, listed] = await apply(
        'pkg.installed: [{name: lab-plain}, {version: 1.0}, {sources: []}]',
        'pkg.installed: [{pkgs: [{lab-plain: 2.0}]}]',
      );
      expect(alone).toMatchObject({ result: true, changes: { 'lab-plain': { new: '1.0' } } });
      expect(listed).toMatchObject({
        result: true,
        changes: { 'lab-plain': { old: '1.0', new: '2.0' } },
      });
    });

    test('an epoch that is not written counts only where versions are put in order', async () => {
      const results = await apply(
        "pkg.installed: [{name: lab-epoch}, {version: '1:1.0'}]",
        "pkg.installed: [{name: lab-epoch}, {version: '1.0'}]",
        "pkg.installed: [{name: lab-epoch}, {version: '>=2.0'}]",
        "pkg.installed: [{name: lab-epoch}, {version: '>=2.0'}, {ignore_epoch: true}]",
      );
      const there = 'All specified packages are already installed and are at the desired version';
      expect(results.map(({ comment }) => comment)).toEqual([
        'The following packages were installed/updated: lab-epoch=1:1.0',
        there,
        there,
        'The following packages were installed/updated: lab-epoch>=2.0',
      ]);
      expect(await versions('lab-epoch')).toBe('lab-epoch 1:2.0\n');
    });

    test('a package file of another version is installed, an invalid one is reported', async () => {
      const file = (name: string) =>
        `pkg.installed: [{sources: [{lab-file: /srv/files/${name}.deb}]}]`;
      const [first, again, newer, older, none, gone] = await apply(
        ...['lab-file-1', 'lab-file-1', 'lab-file-2', 'lab-file-1', 'none', 'gone'].map(file),
      );
      expect(first).toMatchObject({ changes: { 'lab-file': { old: '', new: '1.0' } } });
      expect(again).toMatchObject({ result: true, changes: {} });
      expect(newer).toMatchObject({
        result: true,
        changes: { 'lab-file': { old: '1.0', new: '2.0' } },
        comment: 'The following packages were installed/updated: lab-file',
      });
      expect(older).toMatchObject({ result: false, changes: {} });
      expect(older?.comment).toContain('Packages were downgraded and -y was used');
      expect(none).toMatchObject({
        result: false,
        comment: '/srv/files/none.deb is no package file',
      });
      expect(gone).toMatchObject({
        result: false,
        comment: '/srv/files/gone.deb does not exist on minion',
      });
    });

    test('a package that is named twice is refused', async () => {
      const [twice] = await apply("pkg.installed: [{pkgs: [lab-plain, {lab-plain: '1.0'}]}]");
      expect(twice).toMatchObject({ result: false, changes: {} });
      expect(twice?.comment).toContain('names lab-plain twice');
      expect(await versions('lab-plain')).toBe('lab-plain 2.0\n');
    });

    test('a hold is reported as Salt reports it', async () => {
      const [held, fresh] = await apply(
        'pkg.installed: [{name: lab-plain}, {hold: true}]',
        "pkg.installed: [{pkgs: [lab-plain, {lab-epoch: '1:1.0'}]}, {hold: true}]",
      );
      expect(held?.comment).toBe(
        'All specified packages are already installed.\nPackage lab-plain is now being held.',
      );
      expect(fresh?.comment).toBe(
        [
          'The following packages were installed/updated: lab-epoch=1:1.0',
          'Package lab-epoch is now being held.',
          'The following packages were already installed: lab-plain',
          'Package lab-plain is already set to be held.',
        ].join('\n'),
      );
      expect(await inside('apt-mark showhold')).toBe('lab-epoch\nlab-plain\n');
    });

    test('packages are described as Salt describes them', async () => {
      expect(await call('pkg.version', 'lab-p*')).toEqual({ 'lab-plain': '2.0' });
      expect(await call('pkg.version', 'lab-none*')).toEqual({});
      expect(await call('pkg.parse_arch', 'zsh:i386')).toEqual({ name: 'zsh', arch: 'i386' });
      expect(await call('pkg.show', 'lab-epoch', 'filter=architecture')).toEqual({
        'lab-epoch': { '1:1.0': { Architecture: 'all' }, '1:2.0': { Architecture: 'all' } },
      });
      expect(await call('pkg.info_installed', 'lab-plain')).toEqual({
        'lab-plain': {
          name: 'lab-plain',
          packager: 'L <l@lab.invalid>',
          architecture: 'all',
          source: 'lab-plain',
          version: '2.0',
          description: 'lab',
          install_date: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+Z$/),
        },
      });
      expect(await call('pkg.info_installed', 'lab-none')).toContain(
        'Error getting packages information: dpkg-query: no packages found matching lab-none',
      );
      expect(await call('pkg.info_installed', 'lab-none', 'failhard=False')).toEqual({});
    });

    const list = '/etc/apt/sources.list.d/repo.list';
    const source = (rest: string, more = '') =>
      `pkgrepo.managed: [{name: '${rest}'}, {file: ${list}}, {refresh: false}${more}]`;

    test('sources with different components are separate', async () => {
      const [, other, order] = await apply(
        source('deb http://192.0.2.1/d stable main contrib'),
        source('deb http://192.0.2.1/d stable non-free'),
        source('deb http://192.0.2.1/d stable contrib main'),
      );
      expect(other).toMatchObject({
        result: true,
        changes: { repo: 'deb http://192.0.2.1/d stable non-free' },
      });
      expect(order).toMatchObject({ result: true, changes: {} });
      expect(await inside(`cat ${list}`)).toBe(
        'deb http://192.0.2.1/d stable main contrib\ndeb http://192.0.2.1/d stable non-free\n',
      );
    });

    test('the options of a source are unordered, and a change of them is reported', async () => {
      await apply(source('deb [arch=amd64 signed-by=/k.gpg] http://192.0.2.1/o stable main'));
      const [same, moved] = await apply(
        source('deb [signed-by=/k.gpg arch=amd64] http://192.0.2.1/o stable main'),
        source('deb [arch=amd64 signed-by=/k.gpg] http://192.0.2.1/o/ stable main'),
      );
      expect(same).toMatchObject({ result: true, changes: {} });
      expect(moved?.changes).toEqual({
        uri: { old: 'http://192.0.2.1/o', new: 'http://192.0.2.1/o/' },
        line: {
          old: 'deb [arch=amd64 signed-by=/k.gpg] http://192.0.2.1/o stable main',
          new: 'deb [arch=amd64 signed-by=/k.gpg] http://192.0.2.1/o/ stable main',
        },
      });
    });

    test('only the named components go, and only for the named architectures', async () => {
      const absent = (rest: string) => `pkgrepo.absent: [{name: '${rest}'}, {refresh: false}]`;
      const [part, all, otherArch] = await apply(
        absent('deb http://192.0.2.1/d stable main'),
        absent('deb http://192.0.2.1/d stable non-free'),
        absent('deb http://192.0.2.1/o stable main'),
      );
      expect(part).toMatchObject({ result: true });
      expect(all).toMatchObject({ result: true });
      expect(otherArch).toMatchObject({ result: true, changes: {} });
      expect(await inside(`cat ${list}`)).toBe(
        'deb http://192.0.2.1/d stable contrib\ndeb [arch=amd64 signed-by=/k.gpg] http://192.0.2.1/o/ stable main\n',
      );
    });

    test('an answer without a type or a value is refused', async () => {
      const [noValue, noType] = await apply(
        'debconf.set: [{name: lab}, {data: {lab/q: {type: string}}}]',
        'debconf.set: [{name: lab}, {data: {lab/q: {value: x}}}]',
      );
      for (const refused of [noValue, noType])
        expect(refused).toMatchObject({
          result: false,
          changes: {},
          comment: 'lab/q needs a type and a value: {type: string, value: …}.',
        });
    });

    test('a service that runs is reloaded by force, one that is down stays down', async () => {
      await inside(
        `printf '${unit}' >/etc/systemd/system/one.service; printf '${unit}' >'/etc/systemd/system/many@.service'; systemctl daemon-reload; systemctl start one`,
      );
      const pid = 'systemctl show -P MainPID one';
      const before = await inside(pid);
      expect(await call('service.force_reload', 'one', 'no_block=False')).toBe(true);
      expect(await inside(pid)).not.toBe(before);
      await inside('systemctl stop one');
      expect(await call('service.force_reload', 'one', 'no_block=False')).toBe(true);
      expect(await inside('systemctl is-active one || true')).toBe('inactive\n');
    });

    test('units are listed, shown and looked up as Salt does', async () => {
      expect(await call('service.status', 'one*')).toEqual({ one: false });
      expect(await call('service.available', 'many@')).toBe(true);
      expect(await call('service.available', 'none@')).toBe(false);
      const running = (await call('service.get_running')) as string[];
      expect(running).toContain('ssh');
      expect(running.filter(name => /\.(?:target|mount|timer|scope|slice)$/.test(name))).toEqual(
        [],
      );
      expect(await call('service.execs')).toMatchObject({ one: '/bin/sleep' });
      expect(await call('service.show', 'one')).toMatchObject({
        ExecStart: { path: '/bin/sleep', 'argv[]': '/bin/sleep infinity' },
        After: expect.arrayContaining(['basic.target']),
      });
    });

    test('a service that cannot be stopped is reported with the reason', async () => {
      await inside(
        `printf '[Unit]\\nRefuseManualStop=yes\\n${unit}' >/etc/systemd/system/stays.service; systemctl daemon-reload; systemctl start stays`,
      );
      const [dead] = await apply('service.dead: [{name: stays}]');
      expect(dead).toMatchObject({ result: false, changes: {} });
      expect(dead?.comment).toContain('Service stays failed to die: Failed to stop stays.service');
    });
  },
);
