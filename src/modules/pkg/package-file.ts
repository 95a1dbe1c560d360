import { isAbsolute } from 'node:path';
import { runCommand } from '../_shared/commands/run-command.ts';
import { salt } from '../_shared/states/call.ts';
import { CommandExecutionError, SaltInvocationError } from '../api.ts';
import { rpmFileVersion } from './rpm.ts';

/**
 * Returns the path of a package file on this host; fetches a URL.
 *
 * @throws CommandExecutionError if it cannot be fetched, SaltInvocationError if `source` is
 * neither an absolute path nor a URL
 */
export const localPackage = async (
  name: string,
  source: string,
  saltenv: string,
): Promise<string> => {
  if (isAbsolute(source)) return source;
  if (!/^[a-z0-9+.-]+:\/\//i.test(source))
    throw new SaltInvocationError(
      `Path ${source} for package ${name} is either not absolute or an invalid protocol`,
    );
  const cached: unknown = await salt('cp.cache_file')(source, saltenv);
  if (typeof cached === 'string' && cached !== '') return cached;
  throw new CommandExecutionError(`Unable to cache ${source}: file not found`);
};

/** Returns the version of a `.deb` file; undefined for other files. */
export const debFileVersion = async (path: string): Promise<string | undefined> => {
  const { code, stdout } = await runCommand(['dpkg-deb', '--field', path, 'Version'], {
    plainLocale: true,
    cwd: '/',
  });
  return code === 0 ? stdout.trim() : undefined;
};

/** Functions that read the version of a package file, by OS family. */
export const fileVersions = new Map([
  ['Debian', debFileVersion],
  ['RedHat', rpmFileVersion],
  ['Suse', rpmFileVersion],
]);
