import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';
import { makePacmanRepo, makeRpmRepo } from '../../helpers/package-repos.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const has = (...programs: string[]): boolean =>
  programs.every(name => which(name) !== undefined) && canRunApart();

const modules = {
  packages: 'src/modules/pkg/exec/yumpkg/packages.ts',
  holds: 'src/modules/pkg/exec/yumpkg/holds.ts',
  groups: 'src/modules/pkg/exec/yumpkg/groups.ts',
  repos: 'src/modules/pkg/exec/yumpkg/repos.ts',
  queries: 'src/modules/pkg/exec/yumpkg/queries.ts',
  offers: 'src/modules/pkg/exec/yumpkg/offers.ts',
  zypper: 'src/modules/pkg/exec/zypperpkg/packages.ts',
  zypperLocks: 'src/modules/pkg/exec/zypperpkg/locks.ts',
  zypperRepos: 'src/modules/pkg/exec/zypperpkg/repos.ts',
  zypperQueries: 'src/modules/pkg/exec/zypperpkg/queries.ts',
  zypperOffers: 'src/modules/pkg/exec/zypperpkg/offers.ts',
  zypperPatches: 'src/modules/pkg/exec/zypperpkg/patches.ts',
  pacman: 'src/modules/pkg/exec/pacmanpkg/packages.ts',
  pacmanGroups: 'src/modules/pkg/exec/pacmanpkg/groups.ts',
  pacmanFiles: 'src/modules/pkg/exec/pacmanpkg/files.ts',
  pkgInstalled: 'src/modules/pkg/states/pkg/installed.ts',
  pkgLatest: 'src/modules/pkg/states/pkg/latest.ts',
  pkgRemoved: 'src/modules/pkg/states/pkg/removed.ts',
  pkgHeld: 'src/modules/pkg/states/pkg/held.ts',
  pkgUptodate: 'src/modules/pkg/states/pkg/uptodate.ts',
  pkgGroup: 'src/modules/pkg/states/pkg/group_installed.ts',
};
/** The paths that the managers and these packages write to. */
const written = ['/var', '/root', '/opt'];

/**
 * Starts each scenario: `on(os_family, pkg)` returns functions that run a state in test mode, and
 * thrice.
 */
const start = `
  import { execFileSync } from 'node:child_process';
  import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
  const write = (path, text) => {
    mkdirSync(path.replace(/[^/]*$/, ''), { recursive: true });
    writeFileSync(path, text);
  };
  process.env.HOME = '/root';
  // Debian's rpm would keep its database in the home directory, away from zypper's.
  write('/root/.rpmmacros', '%_dbpath /var/lib/rpm\\n');
  const on = (os_family, pkg) => {
    // A run binds names of packages and options; here the options come last, as states pass them.
    const latest_version = (...words) => pkg.latest_version(words.pop(), ...words);
    const real = contextOf({ pkg: { ...pkg, latest_version } }, { grains: { os_family, osarch: 'x86_64' } });
    const dry = { ...real, opts: { ...real.opts, test: true }, context: {} };
    const tell = async (name, work, context = real) => {
      try { told[name] = await within(context, work); }
      catch (error) { told[name] = 'failed: ' + error.message; }
    };
    const settle = async (name, work) => {
      await tell(name + ' told', work, { ...dry, context: {} });
      await tell(name, work);
      await tell(name + ' again', work);
    };
    return { tell, settle };
  };
`;

/** A state that was predicted, applied, and had nothing to do after that. */
const expectSettled = (told: Record<string, unknown>, name: string, changes: object): void => {
  expect(told[`${name} told`], name).toMatchObject({ result: null });
  expect(told[name], JSON.stringify(told[name])).toMatchObject({ result: true });
  expect(told[name]).toHaveProperty('changes', changes);
  expect(told[`${name} again`], name).toMatchObject({ result: true });
  expect(told[`${name} again`]).toHaveProperty('changes', {});
};

