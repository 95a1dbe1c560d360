import { expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { compareLoose } from '../../../src/modules/pkg/loose-version.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';
import { contextOf, within } from '../../modules/_context.ts';

const modules = {
  kernelpkg: 'src/modules/pkg/exec/kernelpkg.ts',
  state: 'src/modules/pkg/states/kernelpkg.ts',
  power: 'src/modules/system/exec/system/power.ts',
  available: 'src/modules/pkg/exec/aptpkg/available.ts',
  install: 'src/modules/pkg/exec/aptpkg/install.ts',
  list: 'src/modules/pkg/exec/aptpkg/list.ts',
  remove: 'src/modules/pkg/exec/aptpkg/remove.ts',
};

/** A repository of packages without files, offered by `offer({name: [version, depends]})`. */
const start = `
  import { execFileSync } from 'node:child_process';
  import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
  const write = (path, text) => {
    mkdirSync(path.replace(/[^/]*$/, ''), { recursive: true });
    writeFileSync(path, text);
  };
  rmSync('/etc/apt/sources.list.d', { recursive: true, force: true });
  write('/etc/apt/sources.list', 'deb [trusted=yes] file:/opt/repository ./\\n');
  write('/opt/bin/shutdown', '#!/bin/sh\\necho "$*" >>/opt/shutdown.log\\n');
  chmodSync('/opt/bin/shutdown', 0o755);
  process.env.PATH = '/opt/bin:' + process.env.PATH;
  const offer = packages => {
    rmSync('/opt/repository', { recursive: true, force: true });
    mkdirSync('/opt/repository', { recursive: true });
    for (const [name, [version, depends]] of Object.entries(packages)) {
      write('/opt/build/DEBIAN/control', 'Package: ' + name + '\\nVersion: ' + version +
        '\\nArchitecture: all\\nMaintainer: nobody\\nDescription: test\\n' +
        (depends ? 'Depends: ' + depends + '\\n' : ''));
      execFileSync('dpkg-deb', ['-b', '/opt/build', '/opt/repository/' + name + '.deb'], { stdio: 'ignore' });
      rmSync('/opt/build', { recursive: true });
    }
    const index = execFileSync('dpkg-scanpackages', ['.'], { cwd: '/opt/repository', stdio: ['ignore', 'pipe', 'ignore'] });
    writeFileSync('/opt/repository/Packages', index);
  };
  const on = (kernelrelease, pkg, os_family = 'Debian', os = os_family) =>
    contextOf({ kernelpkg, system: power, pkg }, { grains: { os_family, os, kernelrelease, osarch: 'x86_64' } });
  // A run binds names of packages and options; here the options come first.
  const latest_version = (...names) => available.latest_version({}, ...names);
  const apt = { ...list, ...install, ...remove, ...available, latest_version };
`;

test.skipIf(which('dpkg-scanpackages') === undefined || !canRunApart())(
  'kernels of apt come, run and go',
  { tags: 'slow', timeout: 180_000 },
  async () => {
    const told = await runApart(
      modules,
      `${start}
      const here = on('6.1.0-9-amd64', apt);
      const kernel = (release, version) => ({ ['linux-image-' + release]: [version, ''] });
      const offered = {
        ...kernel('6.1.0-9-amd64', '6.1.27-1'),
        ...kernel('6.1.0-10-amd64', '6.1.38-1'),
        ...kernel('6.1.0-10-cloud-amd64', '6.1.38-1'),
        'linux-image-amd64': ['6.1.38-1', 'linux-image-6.1.0-10-amd64 (= 6.1.38-1)'],
      };
      offer(offered);
      execFileSync('apt-get', ['update'], { stdio: 'ignore' });
      execFileSync('apt-get', ['install', '-y', 'linux-image-6.1.0-9-amd64', 'linux-image-6.1.0-10-cloud-amd64'], { stdio: 'ignore' });
      await step('active', () => kernelpkg.active(), here);
      await step('installed', () => kernelpkg.list_installed(), here);
      await step('available', () => kernelpkg.latest_available(), here);
      await step('can', () => kernelpkg.upgrade_available(), here);
      await step('needs', () => kernelpkg.needs_reboot(), here);
      await thrice('newest', () => state.latest_installed('k'), here);
      await step('needs now', () => kernelpkg.needs_reboot(), here);
      await step('runs told', () => state.latest_active('k'), { ...here, opts: { ...here.opts, test: true } });
      told['no shutdown'] = !existsSync('/opt/shutdown.log');
      await step('runs', () => state.latest_active('k', { at_time: 5 }), here);
      await step('watched', () => state.mod_watch('k', { sfun: 'latest_wait', at_time: 7 }), here);
      await step('odd watched', () => state.mod_watch('k', { sfun: 'latest_installed' }), here);
      await step('waits', () => state.latest_wait('k'), here);
      told.log = readFileSync('/opt/shutdown.log', 'utf8');
      await step('runs now', () => state.latest_active('k'), on('6.1.0-10-amd64', apt));
      await step('running stays', () => kernelpkg.remove('6.1.0-9-amd64'), here);
      await step('unknown', () => kernelpkg.remove('1.0'), here);
      await step('kept', () => kernelpkg.cleanup(), here);
      await step('cleaned', () => kernelpkg.cleanup(false), here);
      await step('left', () => kernelpkg.list_installed(), here);
      await step('own kernel', () => kernelpkg.list_installed(), on('6.1.55', apt));
      const trixie = '6.12.43+deb13-amd64';
      const next = '6.12.48+deb13-amd64';
      const backport = '6.12.9+bpo-0.deb12.1-amd64';
      offer({
        ...kernel(trixie, '6.12.43-1'), ...kernel(trixie + '-dbg', '6.12.43-1'), ...kernel(backport, '6.12.9-1'),
        'linux-image-amd64': ['6.12.48-1', 'linux-image-' + next + ' (= 6.12.48-1)'],
      });
      execFileSync('apt-get', ['update'], { stdio: 'ignore' });
      execFileSync('apt-get', ['install', '-y', ...[trixie, trixie + '-dbg', backport].map(each => 'linux-image-' + each)], { stdio: 'ignore' });
      await step('debian 13', () => kernelpkg.list_installed(), on(trixie, apt));
      await step('debian 13 newest', () => kernelpkg.latest_available(), on(trixie, apt));
      const ubuntu = on('5.15.0-91-generic', apt);
      offer({ ...kernel('5.15.0-100-generic', '5.15.0-100.1'), 'linux-image-generic': ['5.15.0.100.97', ''] });
      await step('ubuntu', () => kernelpkg.latest_available(), ubuntu);
      await step('ubuntu upgrade', () => kernelpkg.upgrade(true, 3), ubuntu);
      told['last shutdown'] = readFileSync('/opt/shutdown.log', 'utf8').trim().split('\\n').at(-1);`,
      ['/var', '/opt'],
    );
    const kernel = { old: '6.1.0-9-amd64', new: '6.1.0-10-amd64' };
    expect(told).toMatchObject({
      active: '6.1.0-9-amd64',
      installed: ['6.1.0-9-amd64'],
      available: '6.1.0-10-amd64',
      can: true,
      needs: false,
      'newest told': {
        result: null,
        comment: 'The latest kernel package will be installed: 6.1.0-10-amd64',
      },
      newest: {
        result: true,
        changes: { 'linux-image-6.1.0-10-amd64': { old: '', new: '6.1.38-1' } },
        comment: 'The latest kernel package has been installed, but not activated.',
      },
      'newest again': {
        result: true,
        changes: {},
        comment: 'The latest kernel package is already installed: 6.1.0-10-amd64',
      },
      'needs now': true,
      'runs told': { result: null, changes: { kernel } },
      'no shutdown': true,
      runs: {
        result: true,
        changes: { kernel },
        comment: 'The system will be booted to activate kernel: 6.1.0-10-amd64',
      },
      watched: { result: true, changes: { kernel } },
      'odd watched': { result: false },
      waits: { result: true, changes: {}, comment: '' },
      'runs now': {
        result: true,
        changes: {},
        comment: 'The latest installed kernel package is active: 6.1.0-10-amd64',
      },
      'running stays': 'failed: Active kernel cannot be removed',
      unknown: "failed: Kernel release '1.0' is not installed",
      kept: { removed: [] },
      cleaned: { removed: ['linux-image-6.1.0-10-amd64'] },
      left: ['6.1.0-9-amd64'],
      'own kernel': expect.stringContaining("'6.1.55' is none of a package"),
      'debian 13': ['6.1.0-9-amd64', '6.12.9+bpo-0.deb12.1-amd64', '6.12.43+deb13-amd64'],
      'debian 13 newest': '6.12.48+deb13-amd64',
      ubuntu: '5.15.0-100-generic',
      'ubuntu upgrade': {
        active: '5.15.0-91-generic',
        latest_installed: '5.15.0-100-generic',
        reboot_requested: true,
        reboot_required: true,
      },
    });
    expect(told.log).toBe('-r -- +5\n-r -- +7\n');
    expect(told['last shutdown']).toBe('-r -- +3');
  },
);

test('releases are in order, and other systems have no such packages', async () => {
  const sorted = ['6.1.0-10-amd64', '6.1.0-9-amd64', '5.15.0-100-generic', '6.1-1', '6.1.0-9a'];
  expect(sorted.sort(compareLoose)).toEqual([
    '5.15.0-100-generic',
    '6.1-1',
    '6.1.0-9-amd64',
    '6.1.0-9a',
    '6.1.0-10-amd64',
  ]);
  const { __virtual__ } = await import('../../../src/modules/pkg/exec/kernelpkg.ts');
  const on = (os_family: string, os = os_family) =>
    within(contextOf({}, { grains: { os_family, os } }), async () => __virtual__());
  expect(await on('RedHat')).toBe(true);
  expect(await on('Other', 'Amazon')).toBe(true);
  expect(await on('Suse')).toEqual([false, expect.any(String)]);
});
