import { isAbsolute } from 'node:path';
import { runCommand } from '../_shared/commands/run-command.ts';
import { salt } from '../_shared/states/call.ts';
import { CommandExecutionError, SaltInvocationError } from '../api.ts';
import { rpmFileVersion } from './rpm.ts';

/**
 * Where the file of a package is on this host; a URL is fetched.
 *
 * @throws CommandExecutionError when it cannot be fetched, SaltInvocationError when `source` is
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

/** The version of a `.deb` file; undefined for what is none. */
export const debFileVersion = async (path: string): Promise<string | undefined> => {
  const { code, stdout } = await runCommand(['dpkg-deb', '--field', path, 'Version'], {
    plainLocale: true,
    cwd: '/',
  });
  return code === 0 ? stdout.trim() : undefined;
};

/** How the version of a package file is read, by family; others are not looked into. */
export const fileVersions = new Map([
  ['Debian', debFileVersion],
  ['RedHat', rpmFileVersion],
  ['Suse', rpmFileVersion],
]);