/** Arguments of both dnf and zypper; versions are written as rpm has them. */
const rpmScenario = `
  await tell('nothing', () => pkg.list_pkgs());
  await settle('install', () => pkgInstalled.installed('alpha', { version: '1.0-1' }));
  told.version = readFileSync('/opt/tsalt/alpha/version', 'utf8');
  await tell('latest_version', () => pkg.latest_version({}, 'alpha', 'gamma'));
  await tell('upgrades', () => pkg.list_upgrades());
  await settle('hold', () => pkgHeld.held('alpha'));
  await tell('holds', () => pkg.list_holds());
  await tell('upgrade held', () => pkg.upgrade());
  await settle('unhold', () => pkgHeld.unheld('alpha'));
  await settle('range', () => pkgInstalled.installed('alpha', { version: '>=1.5,<2' , refresh: false }));
  await settle('exact', () => pkgInstalled.installed('alpha', { version: '1.10' }));
  await settle('latest', () => pkgLatest.latest('alpha'));
  await tell('downgrade', () => pkg.install('alpha', { version: '1.0-1' }));
  await settle('uptodate', () => pkgUptodate.uptodate('all', { refresh: true }));
  await settle('epoch', () => pkgInstalled.installed('g', { pkgs: [{ gamma: '2:3-1' }, 'beta'] }));
  await tell('reinstall', () => pkg.install('gamma', { reinstall: true }));
  await settle('remove', () => pkgRemoved.removed('alpha'));
  await settle('file', () => pkgInstalled.installed('f', {
    sources: [{ alpha: repo + '/noarch/alpha-1.0-1.noarch.rpm' }],
    skip_verify: true,
  }));
  await settle('purge', () => pkgRemoved.purged('gamma'));
  await tell('left', () => pkg.list_pkgs());
  await tell('unknown', () => pkgInstalled.installed('nope'));
  await tell('no such version', () => pkgInstalled.installed('alpha', { version: '9' }));
`;

const expectRpm = (told: Record<string, unknown>): void => {
  expect(told.nothing).toEqual({});
  expectSettled(told, 'install', { alpha: { old: '', new: '1.0-1' } });
  expect(told.version).toBe('1.0\n');
  expect(told.latest_version).toEqual({ alpha: '2.0-1', gamma: '2:3-1' });
  expect(told.upgrades).toEqual({ alpha: '2.0-1' });
  expect(told['hold told']).toMatchObject({ result: null });
  expect(told.hold).toMatchObject({ result: true });
  expect(told['hold again']).toMatchObject({ result: true, changes: {} });
  expect(told.holds).toEqual(['alpha-0:1.0-1.*']);
  expect(told['upgrade held']).toEqual({});
  expect(told.unhold).toMatchObject({ result: true });
  expect(told['unhold again']).toHaveProperty('changes', {});
  expectSettled(told, 'range', { alpha: { old: '1.0-1', new: '1.10-1' } });
  expect(told.exact).toMatchObject({ result: true });
  expect(told.exact).toHaveProperty('changes', {});
  expectSettled(told, 'latest', { alpha: { old: '1.10-1', new: '2.0-1' } });
  expect(told.downgrade).toEqual({ alpha: { old: '2.0-1', new: '1.0-1' } });
  expectSettled(told, 'uptodate', { alpha: { old: '1.0-1', new: '2.0-1' } });
  expectSettled(told, 'epoch', {
    gamma: { old: '', new: '2:3-1' },
    beta: { old: '', new: '1-1' },
  });
  expect(told.reinstall).toEqual({ gamma: { old: '2:3-1', new: '2:3-1' } });
  expectSettled(told, 'remove', {
    alpha: { old: '2.0-1', new: '' },
    beta: { old: '1-1', new: '' },
  });
  expectSettled(told, 'file', { alpha: { old: '', new: '1.0-1' } });
  expectSettled(told, 'purge', { gamma: { old: '2:3-1', new: '' } });
  expect(told.left).toEqual({ alpha: '1.0-1' });
  expect(told.unknown).toMatchObject({ result: false });
  expect(told['no such version']).toMatchObject({ result: false });
};

const versionlock = '/usr/lib/python3/dist-packages/dnf-plugins/versionlock.py';

