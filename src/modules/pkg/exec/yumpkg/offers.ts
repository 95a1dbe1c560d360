import { join } from 'node:path';
import { fnmatch } from '../../../../data/python/glob.ts';
import { runCommand } from '../../../_shared/commands/run-command.ts';
import { which } from '../../../_shared/commands/which.ts';
import { readNames } from '../../../_shared/files/read-file.ts';
import { mkdirSync } from '../../../_shared/safe-fs/fs.ts';
import { rm } from '../../../_shared/safe-fs/promises.ts';
import { compareRpm } from '../../../_shared/text/package-version.ts';
import { CommandExecutionError, type Plain, SaltInvocationError } from '../../../api.ts';
import type { ManagerOptions } from '../../package-manager.ts';
import { nativeArch, parseRpmList, rpmFormat } from '../../rpm.ts';
import { rpmDiff } from '../../rpm-diff.ts';
import { servicesOf } from '../../service-of-process.ts';
import { isDnf, repoOptions, runYum } from '../../yum-run.ts';

/**
 * Lists all versions in the repositories, newest first.
 *
 * @param byrepo true: by repository
 * @param cacheonly true: from what was fetched before
 * @param fromrepo this repository only
 * @param enablerepo repositories to switch on for it
 * @param disablerepo repositories to switch off for it
 * @param names names of packages, or globs; by default all
 * @example tsalt-ssh '*' pkg.list_repo_pkgs 'samba*' fromrepo=base
 */
export const list_repo_pkgs = async (
  {
    byrepo = false,
    cacheonly = false,
    ...options
  }: { byrepo?: boolean; cacheonly?: boolean } & ManagerOptions,
  ...names: string[]
): Promise<{ [name: string]: string[] | { [name: string]: string[] } }> => {
  if (!isDnf())
    throw new CommandExecutionError('pkg.list_repo_pkgs needs dnf: this host has yum only.');
  const format = `%{repoid}\t${rpmFormat.toLowerCase()}\n`;
  const { stdout } = await runYum(
    '--quiet',
    ...(cacheonly ? ['-C'] : []),
    ...repoOptions(options),
    'repoquery',
    '--available',
    '--queryformat',
    format,
    ...names,
  );
  const repos: { [repo: string]: string } = {};
  let all = '';
  for (const line of stdout.split('\n')) {
    const [repo = '', found] = line.split('\t');
    if (found === undefined || !isNamed(found, names)) continue;
    repos[repo] = `${repos[repo] ?? ''}${found}\n`;
    all += `${found}\n`;
  }
  if (!byrepo) return newestFirst(all);
  return Object.fromEntries(
    Object.entries(repos).map(([repo, lines]) => [repo, newestFirst(lines)]),
  );
};

/** An argument also matches what packages provide, but Salt compares only names. */
const isNamed = (line: string, names: readonly string[]): boolean => {
  const name = line.split('_|-')[0] ?? '';
  return (
    names.length === 0 ||
    names.some(one => fnmatch(name, one.replace(/\.[^.*]+$/, '')) || fnmatch(name, one))
  );
};

const newestFirst = (lines: string): { [name: string]: string[] } =>
  Object.fromEntries(
    Object.entries(parseRpmList(lines, nativeArch())).map(([name, versions]) => [
      name,
      versions.toSorted((one, two) => compareRpm(two, one)),
    ]),
  );

const downloads = '/var/cache/yum/packages';

/**
 * Downloads the files of packages and returns their paths.
 *
 * @param packages names of packages
 * @example tsalt-ssh '*' pkg.download httpd
 */
export const download = async (...packages: string[]): Promise<{ [name: string]: string }> => {
  if (packages.length === 0) throw new SaltInvocationError('No packages were specified');
  mkdirSync(downloads, { recursive: true });
  const isOf = (file: string, name: string): boolean =>
    file.endsWith('.rpm') && file.replace(/-[^-]+-[^-]+\.rpm$/, '') === name;
  for (const file of readNames(downloads))
    if (packages.some(name => isOf(file, name))) await rm(join(downloads, file), { force: true });
  // Without strict=0, dnf downloads nothing if one of them is unknown.
  const where = `--destdir=${downloads}`;
  const { stderr } = which('yumdownloader')
    ? await runCommand(['yumdownloader', '-q', where, ...packages], { plainLocale: true, cwd: '/' })
    : await runYum('-q', '--setopt=strict=0', 'download', where, ...packages);
  if (/no such command: download/i.test(stderr))
    throw new CommandExecutionError(
      'Downloading packages needs the download plugin: install dnf-plugins-core.',
    );
  const found: { [name: string]: string } = {};
  for (const name of packages) {
    const file = readNames(downloads).find(one => isOf(one, name));
    if (file) found[name] = join(downloads, file);
  }
  const missing = packages.filter(name => !found[name]);
  if (missing.length === packages.length)
    throw new CommandExecutionError(
      `Unable to download any of the following packages: ${packages.join(', ')}`,
    );
  return missing.length === 0
    ? found
    : {
        ...found,
        _error: `The following package(s) failed to download: ${missing.join(', ')}`,
      };
};

/**
 * Compares files with their packages' versions: a unified diff, `Unchanged`, `Not managed` or `N/A`
 * (the file does not exist). Downloads the packages for the comparison.
 *
 * @param paths paths of files
 * @example tsalt-ssh '*' pkg.diff /etc/httpd/conf/httpd.conf
 */
export const diff = async (...paths: string[]): Promise<{ [path: string]: Plain }> =>
  rpmDiff(paths, async names => new Map(Object.entries(await download(...names))));

/**
 * Returns the services that run outdated programs (dnf's needs-restarting plugin).
 *
 * @example tsalt-ssh '*' pkg.services_need_restart
 */
export const services_need_restart = async (): Promise<string[]> => {
  if (!isDnf()) throw new CommandExecutionError('dnf is required to list outdated services.');
  const { stdout, stderr } = await runYum('--quiet', 'needs-restarting');
  if (/no such command: needs-restarting/i.test(stderr))
    throw new CommandExecutionError(
      'Listing outdated services needs the needs-restarting plugin: install dnf-plugins-core.',
    );
  return servicesOf([...stdout.matchAll(/^\s*(\d+)\s*:/gm)].map(match => Number(match[1])));
};
