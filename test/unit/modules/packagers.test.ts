import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PlainDict } from '../../../src/modules/api.ts';
import { downloadedOf, filesBelow } from '../../../src/modules/pkg/downloaded-packages.ts';
import { parsePackages } from '../../../src/modules/pkg/dpkg-list.ts';
import * as apk from '../../../src/modules/pkg/exec/apkpkg.ts';
import * as brewHolds from '../../../src/modules/pkg/exec/mac_brew_pkg/holds.ts';
import * as brew from '../../../src/modules/pkg/exec/mac_brew_pkg/packages.ts';
import * as pacman from '../../../src/modules/pkg/exec/pacmanpkg/packages.ts';
import * as yumGroups from '../../../src/modules/pkg/exec/yumpkg/groups.ts';
import * as yumHolds from '../../../src/modules/pkg/exec/yumpkg/holds.ts';
import * as yumPackages from '../../../src/modules/pkg/exec/yumpkg/packages.ts';
import * as yumRepos from '../../../src/modules/pkg/exec/yumpkg/repos.ts';
import * as zypperLocks from '../../../src/modules/pkg/exec/zypperpkg/locks.ts';
import * as zypper from '../../../src/modules/pkg/exec/zypperpkg/packages.ts';
import { _parseSolvables } from '../../../src/modules/pkg/exec/zypperpkg/patches.ts';
import { lockedName } from '../../../src/modules/pkg/yum-locks.ts';
import { parseUpdateInfo, parseYumList } from '../../../src/modules/pkg/yum-offers.ts';
import { parseZypperInfo } from '../../../src/modules/pkg/zypper.ts';
import { nothing } from '../../helpers/nothing.ts';
import { contextOf, within } from '../../modules/_context.ts';
import { notedPrograms } from '../../modules/_programs.ts';

const yum = { ...yumGroups, ...yumHolds, ...yumPackages, ...yumRepos };

/** Output in the managers' own form, played back by small programs in PATH. */
const recorded = (name: string): string => readFileSync(`test/fixtures/packagers/${name}`, 'utf8');

const { folder, program, log } = notedPrograms();

const printing = (file: string): string => {
  writeFileSync(join(folder(), file), recorded(file));
  return `cat ${join(folder(), file)}`;
};

const on = <T>(grains: PlainDict, work: () => Promise<T>): Promise<T> =>
  within(contextOf({}, { grains: { osarch: 'x86_64', ...grains } }), work);

test('rpm packages are listed by name, other architectures apart, epochs kept', async () => {
  program('rpm', printing('rpm-qa.txt'));
  const list = await on({ os_family: 'RedHat' }, () => yum.list_pkgs({ versions_as_list: true }));
  expect(list).toEqual({
    bash: ['5.1.8-9.el9'],
    'openssl-libs': ['1:3.0.7-27.el9'],
    glibc: ['2.34-100.el9'],
    'glibc.i686': ['2.34-100.el9'],
    'kernel-core': ['5.14.0-362.8.1.el9_3', '5.14.0-427.13.1.el9_4'],
    tzdata: ['2024a-1.el9'],
  });
});

test('dnf installs, downgrades and reinstalls by argv', async () => {
  program('rpm', printing('rpm-qa.txt'));
  program('dnf', 'exit 0');
  await on({ os_family: 'RedHat' }, () =>
    yum.install(null, {
      pkgs: ['nginx', { bash: '5.1.0-1.el9' }, { tzdata: '2024a-1.el9' }],
      reinstall: true,
      enablerepo: 'epel,crb',
      skip_verify: true,
    }),
  );
  expect(log().filter(line => line.startsWith('dnf'))).toEqual([
    'dnf -y --best --allowerasing --enablerepo=epel --enablerepo=crb --nogpgcheck install nginx',
    'dnf -y --enablerepo=epel --enablerepo=crb --nogpgcheck downgrade bash-5.1.0-1.el9',
    'dnf -y --enablerepo=epel --enablerepo=crb --nogpgcheck reinstall tzdata-2024a-1.el9',
  ]);
});