describe.skipIf(!has('dnf', 'rpmbuild', 'createrepo_c') || !existsSync(versionlock))(
  'the real dnf',
  { timeout: 240_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'tsalt-dnf-'));
    let told: Record<string, unknown>;
    beforeAll(async () => {
      const repo = makeRpmRepo(folder);
      told = await runApart(
        modules,
        `${start}
        const repo = ${JSON.stringify(repo)};
        rmSync('/var/lib/rpm', { recursive: true, force: true });
        write('/etc/dnf/vars/releasever', '9\\n');
        write('/etc/dnf/dnf.conf', '[main]\\ngpgcheck=1\\n');
        write('/etc/dnf/plugins/local.conf', '[main]\\nenabled=false\\n');
        const pkg = { ...packages, ...holds, ...groups, ...repos, ...queries, ...offers };
        const { tell, settle } = on('RedHat', pkg);
        await tell('repo', () => pkg.mod_repo('test', {
          name: 'Test', baseurl: 'file://' + repo, gpgcheck: false, enabled: true,
        }));
        ${rpmScenario}
        await tell('clean', () => pkg.remove(null, { pkgs: ['alpha'] }));
        await tell('group', () => pkg.group_info('Test Tools'));
        await settle('group_installed', () => pkgGroup.group_installed('Test Tools'));
        await tell('group_diff', () => pkg.group_diff('Test Tools'));
        await tell('no group', () => pkg.group_info('No Such Tools'));`,
        written,
      );
    }, 240_000);
    afterAll(() => removeFolder(folder));

    test('installs, holds, upgrades, downgrades and removes', () => {
      expect(told.repo).toMatchObject({
        '/etc/yum.repos.d/test.repo': { test: { name: 'Test', gpgcheck: '0' } },
      });
      expectRpm(told);
    });

    test('knows groups and installs them', () => {
      const kinds = { mandatory: ['alpha'], default: ['beta'], optional: ['gamma'] };
      expect(told.group).toMatchObject({ ...kinds, conditional: [], type: 'package group' });
      expectSettled(told, 'group_installed', {
        alpha: { old: '', new: '2.0-1' },
        beta: { old: '', new: '1-1' },
      });
      expect(told.group_diff).toMatchObject({
        mandatory: { installed: ['alpha'], 'not installed': [] },
        optional: { installed: [], 'not installed': ['gamma'] },
      });
      expect(told['no group']).toContain("failed: Group 'No Such Tools' not found");
    });
  },
);

describe.skipIf(!has('zypper', 'rpmbuild', 'createrepo_c'))(
  'the real zypper',
  { timeout: 240_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'tsalt-zypper-'));
    afterAll(() => removeFolder(folder));

    test('installs, locks, upgrades, downgrades and removes', { tags: 'slow' }, async () => {
      const repo = makeRpmRepo(folder);
      const told = await runApart(
        modules,
        `${start}
        const repo = ${JSON.stringify(repo)};
        rmSync('/var/lib/rpm', { recursive: true, force: true });
        const pkg = { ...zypper, ...zypperLocks, ...zypperRepos, ...zypperQueries, ...zypperOffers, ...zypperPatches };
        const { tell, settle } = on('Suse', pkg);
        await tell('repo', () => pkg.mod_repo('test', {
          name: 'Test', baseurl: 'file://' + repo, gpgcheck: false, enabled: true,
        }));
        await tell('refresh', () => pkg.refresh_db());
        ${rpmScenario}
        await tell('repos', () => pkg.list_repos());`,
        written,
      );
      expect(told.refresh).toEqual({ Test: true });
      expectRpm(told);
      expect(told.repos).toMatchObject({ test: { name: 'Test' } });
    });
  },
);

