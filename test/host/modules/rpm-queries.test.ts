import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';
import { makeRpmRepo } from '../../helpers/package-repos.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const modules = {
  packages: 'src/modules/pkg/exec/yumpkg/packages.ts',
  holds: 'src/modules/pkg/exec/yumpkg/holds.ts',
  groups: 'src/modules/pkg/exec/yumpkg/groups.ts',
  repos: 'src/modules/pkg/exec/yumpkg/repos.ts',
  queries: 'src/modules/pkg/exec/yumpkg/queries.ts',
  offers: 'src/modules/pkg/exec/yumpkg/offers.ts',
  advisories: 'src/modules/pkg/exec/yumpkg/advisories.ts',
  pkgInstalled: 'src/modules/pkg/states/pkg/installed.ts',
  pkgRemoved: 'src/modules/pkg/states/pkg/removed.ts',
  pkgPatches: 'src/modules/pkg/states/pkg/patch_installed.ts',
  pkgrepo: 'src/modules/pkg/states/pkgrepo.ts',
};

const canRun = ['dnf', 'rpmbuild', 'createrepo_c', 'modifyrepo_c'].every(one => which(one));

/** The answers of Salt 3006.9 to the same calls, on the same packages in the same kind of place. */
describe.skipIf(!canRun || !canRunApart())('the real dnf and rpm', { timeout: 240_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-rpm-'));
  let told: Record<string, unknown>;
  beforeAll(async () => {
    const repo = makeRpmRepo(folder);
    told = await runApart(
      modules,
      `import { execFileSync } from 'node:child_process';
      import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
      const write = (path, text) => {
        mkdirSync(path.replace(/[^/]*$/, ''), { recursive: true });
        writeFileSync(path, text);
      };
      const address = ${JSON.stringify(`file://${repo}`)};
      rmSync('/var/lib/rpm', { recursive: true, force: true });
      write('/etc/rpm/macros', '%_dbpath /var/lib/rpm\\n');
      write('/etc/dnf/vars/releasever', '9\\n');
      write('/etc/dnf/dnf.conf', '[main]\\ngpgcheck=1\\n');
      write('/etc/dnf/plugins/local.conf', '[main]\\nenabled=false\\n');
      mkdirSync('/etc/yum.repos.d', { recursive: true });
      const pkg = { ...packages, ...holds, ...groups, ...repos, ...queries, ...offers, ...advisories };
      // A run binds names and options; a state calls with names first.
      const verify = (...words) => pkg.verify(words.pop(), ...words);
      const redhat = contextOf(
        { pkg: { ...pkg, verify } },
        { grains: { os_family: 'RedHat', os: 'Rocky', osarch: 'x86_64' } },
      );
      const ask = (name, work) => step(name, work, redhat);
      const settle = (name, work) => thrice(name, work, redhat);

      const test = { name: 'Test', baseurl: address, gpgcheck: false, enabled: true };
      await ask('mod_repo', () => pkg.mod_repo('test', { ...test, comments: ['one', 'two'] }));
      await ask('list_repos', () => pkg.list_repos());
      await ask('two addresses', () => pkg.mod_repo('test', { mirrorlist: 'x', baseurl: 'y' }));
      await ask('no name', () => pkg.mod_repo('test', { name: '' }));
      await ask('no address', () => pkg.mod_repo('new', { name: 'x' }));
      await ask('none to remove', () => pkg.del_repo('nope'));
      await ask('nothing newer', () => pkg.refresh_db());
      await ask('old', () => pkg.install('alpha', { version: '1.0-1' }));
      await ask('epoch', () => pkg.install('gamma'));
      await ask('something newer', () => pkg.refresh_db());
      await ask('attributes', () => pkg.list_pkgs({ attr: ['epoch', 'release'] }));
      await ask('globs', () => pkg.version('g*'));
      await ask('info', () => pkg.info_installed({}, 'gamma', 'nope'));
      await ask('some info', () => pkg.info_installed({ attr: 'version,epoch' }, 'gamma'));
      await ask('all info', () => pkg.info_installed({ attr: 'version', all_versions: true }, 'gamma'));
      await ask('files', () => pkg.file_list({}, 'gamma'));
      await ask('files by package', () => pkg.file_dict({}, 'gamma', 'alpha', 'nope'));
      await ask('owner', () => pkg.owner({}, '/opt/tsalt/gamma/conf'));
      await ask('owners', () => pkg.owner({}, '/opt/tsalt/gamma/conf', '/etc/passwd', '/nowhere'));
      await ask('unaltered', () => pkg.verify({}, 'gamma'));
      writeFileSync('/opt/tsalt/gamma/conf', 'changed\\n');
      rmSync('/opt/tsalt/gamma/version');
      chmodSync('/opt/tsalt/gamma', 0o700);
      await ask('altered', () => pkg.verify({}, 'gamma'));
      await ask('not all altered', () =>
        pkg.verify({ ignore_types: 'config', verify_options: ['nomode'] }, 'gamma'));
      await ask('download', () => pkg.download('gamma', 'nope'));
      await ask('differences', () =>
        pkg.diff('/opt/tsalt/gamma/conf', '/opt/tsalt/alpha/conf', '/etc/passwd', '/nowhere'));
      await ask('restarts', () => pkg.services_need_restart());
      await ask('verify none', () => pkg.verify({}, 'nope'));
      await ask('modified', () => pkg.modified({}, 'gamma'));
      await ask('modified modes', () => pkg.modified({ mode: true }, 'gamma'));
      await ask('modified others', () => pkg.modified({ mode: false }, 'gamma'));
      await settle('mended', () =>
        pkgInstalled.installed('gamma', { pkg_verify: [{ ignore_types: ['config'] }] }));
      await ask('latest', () => pkg.latest_version({ refresh: false }, 'alpha', 'gamma', 'nope'));
      await ask('upgrade_available', () => pkg.upgrade_available('alpha', { refresh: false }));
      await ask('offers', () => pkg.list_repo_pkgs({}, 'alpha', 'g*'));
      await ask('offers by repo', () => pkg.list_repo_pkgs({ byrepo: true }, 'alpha'));
      await ask('upgrades', () => pkg.list_upgrades({ refresh: false }));
      await ask('patches', () => pkg.list_patches());
      await ask('no patch', () => pkg.install(null, { advisory_ids: 'TSALT-9' }));
      await settle('patch', () => pkgPatches.patch_installed('TSALT-2024-1'));
      await ask('installed patches', () => pkg.list_installed_patches());
      await ask('older', () => pkg.install('alpha', { version: '1.10-1' }));
      await ask('hold', () => pkg.hold('alpha'));
      await ask('hold again', () => pkg.hold('alpha'));
      await ask('hold without', () => pkg.hold());
      await ask('held', () => pkgInstalled.installed('alpha', { version: '2.0-1' }));
      await ask('held no more', () =>
        pkgInstalled.installed('alpha', { version: '2.0-1', update_holds: true }));
      await ask('locks', () => pkg.list_holds());
      await ask('names of locks', () => pkg.list_holds({ full: false }));
      await ask('unhold', () => pkg.unhold('alpha'));
      await ask('unhold again', () => pkg.unhold('alpha'));
      await ask('normal', async () => [
        await pkg.normalize_name('zsh.x86_64'),
        await pkg.normalize_name('zsh.i686'),
        await pkg.normalize_name('python3.11'),
        await pkg.parse_arch('zsh.i686'),
      ]);
      await ask('groups', () => pkg.group_list());
      await ask('group_install', () => pkg.group_install('Test Tools', { include: 'gamma' }));
      await ask('other version', () => pkg.remove(null, { pkgs: [{ beta: '9' }] }));
      await ask('this version', () => pkg.remove(null, { pkgs: [{ beta: '1-1' }] }));
      await ask('by architecture', () => pkgInstalled.installed('beta.x86_64', { refresh: false }));
      await ask('upgrade but', () => pkg.upgrade({ refresh: false, exclude: 'al*' }));
      await ask('remove glob', () => pkg.remove('gam*'));
      const other = { baseurl: 'http://example.com/x', enabled: false, priority: 5 };
      await settle('managed', () => pkgrepo.managed('other', other));
      await settle('changed', () => pkgrepo.managed('other', { ...other, comments: 'three', priority: 7 }));
      told.repo = readFileSync('/etc/yum.repos.d/other.repo', 'utf8');
      await settle('absent', () => pkgrepo.absent('other'));
      await ask('del_repo', () => pkg.del_repo('test'));`,
      ['/var', '/root', '/opt'],
    );
  }, 240_000);
  afterAll(() => removeFolder(folder));

  test('repositories are written, refused and removed', () => {
    const settings = { name: 'Test', baseurl: expect.any(String), gpgcheck: '0', enabled: '1' };
    const test = { ...settings, comments: ['one', 'two'] };
    const file = '/etc/yum.repos.d/test.repo';
    expect(told.mod_repo).toEqual({ [file]: { test } });
    expect(told.list_repos).toEqual({ test: { ...test, file } });
    expect(told['two addresses']).toContain(
      "Only one of 'mirrorlist' and 'baseurl' can be specified",
    );
    expect(told['no name']).toContain('The repo name cannot be deleted');
    expect(told['no address']).toContain('either a baseurl or a mirrorlist needs to be given');
    expect(told['none to remove']).toMatch(/^Error: the nope repo does not exist in \['\/etc\/yum/);
    expect(told['managed told']).toMatchObject({ result: null, changes: { repo: 'other' } });
    expect(told.managed).toMatchObject({ result: true, changes: { repo: 'other' } });
    expect(told['managed again']).toMatchObject({ result: true, changes: {} });
    expect(told.changed).toHaveProperty('changes', {
      comments: { new: ['three'], old: null },
      priority: { new: '7', old: '5' },
    });
    expect(told['changed again']).toHaveProperty('changes', {});
    expect(told.repo).toBe(
      '[other]\nbaseurl=http://example.com/x\nenabled=0\npriority=7\nname=other\n# three\n',
    );
    expect(told.absent).toMatchObject({ result: true, changes: { repo: 'other' } });
    expect(told['absent again']).toMatchObject({ result: true, changes: {} });
    expect(told.del_repo).toBe(`File ${file} containing repo test has been removed`);
  });

  test('fetching the data returns whether there are updates', () => {
    expect(told['nothing newer']).toBe(null);
    expect(told['something newer']).toBe(true);
  });

  test('installed packages are described', () => {
    expect(told.attributes).toEqual({
      alpha: [{ release: '1', arch: 'noarch', epoch: null, version: '1.0' }],
      gamma: [{ release: '1', arch: 'noarch', epoch: '2', version: '3' }],
    });
    expect(told.globs).toEqual({ gamma: '2:3-1' });
    expect(told.info).toEqual({ gamma: expect.objectContaining(saltInfo) });
    expect(Object.keys((told.info as { gamma: object }).gamma).sort()).toEqual(
      [...Object.keys(saltInfo), ...saltTimes].sort(),
    );
    expect(told['some info']).toEqual({ gamma: { version: '3', epoch: '2' } });
    expect(told['all info']).toEqual({ gamma: [{ version: '3', edition: '2:3-1' }] });
  });

  test('files and their packages are found', () => {
    const files = ['', '/conf', '/version'].map(name => `/opt/tsalt/gamma${name}`);
    const alpha = files.map(file => file.replace('gamma', 'alpha'));
    expect(told.files).toEqual({ errors: [], files });
    expect(told['files by package']).toEqual({
      errors: ['package nope is not installed'],
      packages: { gamma: files, alpha },
    });
    expect(told.owner).toBe('gamma');
    expect(told.owners).toEqual({
      '/opt/tsalt/gamma/conf': 'gamma',
      '/etc/passwd': '',
      '/nowhere': '',
    });
  });

  test('altered files are reported, and repaired by pkg.installed', () => {
    expect(told.unaltered).toEqual({});
    expect(told.altered).toEqual({
      '/opt/tsalt/gamma': { mismatch: ['mode'] },
      '/opt/tsalt/gamma/conf': { mismatch: ['md5sum', 'mtime'], type: 'config' },
      '/opt/tsalt/gamma/version': { missing: true },
    });
    expect(told['not all altered']).toEqual({ '/opt/tsalt/gamma/version': { missing: true } });
    expect(told['verify none']).toContain('package nope is not installed');
    expect(told.modified).toEqual({
      '/opt/tsalt/gamma': ['mode'],
      '/opt/tsalt/gamma/conf': ['checksum', 'time', 'config'],
      '/opt/tsalt/gamma/version': ['missing'],
    });
    expect(told['modified modes']).toEqual({ '/opt/tsalt/gamma': ['mode'] });
    expect(Object.keys(told['modified others'] as object)).toEqual([
      '/opt/tsalt/gamma/conf',
      '/opt/tsalt/gamma/version',
    ]);
    expect(told['mended told']).toMatchObject({ result: null });
    expect(told.mended).toMatchObject({ result: true });
    expect(told['mended again']).toMatchObject({ result: true, changes: {} });
  });

  const plugins = '/usr/lib/python3/dist-packages/dnf-plugins';
  const canDownload =
    ['download.py', 'needs_restarting.py'].every(name => existsSync(`${plugins}/${name}`)) &&
    ['cpio', 'rpm2cpio'].every(which);
  test.skipIf(!canDownload)('packages are downloaded and compared with their files', () => {
    expect(told.download).toEqual({
      gamma: '/var/cache/yum/packages/gamma-3-1.noarch.rpm',
      _error: 'The following package(s) failed to download: nope',
    });
    expect(told.differences).toMatchObject({
      '/opt/tsalt/alpha/conf': 'Unchanged',
      '/etc/passwd': 'Not managed',
      '/nowhere': 'N/A',
    });
    expect((told.differences as { [path: string]: string })['/opt/tsalt/gamma/conf']).toBe(
      '--- A /opt/tsalt/gamma/conf\n+++ B /opt/tsalt/gamma/conf\n@@ -1 +1 @@\n-setting\n+changed\n',
    );
    expect(told.restarts).toEqual(expect.any(Array));
  });

  test('offers, upgrades and advisories are listed', () => {
    const alpha = ['2.0-1', '1.10-1', '1.0-1'];
    expect(told.latest).toEqual({ alpha: '2.0-1', gamma: '', nope: '' });
    expect(told.upgrade_available).toBe(true);
    expect(told.offers).toEqual({ alpha, gamma: ['2:3-1'] });
    expect(told['offers by repo']).toEqual({ test: { alpha } });
    expect(told.upgrades).toEqual({ alpha: '2.0-1' });
    expect(told.patches).toEqual({
      'TSALT-2024-1': { installed: false, summary: ['alpha-1.10-1.noarch'] },
      'TSALT-2024-2': { installed: false, summary: ['alpha-2.0-1.noarch'] },
    });
    expect(told['no patch']).toContain('Advisory id "TSALT-9" not found');
    expect(told['patch told']).toMatchObject({ result: null });
    expect(told.patch).toMatchObject({
      result: true,
      changes: { alpha: { old: '1.0-1', new: '2.0-1' } },
    });
    expect(told['patch again']).toMatchObject({ result: true, changes: {} });
    expect(told['installed patches']).toMatchObject({ 'TSALT-2024-2': { installed: true } });
  });

  test('held packages stay, or change and are held again', () => {
    const alpha = { name: 'alpha', result: true };
    expect(told.hold).toEqual({
      alpha: {
        ...alpha,
        changes: { new: 'hold', old: '' },
        comment: 'Package alpha is now being held.',
      },
    });
    expect(told['hold again']).toEqual({
      alpha: { ...alpha, changes: {}, comment: 'Package alpha is already set to be held.' },
    });
    expect(told['hold without']).toContain('One of name, pkgs, or sources must be specified.');
    expect(told.held).toMatchObject({ result: false, changes: {} });
    expect(JSON.stringify(told.held)).toContain(
      'could not be updated because they are being held: alpha',
    );
    expect(told['held no more']).toMatchObject({
      result: true,
      changes: { alpha: { old: '1.10-1', new: '2.0-1' } },
    });
    expect(told.locks).toEqual(['alpha-0:2.0-1.*']);
    expect(told['names of locks']).toEqual(['alpha']);
    expect(told.unhold).toEqual({
      alpha: {
        ...alpha,
        changes: { new: '', old: 'hold' },
        comment: 'Package alpha is no longer held.',
      },
    });
    expect(told['unhold again']).toEqual({
      alpha: { ...alpha, changes: {}, comment: 'Package alpha is not being held.' },
    });
  });

  test('names, groups and versions to remove are understood', () => {
    expect(told.normal).toEqual(['zsh', 'zsh.i686', 'python3.11', { name: 'zsh', arch: 'i686' }]);
    expect(told.groups).toEqual({
      installed: [],
      available: ['Test Tools'],
      'installed environments': [],
      'available environments': [],
      'available languages': {},
    });
    expect(told.group_install).toEqual({ beta: { old: '', new: '1-1' } });
    expect(told['other version']).toEqual({});
    expect(told['this version']).toEqual({ beta: { old: '1-1', new: '' } });
    expect(told['by architecture']).toMatchObject({ result: true, changes: { beta: {} } });
    expect(told['upgrade but']).toEqual({});
    expect(told['remove glob']).toEqual({ gamma: { old: '2:3-1', new: '' } });
  });
});

const saltTimes = [
  'build_date',
  'build_date_time_t',
  'build_host',
  'install_date',
  'install_date_time_t',
];
const saltInfo = {
  relocations: '(not relocatable)',
  version: '3',
  vendor: '(none)',
  release: '1',
  epoch: '2',
  group: 'Unspecified',
  source: 'gamma-3-1.src.rpm',
  size: expect.stringMatching(/^\d+$/),
  arch: 'noarch',
  license: 'none',
  signature: '(none)',
  summary: 'For tests',
  description: 'For tests.',
};