test('a failure of the manager names what it said and what changed all the same', async () => {
  program('rpm', printing('rpm-qa.txt'));
  program('dnf', 'echo "Error: Unable to find a match: nope" >&2; exit 1');
  await expect(on({ os_family: 'RedHat' }, () => yum.install('nope'))).rejects.toThrow(
    'Problem encountered installing package(s). Additional info follows:\n\nerrors:\n    - Error: Unable to find a match: nope',
  );
});

test('yum list is read, broken lines too', () => {
  expect(parseYumList(recorded('yum-list.txt'), 'x86_64')).toEqual(
    new Map([
      ['nginx', ['1:1.20.1-14.el9_2.1', '1:1.20.1-16.el9_4.1']],
      ['a-very-long-package-name-that-breaks-the-line', ['2.3-1.el9']],
    ]),
  );
  expect(lockedName('nginx-1:1.20.1-14.el9.*')).toBe('nginx');
  expect(lockedName('1:nginx-mod-1.20.1-14.el9.*')).toBe('nginx-mod');
});

test('groups of dnf are read', () => {
  expect(yum._parseGroup(recorded('dnf-group-info.txt'))).toEqual({
    mandatory: ['autoconf', 'automake'],
    default: ['byacc'],
    optional: ['ant'],
    conditional: [],
    type: 'package group',
    group: 'Development Tools',
    id: null,
    description: 'A basic development environment.',
  });
});

test('a repository of yum is added, changed and taken away', async () => {
  const basedir = join(folder(), 'repos');
  const run = <T>(work: () => Promise<T>): Promise<T> => on({ os_family: 'RedHat' }, work);
  await expect(run(() => yum.mod_repo('tools', { basedir, enabled: true }))).rejects.toThrow(
    'needs to be created, but a name was not given',
  );
  const made = await run(() =>
    yum.mod_repo('tools', {
      basedir,
      name: 'Tools',
      baseurl: 'https://example.com/el9',
      enabled: true,
      gpgcheck: false,
      refresh: true,
    }),
  );
  const file = join(basedir, 'tools.repo');
  expect(made).toEqual({
    [file]: {
      tools: { name: 'Tools', baseurl: 'https://example.com/el9', enabled: '1', gpgcheck: '0' },
    },
  });
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n# kept\n[other]\nname=Other\nbaseurl=x\n`);
  await run(() => yum.mod_repo('tools', { basedir, enabled: false }));
  expect(readFileSync(file, 'utf8')).toBe(
    '[tools]\nname=Tools\nbaseurl=https://example.com/el9\nenabled=0\ngpgcheck=0\n\n# kept\n\n[other]\nname=Other\nbaseurl=x\n',
  );
  await run(() => yum.del_repo('tools', { basedir }));
  expect(readFileSync(file, 'utf8')).toBe('[other]\nname=Other\nbaseurl=x\n');
  await run(() => yum.del_repo('other', { basedir }));
  expect(() => readFileSync(file)).toThrow();
});

test('apk packages, offers and upgrades are read', async () => {
  expect(apk._parseApkInfo(recorded('apk-info.txt'))).toEqual({
    alpha: ['1.0-r0'],
    beta: ['1-r0'],
    'musl-x': ['1.2.4_git20230717-r4'],
    'py3-foo-bar2': ['0_pre1-r10'],
  });
  expect(apk._parseApkPolicy(recorded('apk-policy.txt'))).toEqual(
    new Map([
      ['alpha', ['1.0-r0', '1.10-r0', '2.0-r0']],
      ['gamma', ['3-r1']],
    ]),
  );
  program('apk', `[ "$1 $2" = 'upgrade --simulate' ] && ${printing('apk-upgrade.txt')}`);
  const upgrades = await on({ os_family: 'Alpine' }, () => apk.list_upgrades({ refresh: false }));
  expect(upgrades).toEqual({ alpha: '2.0-r0' });
});

