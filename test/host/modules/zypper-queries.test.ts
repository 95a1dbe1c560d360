import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';
import { makeRpmRepo } from '../../helpers/package-repos.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const modules = {
  packages: 'src/modules/pkg/exec/zypperpkg/packages.ts',
  locks: 'src/modules/pkg/exec/zypperpkg/locks.ts',
  offers: 'src/modules/pkg/exec/zypperpkg/offers.ts',
  patches: 'src/modules/pkg/exec/zypperpkg/patches.ts',
  repos: 'src/modules/pkg/exec/zypperpkg/repos.ts',
  queries: 'src/modules/pkg/exec/zypperpkg/queries.ts',
  pkgPatches: 'src/modules/pkg/states/pkg/patch_installed.ts',
  pkgrepo: 'src/modules/pkg/states/pkgrepo.ts',
};

const canRun = ['zypper', 'rpmbuild', 'createrepo_c', 'modifyrepo_c'].every(one => which(one));

/** The answers of Salt 3006.9 to the same calls, on the same packages in the same kind of place. */
describe.skipIf(!canRun || !canRunApart())('the real zypper', { timeout: 240_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-zypper-'));
  let told: Record<string, unknown>;
  beforeAll(async () => {
    const repo = makeRpmRepo(folder);
    told = await runApart(
      modules,
      `import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
      const baseurl = ${JSON.stringify(`file://${repo}`)};
      rmSync('/var/lib/rpm', { recursive: true, force: true });
      mkdirSync('/etc/rpm', { recursive: true });
      writeFileSync('/etc/rpm/macros', '%_dbpath /var/lib/rpm\\n');
      const pkg = { ...packages, ...locks, ...offers, ...patches, ...repos, ...queries };
      const suse = contextOf({ pkg }, { grains: { os_family: 'Suse', osarch: 'x86_64' } });
      const ask = (name, work) => step(name, work, suse);
      const settle = (name, work) => thrice(name, work, suse);
      await ask('bad address', () => pkg.mod_repo('test', { baseurl: 'nonsense' }));
      await ask('no address', () => pkg.mod_repo('test'));
      await ask('new', () => pkg.mod_repo('test', { baseurl, name: 'Test', gpgcheck: false, refresh: true }));
      await ask('same address', () => pkg.mod_repo('again', { baseurl }));
      await ask('nothing', () => pkg.mod_repo('test', { baseurl }).then(one => one.comment));
      await ask('more', () => pkg.mod_repo('test', { cache: true, priority: 50 }));
      await ask('refresh', () => pkg.refresh_db());
      await ask('refresh again', () => pkg.refresh_db({ force: false }));
      await ask('install', () => pkg.install('alpha', { version: '1.0-1' }));
      await ask('info', () => pkg.info_available({ refresh: false }, 'alpha', 'gamma'));
      await ask('latest', () => pkg.latest_version({ refresh: false }, 'alpha', 'gamma'));
      await ask('offers', () => pkg.list_repo_pkgs({}, 'alpha'));
      await ask('offers by repo', () => pkg.list_repo_pkgs({ byrepo: true }, 'alpha'));
      await ask('search', () => pkg.search('alpha', { match: 'exact' }));
      await ask('search none', () => pkg.search('nope'));
      await ask('patches', () => pkg.list_patches());
      await ask('patterns', () => pkg.list_patterns());
      await ask('upgrades', () => pkg.list_upgrades({ refresh: false }));
      await ask('capabilities', () => pkg.resolve_capabilities(['alpha', { beta: '1' }], { resolve_capabilities: true }));
      await ask('files', () => pkg.file_list({}, 'alpha'));
      await ask('hold', () => pkg.hold('alpha'));
      await ask('hold again', () => pkg.hold('alpha'));
      await ask('hold version', () => pkg.hold(null, { pkgs: [{ gamma: '2:3-1' }] }));
      await ask('locks', () => pkg.list_locks());
      await ask('holds', () => pkg.list_holds());
      await ask('names of holds', () => pkg.list_holds({ full: false }));
      await ask('unhold', () => pkg.unhold(null, { pkgs: ['alpha', { gamma: '9' }] }));
      await ask('unhold again', () => pkg.unhold(null, { pkgs: ['alpha', { gamma: '2:3-1' }] }));
      await ask('no locks', () => pkg.list_locks());
      await ask('clean', () => pkg.clean_locks());
      await ask('download', () => pkg.download({}, 'gamma'));
      await ask('downloaded', () => pkg.list_downloaded());
      await ask('no patch', () => pkg.install(null, { advisory_ids: 'X' }));
      await ask('dry', () => pkg.upgrade({ refresh: false, dryrun: true }));
      await settle('patch', () => pkgPatches.patch_installed('TSALT-2024-1'));
      await ask('dist', () => pkg.upgrade({ refresh: false, dist_upgrade: true, skip_verify: true }));
      await ask('fromrepo', () => pkg.install('gamma', { fromrepo: 'test' }));
      await ask('remove', () => pkg.remove(null, { pkgs: [{ gamma: '9' }, 'alpha'] }));
      await ask('moved', () => pkg.mod_repo('test', { baseurl: 'http://example.com/x' }));
      await ask('del', () => pkg.del_repo('test'));
      await ask('del again', () => pkg.del_repo('test'));
      const wanted = { humanname: 'New', baseurl: 'http://example.com/x', enabled: false, refresh: true };
      await settle('managed', () => pkgrepo.managed('new', wanted));
      await settle('changed', () => pkgrepo.managed('new', { ...wanted, enabled: true, priority: 20 }));
      await settle('absent', () => pkgrepo.absent('new'));`,
      ['/var', '/root', '/opt'],
    );
  }, 240_000);
  afterAll(() => removeFolder(folder));

  test('repositories are added, changed and removed by zypper', () => {
    expect(told['bad address']).toContain('URL for baseurl/mirrorlist is malformed');
    expect(told['no address']).toContain("neither 'baseurl' nor 'mirrorlist' was specified");
    const test = { name: 'Test', enabled: true, autorefresh: true, gpgcheck: false, alias: 'test' };
    expect(told.new).toMatchObject(test);
    expect(told['same address']).toContain("Repository 'again' already exists as 'test'.");
    expect(told.nothing).toBe('Specified arguments did not result in modification of repo');
    expect(told.more).toMatchObject({ ...test, priority: '50', keeppackages: true });
    expect(told.moved).toMatchObject({
      ...test,
      baseurl: 'http://example.com/x',
      priority: '50',
      keeppackages: true,
    });
    expect(told.del).toMatchObject({ test: true, message: expect.stringContaining('removed') });
    expect(told['del again']).toContain("Repository 'test' not found.");
    expect(told['managed told']).toMatchObject({ result: null, changes: { repo: 'new' } });
    expect(told.managed).toMatchObject({ result: true, changes: { repo: 'new' } });
    expect(told['managed again']).toMatchObject({
      result: true,
      changes: {},
      comment: "Package repo 'new' already configured",
    });
    expect(told.changed).toHaveProperty('changes', {
      enabled: { new: true, old: false },
      priority: { new: '20', old: null },
    });
    expect(told['changed again']).toHaveProperty('changes', {});
    expect(told.absent).toMatchObject({ result: true, changes: { repo: 'new' } });
    expect(told['absent again']).toMatchObject({ result: true, changes: {} });
  });

  test('offers are listed', () => {
    expect(told.refresh).toEqual({ Test: true });
    expect(told['refresh again']).toEqual({ Test: false });
    expect(told.info).toEqual({
      alpha: {
        repository: 'Test',
        version: '2.0-1',
        arch: 'noarch',
        'installed size': '12 B',
        installed: true,
        status: 'out-of-date (version 1.0-1 installed)',
        'source package': 'alpha-2.0-1.src',
        summary: 'For tests',
      },
      gamma: expect.objectContaining({
        version: '2:3-1',
        installed: false,
        status: 'not installed',
      }),
    });
    const alpha = ['2.0-1', '1.10-1', '1.0-1'];
    expect(told.latest).toEqual({ alpha: '2.0-1', gamma: '2:3-1' });
    expect(told.offers).toEqual({ alpha });
    expect(told['offers by repo']).toEqual({ Test: { alpha } });
    expect(told.search).toEqual({
      alpha: { status: 'installed', name: 'alpha', summary: 'For tests', kind: 'package' },
    });
    expect(told['search none']).toContain("No packages found matching 'nope'");
    expect(told.patterns).toEqual({});
    expect(told.upgrades).toEqual({ alpha: '2.0-1' });
    expect(told.capabilities).toEqual(['alpha', { beta: '1' }]);
    expect(told.files).toMatchObject({ files: expect.arrayContaining(['/opt/tsalt/alpha/conf']) });
  });

  test('locks are kept with versions', () => {
    const lock = { type: 'package', match_type: 'glob', case_sensitive: 'on' };
    expect(told.hold).toMatchObject({ alpha: { changes: { new: 'hold', old: '' } } });
    expect(told['hold again']).toMatchObject({
      alpha: { result: true, changes: {}, comment: 'Package alpha is already set to be held.' },
    });
    expect(told.locks).toEqual({ alpha: lock, gamma: { ...lock, version: '== 2:3-1' } });
    expect(told.holds).toEqual(['alpha-0:1.0-1.*']);
    expect(told['names of holds']).toEqual(['alpha']);
    expect(told.unhold).toMatchObject({
      alpha: { changes: { new: '', old: 'hold' }, comment: 'Package alpha is no longer held.' },
      gamma: { result: false, changes: {} },
    });
    expect(told['unhold again']).toMatchObject({
      alpha: { result: true, comment: 'Package alpha was already unheld.' },
      gamma: { result: true, changes: { new: '', old: 'hold' } },
    });
    expect(told['no locks']).toEqual({});
    expect(told.clean).toEqual({ removed: '0' });
  });

  test('packages are downloaded, patched, upgraded and removed', () => {
    const path = '/var/cache/zypp/packages/test/noarch/gamma-3-1.noarch.rpm';
    expect(told.download).toEqual({
      gamma: { 'repository-name': 'Test', 'repository-alias': 'test', path },
    });
    expect(told.downloaded).toMatchObject({ gamma: { '2:3-1': { path } } });
    expect(told.patches).toEqual({
      'TSALT-2024-1': { installed: false, summary: 'A hole in alpha' },
      'TSALT-2024-2': { installed: false, summary: 'A hole in alpha' },
    });
    expect(told['no patch']).toContain('Advisory id "X" not found');
    expect(told.dry).toMatch(/alpha/);
    expect(told['patch told']).toMatchObject({ result: null });
    expect(told.patch).toMatchObject({
      result: true,
      changes: { alpha: { old: '1.0-1', new: '2.0-1' } },
    });
    expect(told['patch again']).toMatchObject({ result: true, changes: {} });
    expect(told.dist).toEqual({});
    expect(told.fromrepo).toEqual({ gamma: { old: '', new: '2:3-1' } });
    expect(told.remove).toEqual({ alpha: { old: '2.0-1', new: '' } });
  });
});
