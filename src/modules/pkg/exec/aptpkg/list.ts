/**
 * Manages packages of Debian and its derivatives, with apt and dpkg. Its virtual name is `pkg`.
 *
 * @platform Debian, Ubuntu and their derivatives
 * @depends apt-get, dpkg
 */
import { basename } from 'node:path';
import { fnmatch } from '../../../../data/python/glob.ts';
import { getOwn } from '../../../../protocol/plain.ts';
import { inRoot } from '../../../_shared/commands/other-root.ts';
import { runCommand } from '../../../_shared/commands/run-command.ts';
import { which } from '../../../_shared/commands/which.ts';
import { __grains__, CommandExecutionError } from '../../../api.ts';
import { normalize } from '../../apt-run.ts';
import { type Downloaded, downloadedOf, filesBelow } from '../../downloaded-packages.ts';
import { dpkgList, installedIn, installedNow } from '../../dpkg-list.ts';
import { forgetPackages, shownPackages } from '../../packages.ts';

export const __virtualname__ = 'pkg';

export const __virtual__ = (): string | [false, string] =>
  __grains__.os_family === 'Debian' || which('apt-get')
    ? __virtualname__
    : [false, 'apt-get is not there: this is no Debian family system.'];

/**
 * The installed packages with their versions.
 *
 * @param versions_as_list true: a list of versions for each
 * @param removed true: packages that are removed but whose configuration is still there
 * @param purge_desired true: packages marked to be purged that are still installed
 * @param use_context false: ask dpkg again
 * @example tsalt-ssh '*' pkg.list_pkgs
 */
export const list_pkgs = async ({
  versions_as_list = false,
  removed = false,
  purge_desired = false,
  use_context = true,
}: {
  versions_as_list?: boolean;
  removed?: boolean;
  purge_desired?: boolean;
  use_context?: boolean;
} = {}): Promise<{ [name: string]: string | string[] }> => {
  if (!use_context) forgetPackages();
  const all = await dpkgList();
  const list = removed ? all.removed : purge_desired ? all.purge_desired : installedIn(all);
  return shownPackages(list, versions_as_list);
};

/**
 * Returns the version of installed packages; an empty string for one that is not installed. For a
 * glob, returns the versions of all matching packages, by name.
 *
 * @param names names of packages, or globs
 * @example tsalt-ssh '*' pkg.version openssh-server
 */
export const version = async (...names: string[]): Promise<string | { [name: string]: string }> => {
  const list = await installedNow();
  const found = names.flatMap(name =>
    name.includes('*') ? Object.keys(list).filter(one => fnmatch(one, name)) : [name],
  );
  const versions = found.map(
    name => [name, getOwn(list, normalize(name))?.join(',') ?? ''] as const,
  );
  const isOne = versions.length <= 1 && !names.some(name => name.includes('*'));
  return isOne ? (versions[0]?.[1] ?? '') : Object.fromEntries(versions);
};

/**
 * The package files that apt has downloaded, by name and version.
 *
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.list_downloaded
 */
export const list_downloaded = async ({
  root = null,
}: {
  root?: string | null;
  [other: string]: unknown;
} = {}): Promise<Downloaded> =>
  downloadedOf(
    filesBelow(inRoot('/var/cache/apt/archives', root), '.deb').flatMap(path => {
      // apt writes the colon of an epoch as %3a.
      const match = /^([^_]+)_([^_]+)_[^_]+\.deb$/.exec(basename(path));
      return match ? [[path, match[1] ?? '', decodeURIComponent(match[2] ?? '')] as const] : [];
    }),
  );

/**
 * Returns the services that run outdated programs (`checkrestart` of debian-goodies).
 *
 * @example tsalt-ssh '*' pkg.services_need_restart
 */
export const services_need_restart = async (): Promise<string[]> => {
  if (!which('checkrestart'))
    throw new CommandExecutionError(
      "'checkrestart' is needed. It is part of the 'debian-goodies' package which can be installed from official repositories.",
    );
  const argv = ['checkrestart', '--machine', '--package'] as const;
  const { stdout } = await runCommand(argv, { plainLocale: true, cwd: '/' });
  return [...new Set([...stdout.matchAll(/^SERVICE:([^,\n]+)/gm)].map(match => match[1] ?? ''))];
};