test('apk installs at a version, upgrades, installs again, and removes only what is there', async () => {
  program('apk', `[ "$1" = info ] && ${printing('apk-info.txt')}; exit 0`);
  const run = <T>(work: () => Promise<T>): Promise<T> => on({ os_family: 'Alpine' }, work);
  await run(() => apk.install('nginx', { version: '1.24.0-r15' }));
  await run(() => apk.install('alpha', { skip_verify: true, fromrepo: '/srv/apk' }));
  await run(() => apk.install('beta', { version: '1-r0', reinstall: true }));
  expect(await run(() => apk.remove('not-there'))).toEqual({});
  await run(() => apk.purge('musl-x'));
  expect(log().filter(line => !line.includes('info'))).toEqual([
    'apk add nginx=1.24.0-r15',
    'apk add --upgrade --allow-untrusted --repository /srv/apk alpha',
    'apk fix --reinstall beta',
    'apk del --purge musl-x',
  ]);
});

test('zypper offers and locks are read', async () => {
  expect(parseZypperInfo(recorded('zypper-info.txt'))).toEqual(
    new Map([['nginx', '1.21.5-150400.3.3.1']]),
  );
  mkdirSync(join(folder(), 'root/etc/zypp'), { recursive: true });
  writeFileSync(join(folder(), 'root/etc/zypp/locks'), recorded('zypper-locks.txt'));
  const root = join(folder(), 'root');
  const run = <T>(work: () => Promise<T>): Promise<T> => on({ os_family: 'Suse' }, work);
  expect(await run(() => zypperLocks.list_locks({ root }))).toEqual({
    nginx: { type: 'package', match_type: 'glob', case_sensitive: 'on' },
    'kernel*': { type: 'package', match_type: 'glob', case_sensitive: 'on', version: '= 5.14' },
  });
  expect(await run(() => zypperLocks.hold('nginx', { root }))).toMatchObject({
    nginx: { changes: nothing, comment: 'Package nginx is already set to be held.' },
  });
  program('zypper', 'exit 0');
  const pkgs = [{ 'kernel*': '5.14' }, 'bash'];
  expect(await run(() => zypperLocks.unhold(null, { root, pkgs }))).toMatchObject({
    'kernel*': { changes: { new: '', old: 'hold' }, comment: 'Package kernel* is no longer held.' },
    bash: { changes: nothing, comment: 'Package bash was already unheld.' },
  });
  expect(log()).toEqual([
    `zypper --xmlout --non-interactive --no-refresh --root ${root} removelock kernel*=5.14`,
  ]);
});

test('zypper and pacman install the newest version that fits', async () => {
  program('rpm', printing('rpm-qa.txt'));
  program('zypper', `case "$*" in *search*) ${printing('zypper-search.txt')};; esac`);
  await on({ os_family: 'Suse' }, () => zypper.install('tsalta', { version: '<2' }));
  program('pacman', `case $1 in -Si) ${printing('pacman-si.txt')};; esac`);
  await on({ os_family: 'Arch' }, () => pacman.install('nginx', { version: '>=1.26' }));
  await expect(
    on({ os_family: 'Arch' }, () => pacman.install('nginx', { version: '>=2' })),
  ).rejects.toThrow("No version matching 'nginx>=2' could be found (available: 1.26.1-1)");
  expect(log().filter(line => / install | -S /.test(line))).toEqual([
    'zypper --non-interactive --no-refresh install --auto-agree-with-licenses --name tsalta=1.0-1',
    'pacman -S --noprogressbar --noconfirm --needed -- nginx=1.26.1-1',
  ]);
});

test('pacman finds the newest version', async () => {
  program(
    'pacman',
    `case $1 in -Q) echo "nginx 1.24.0-1";; -Si) ${printing('pacman-si.txt')};; esac`,
  );
  const run = <T>(work: () => Promise<T>): Promise<T> => on({ os_family: 'Arch' }, work);
  expect(await run(() => pacman.latest_version({ refresh: false }, 'nginx'))).toBe('1.26.1-1');
  expect(await run(() => pacman.version('nginx'))).toBe('1.24.0-1');
});