describe.skipIf(!has('pacman', 'repo-add', 'bsdtar') || !existsSync('/usr/share/makepkg'))(
  'the real pacman',
  { timeout: 240_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'tsalt-pacman-'));
    afterAll(() => removeFolder(folder));

    test('installs, upgrades and removes', { tags: 'slow' }, async () => {
      const repo = makePacmanRepo(folder);
      const told = await runApart(
        modules,
        `${start}
      const repo = ${JSON.stringify(repo)};
      write('/etc/pacman.conf', '[options]\\nArchitecture = auto\\nSigLevel = Never\\nLocalFileSigLevel = Never\\n[test]\\nServer = file://' + repo + '\\n');
      const pkg = { ...pacman, ...pacmanGroups, ...pacmanFiles };
      const { tell, settle } = on('Arch', pkg);
      await tell('refresh', () => pkg.refresh_db());
      await tell('nothing', () => pkg.list_pkgs());
      await settle('file', () => pkgInstalled.installed('f', {
        sources: [{ alpha: repo + '/alpha-1.0-1-any.pkg.tar.gz' }],
      }));
      await tell('latest_version', () => pkg.latest_version({}, 'alpha', 'gamma'));
      await tell('upgrades', () => pkg.list_upgrades());
      await settle('uptodate', () => pkgUptodate.uptodate('all', { refresh: true }));
      await settle('epoch', () => pkgInstalled.installed('g', { pkgs: [{ gamma: '2:3-1' }, 'beta'] }));
      told.version = readFileSync('/opt/tsalt/alpha/version', 'utf8');
      await tell('group', () => pkg.group_diff('tools'));
      await tell('no group', () => pkg.group_diff('nope'));
      await tell('groups', () => pkg.group_list());
      await tell('files', () => pkg.file_list('alpha'));
      await tell('files by package', () => pkg.file_dict('alpha', 'nope'));
      await tell('owners', () => pkg.owner('/opt/tsalt/alpha/version', '/etc/passwd'));
      await tell('offers', () => pkg.list_repo_pkgs({}, 'al*'));
      await tell('offers by repo', () => pkg.list_repo_pkgs({ byrepo: true }));
      await tell('offers of none', () => pkg.list_repo_pkgs({ fromrepo: 'nope' }));
      await tell('upgrade_available', () => pkg.upgrade_available('alpha'));
      await tell('wildcard', () => pkg.install('gamma', { version: '2:3*' }));
      await tell('remove needed', () => pkgRemoved.removed('alpha'));
      await settle('remove', () => pkgRemoved.removed('r', { pkgs: ['alpha', 'beta'] }));
      await settle('purge', () => pkgRemoved.purged('gamma'));
      await settle('latest', () => pkgLatest.latest('alpha'));
      await tell('needing', () => pkg.install('beta'));
      await tell('purged with it', () => pkg.purge('alpha'));
      await tell('unknown', () => pkgInstalled.installed('nope'));
      await tell('no such version', () => pkgInstalled.installed('alpha', { version: '9' }));`,
        written,
      );
      expect(told.refresh).toEqual({ test: true });
      expect(told.nothing).toEqual({});
      expectSettled(told, 'file', { alpha: { old: '', new: '1.0-1' } });
      expect(told.latest_version).toEqual({ alpha: '2.0-1', gamma: '2:3-1' });
      expect(told.upgrades).toEqual({ alpha: '2.0-1' });
      expectSettled(told, 'uptodate', { alpha: { old: '1.0-1', new: '2.0-1' } });
      expectSettled(told, 'epoch', {
        gamma: { old: '', new: '2:3-1' },
        beta: { old: '', new: '1-1' },
      });
      expect(told.version).toBe('2.0\n');
      expect(told.group).toMatchObject({
        default: { installed: ['alpha', 'beta'], 'not installed': [] },
      });
      expect(told['no group']).toBe("failed: Group 'nope' not found");
      expect(told.groups).toEqual({ installed: ['tools'], partially_installed: [], available: [] });
      const files = ['/opt/', '/opt/tsalt/', '/opt/tsalt/alpha/', '/opt/tsalt/alpha/version'];
      expect(told.files).toEqual({ errors: [], files });
      expect(told['files by package']).toEqual({
        errors: ["error: package 'nope' was not found"],
        packages: { alpha: files },
      });
      expect(told.owners).toEqual({ '/opt/tsalt/alpha/version': 'alpha', '/etc/passwd': '' });
      expect(told.offers).toEqual({ alpha: ['2.0-1'] });
      expect(told['offers by repo']).toEqual({
        test: { alpha: ['2.0-1'], beta: ['1-1'], gamma: ['2:3-1'] },
      });
      expect(told['offers of none']).toEqual({});
      expect(told.upgrade_available).toBe(false);
      expect(told.wildcard).toEqual({});
      expect(told['remove needed']).toMatchObject({ result: false });
      expectSettled(told, 'remove', {
        alpha: { old: '2.0-1', new: '' },
        beta: { old: '1-1', new: '' },
      });
      expectSettled(told, 'purge', { gamma: { old: '2:3-1', new: '' } });
      expectSettled(told, 'latest', { alpha: { old: '', new: '2.0-1' } });
      expect(told['purged with it']).toEqual({
        alpha: { old: '2.0-1', new: '' },
        beta: { old: '1-1', new: '' },
      });
      expect(told.unknown).toMatchObject({ result: false });
      expect(told['no such version']).toMatchObject({ result: false });
    });
  },
);
