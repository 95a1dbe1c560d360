/** Packages of Node.js. */
import { isPlainDict } from '../../protocol/plain.ts';
import { __opts__, type PlainDict, type StateReturn } from '../api.ts';
import { hasFunction, messageOf, salt } from '../lib/call.ts';
import { changed, failed, unchanged, would } from '../lib/returns.ts';
import { isPathToCome, isUserToCome } from '../lib/to-come.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('npm.list') || [false, 'npm.list is not available on this host.'];

/**
 * npm packages are installed.
 *
 * @param name a package or `name@version`; not used when `pkgs` is given
 * @param pkgs several of them
 * @param dir a project's folder; the whole system when not given
 * @param user the account to run as
 * @param force_reinstall true: install again what is there
 * @param registry the registry
 * @example
 * coffee-script@1.0.1:
 *   npm.installed
 */
export const installed = async (
  name: string,
  {
    pkgs = null,
    dir = null,
    user = null,
    force_reinstall = false,
    registry = null,
  }: {
    pkgs?: string[] | null;
    dir?: string | null;
    user?: string | null;
    force_reinstall?: boolean;
    registry?: string | null;
  } = {},
): Promise<StateReturn> => {
  const wanted = pkgs ?? [name];
  try {
    const isToCome = isPathToCome(dir) || isUserToCome(user);
    const have: PlainDict = isToCome ? {} : await salt('npm.list')({ dir, runas: user });
    const due = wanted.filter(one => force_reinstall || !isThere(one, have));
    const done = wanted.filter(one => !due.includes(one));
    const already =
      done.length > 0 ? `Package(s) '${done.join(', ')}' satisfied by ${done.join(', ')}` : '';
    if (due.length === 0) return unchanged(name, already);
    if (__opts__.test)
      return would(
        name,
        [`NPM package(s) '${due.join(', ')}' are set to be installed`, already]
          .filter(part => part !== '')
          .join('. '),
      );
    await salt('npm.install')(null, { pkgs: due, dir, runas: user, registry });
    return changed(name, `Package(s) '${due.join(', ')}' successfully installed`, {
      old: done,
      new: due,
    });
  } catch (error) {
    return failed(name, `Error installing '${wanted.join(', ')}': ${messageOf(error)}`);
  }
};

/**
 * An npm package is not installed.
 *
 * @param name the package
 * @param dir a project's folder; the whole system when not given
 * @param user the account to run as
 * @example
 * coffee-script:
 *   npm.removed
 */
export const removed = async (
  name: string,
  { dir = null, user = null }: { dir?: string | null; user?: string | null } = {},
): Promise<StateReturn> => {
  try {
    const where = { dir, runas: user };
    const have: PlainDict = await salt('npm.list')(where);
    if (!(name in have)) return unchanged(name, `Package '${name}' is not installed`);
    if (__opts__.test) return would(name, `Package '${name}' is set to be removed`);
    await salt('npm.uninstall')(name, where);
    return changed(name, `Package '${name}' was successfully removed`, { [name]: 'Removed' });
  } catch (error) {
    return failed(name, `Error removing '${name}': ${messageOf(error)}`);
  }
};

/** `name`, `@scope/name` or either with `@version`; ranges are left to npm. */
const isThere = (wanted: string, have: PlainDict): boolean => {
  const match = /^(@?[^@]+)(?:@(.+))?$/.exec(wanted);
  const info = have[match?.[1] ?? ''];
  if (!isPlainDict(info)) return false;
  const version = match?.[2];
  return (
    version === undefined || info.version === version || info.version === version.replace(/^v/, '')
  );
};