test('Homebrew lists formulae and casks and refuses what it cannot do', async () => {
  program('brew', printing('brew-info.json'));
  const run = <T>(work: () => Promise<T>): Promise<T> => on({ os_family: 'MacOS' }, work);
  expect(await run(() => brew.list_pkgs())).toEqual({
    jq: '1.7',
    tool: '2.0',
    'acme/tap/tool': '2.0',
    firefox: '125.0',
    'homebrew/cask/firefox': '125.0',
  });
  expect(await run(() => brew.latest_version({ refresh: false }, 'jq', 'tool'))).toEqual({
    jq: '1.7.1',
    tool: '',
  });
  await expect(run(() => brew.install('jq', { version: '1.6' }))).rejects.toThrow('jq@1.6');
});

test("dpkg's states are distinguished", () => {
  expect(
    parsePackages(
      `install ok installed bash 5.2-1 amd64
hold ok installed nginx 1.22-1 amd64
install ok installed libc6 2.36-9 i386
deinstall ok config-files apache2 2.4-1 amd64
purge ok installed old 1 all
install ok half-configured broken 1 amd64
`,
      'amd64',
    ),
  ).toEqual({
    installed: { bash: ['5.2-1'], nginx: ['1.22-1'], 'libc6:i386': ['2.36-9'] },
    removed: { apache2: ['2.4-1'] },
    purge_desired: { old: ['1'] },
  });
});

test('advisories are installed when all their packages are', async () => {
  expect(parseUpdateInfo(recorded('dnf-updateinfo.txt'))).toEqual({
    'RHBA-2024:2517': { installed: true, summary: ['tzdata-2024a-1.el9.noarch'] },
    'RHSA-2024:2447': {
      installed: false,
      summary: ['openssl-1:3.0.7-27.el9.x86_64', 'openssl-libs-1:3.0.7-28.el9.x86_64'],
    },
    'RHSA-2024:9999': { installed: false, summary: ['kernel-core-5.14.0-503.el9.x86_64'] },
  });
  const patches = _parseSolvables(recorded('zypper-patches.xml'));
  expect(Object.entries(patches).map(([id, { installed }]) => [id.slice(-3), installed])).toEqual([
    ['120', true],
    ['150', false],
    ['185', false],
  ]);
});

test('advisories are installed by argv, or only downloaded', async () => {
  program('rpm', printing('rpm-qa.txt'));
  program('dnf', 'case "$*" in *updateinfo*) printf "i A-1 x a-1\\n  A-2 x b-1\\n";; esac');
  program(
    'zypper',
    `case "$*" in *search*) echo '<solvable name="A-1"/><solvable name="A-2"/>';; esac`,
  );
  const ids = { advisory_ids: ['A-1', 'A-2'] };
  await on({ os_family: 'RedHat' }, () => yum.install(null, { ...ids, enablerepo: 'crb' }));
  await on({ os_family: 'RedHat' }, () => yum.install(null, { ...ids, downloadonly: true }));
  await on({ os_family: 'Suse' }, () => zypper.install(null, ids));
  await expect(
    on({ os_family: 'Suse' }, () => zypper.install(null, { advisory_ids: 'A-3' })),
  ).rejects.toThrow('Advisory id "A-3" not found');
  expect(log().filter(line => /^(dnf|zypper) .*(upgrade|install )/.test(line))).toEqual([
    'dnf -y --best --allowerasing --enablerepo=crb upgrade --advisory=A-1 --advisory=A-2',
    'dnf -y --best --allowerasing --downloadonly upgrade --advisory=A-1 --advisory=A-2',
    'zypper --non-interactive --no-refresh install --auto-agree-with-licenses patch:A-1 patch:A-2',
  ]);
  await expect(on({ os_family: 'Alpine' }, () => apk.install(null, ids))).rejects.toThrow(
    'knows no advisories',
  );
});

test('package files are found below a folder', () => {
  mkdirSync(join(folder(), 'archives', 'partial'), { recursive: true });
  const file = join(folder(), 'archives', 'zsh_5.9_amd64.deb');
  writeFileSync(file, 'deb');
  writeFileSync(join(folder(), 'archives', 'lock'), '');
  const files = filesBelow(join(folder(), 'archives'), '.deb');
  expect(files).toEqual([file]);
  expect(filesBelow(join(folder(), 'nowhere'), '.deb')).toEqual([]);
  expect(downloadedOf(files.map(path => [path, 'zsh', '5.9'] as const))).toEqual({
    zsh: {
      '5.9': {
        path: file,
        size: 3,
        creation_date_time_t: expect.any(Number),
        creation_date_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+$/),
      },
    },
  });
});

test('Homebrew pins packages that are there', async () => {
  program(
    'brew',
    `case "$*" in 'list --pinned') echo tool;; info*) ${printing('brew-info.json')};; esac`,
  );
  const run = <T>(work: () => Promise<T>): Promise<T> => on({ os_family: 'MacOS' }, work);
  expect(await run(() => brewHolds.hold(null, { pkgs: ['jq', 'tool', 'nope'] }))).toEqual({
    jq: {
      name: 'jq',
      changes: { old: 'install', new: 'hold' },
      result: true,
      comment: 'Package jq is now being held.',
    },
    tool: {
      name: 'tool',
      changes: {},
      result: true,
      comment: 'Package tool is already set to be held.',
    },
    nope: {
      name: 'nope',
      changes: {},
      result: false,
      comment: 'Package nope does not have a state.',
    },
  });
  expect(await run(() => brewHolds.unhold('tool'))).toMatchObject({
    tool: { changes: { old: 'hold', new: 'install' } },
  });
  expect(log().filter(line => line.includes('pin '))).toEqual(['brew pin jq', 'brew unpin tool']);
});

test('files of apk packages and their packages are found', async () => {
  program(
    'apk',
    `case "$*" in
      'info -L musl') printf 'musl-1.2.4-r4 contains:\\nlib/ld-musl-x86_64.so.1\\n\\n';;
      'info -W /bin/busybox') echo '/bin/busybox is owned by busybox-1.36.1-r5';;
      *) echo "ERROR: $3: Could not find owner package" >&2; exit 1;;
    esac`,
  );
  const run = <T>(work: () => Promise<T>): Promise<T> => on({ os_family: 'Alpine' }, work);
  expect(await run(() => apk.file_dict('musl', 'nope'))).toEqual({
    errors: [],
    packages: { musl: ['lib/ld-musl-x86_64.so.1'] },
  });
  expect(await run(() => apk.owner('/bin/busybox', '/x'))).toEqual({
    '/bin/busybox': 'busybox-1.36.1-r5',
    '/x': 'Could not find owner package',
  });
});

test('environments of dnf are read as groups of groups', async () => {
  program(
    'dnf',
    `case "$*" in
      *@Core) printf 'Group: Core\\n Mandatory Packages:\\n   bash\\n Optional Packages:\\n   tcpdump\\n';;
      *) printf 'Environment Group: Server\\n Description: A server.\\n Mandatory Groups:\\n   Core\\n';;
    esac`,
  );
  const run = <T>(work: () => Promise<T>): Promise<T> => on({ os_family: 'RedHat' }, work);
  const server = { type: 'environment group', group: 'Server', description: 'A server.' };
  expect(await run(() => yum.group_info('Server'))).toMatchObject({
    ...server,
    mandatory: ['Core'],
  });
  expect(await run(() => yum.group_info('Server', { expand: true }))).toMatchObject({
    ...server,
    mandatory: ['bash'],
    optional: ['tcpdump'],
  });
});

test('further arguments of dnf upgrade are passed as options', async () => {
  program('rpm', printing('rpm-qa.txt'));
  program('dnf', 'exit 0');
  await on({ os_family: 'RedHat' }, () =>
    yum.upgrade({
      refresh: false,
      security: true,
      exclude: 'kernel*',
      minimal: true,
      name: 'bash',
    }),
  );
  await on({ os_family: 'RedHat' }, () =>
    yum.update({ refresh: false, setopt: 'tsflags=nodocs', disablerepo: ['a', 'b'] }),
  );
  expect(log().filter(line => line.startsWith('dnf'))).toEqual([
    'dnf --quiet -y --exclude=kernel* --security upgrade-minimal bash',
    'dnf --quiet -y --disablerepo=a --disablerepo=b --setopt=tsflags=nodocs --setopt=obsoletes=False upgrade',
  ]);
});
