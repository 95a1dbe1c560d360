/** Packages of Node.js. */
import { messageOf } from '../../../protocol/error.ts';
import { getOwn, isPlainDict } from '../../../protocol/plain.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, inPlan, unchanged, would } from '../../_shared/states/returns.ts';
import { isPathToCome, isUserToCome } from '../../_shared/states/to-come.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../api.ts';

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
 * @param env variables for npm
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
    env = null,
  }: {
    pkgs?: string[] | null;
    dir?: string | null;
    user?: string | null;
    force_reinstall?: boolean;
    registry?: string | null;
    env?: Plain;
  } = {},
): Promise<StateReturn> => {
  const wanted = pkgs?.length ? pkgs : [name];
  let doing = `Error looking up '${name}'`;
  try {
    const isToCome = isPathToCome(dir) || isUserToCome(user);
    const have: PlainDict = isToCome ? {} : await salt('npm.list')(null, { dir, runas: user, env });
    const due = wanted.filter(one => force_reinstall || !isThere(one, have));
    const done = wanted.filter(one => !due.includes(one)).map(one => withVersion(one, have));
    const already =
      done.length > 0 ? `Package(s) '${wanted.join(', ')}' satisfied by ${done.join(', ')}` : '';
    if (due.length === 0) return unchanged(name, already);
    const changes = { old: [], new: due };
    if (__opts__.test)
      return would(
        name,
        [`NPM package(s) '${due.join(', ')}' are set to be installed`, already]
          .filter(part => part !== '')
          .join('. '),
        changes,
      );
    doing = `Error installing '${wanted.join(', ')}'`;
    await salt('npm.install')(null, { pkgs: due, dir, runas: user, registry, env });
    return changed(name, `Package(s) '${due.join(', ')}' successfully installed`, changes);
  } catch (error) {
    return failed(name, `${doing}: ${messageOf(error)}`);
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
  let doing = 'uninstalling';
  try {
    const where = { dir, runas: user };
    const have: PlainDict = await salt('npm.list')(null, where);
    doing = 'removing package';
    if (!Object.hasOwn(have, name)) return unchanged(name, `Package '${name}' is not installed`);
    if (__opts__.test)
      return would(name, `Package '${name}' is set to be removed`, inPlan({ [name]: 'Removed' }));
    await salt('npm.uninstall')(name, where);
    return changed(name, `Package '${name}' was successfully removed`, { [name]: 'Removed' });
  } catch (error) {
    return failed(name, `Error ${doing} '${name}': ${messageOf(error)}`);
  }
};

const partsOf = (wanted: string): { name: string; version: string | undefined } => {
  const match = /^(@?[^@\s]+)(?:@(\S+))?/.exec(wanted);
  return { name: match?.[1] ?? wanted, version: match?.[2] };
};

/** `name`, `@scope/name` or either with `@version`; ranges are left to npm. */
const isThere = (wanted: string, have: PlainDict): boolean => {
  const { name, version } = partsOf(wanted);
  const info = getOwn(have, name);
  if (!isPlainDict(info) || info.version === undefined) return false;
  return (
    version === undefined || info.version === version || info.version === version.replace(/^v/, '')
  );
};

const withVersion = (wanted: string, have: PlainDict): string => {
  const { name } = partsOf(wanted);
  const info = getOwn(have, name);
  return `${name}@${isPlainDict(info) ? String(info.version) : ''}`;
};

/**
 * A project of Node.js has all packages that it needs: `npm install` in its folder.
 *
 * @param name the project's folder
 * @param user the account to run as
 * @param silent taken, and of no effect
 * @example
 * /srv/app:
 *   npm.bootstrap:
 *     - user: app
 */
export const bootstrap = async (
  name: string,
  { user = null, silent: _silent = true }: { user?: string | null; silent?: boolean } = {},
): Promise<StateReturn> => {
  try {
    if (isPathToCome(name) || isUserToCome(user))
      return would(name, `${name} is set to be bootstrapped`, inPlan({ [name]: 'Bootstrapped' }));
    const due: Record<string, number> = await salt('npm.outstanding')(name, { runas: user });
    if (Object.values(due).every(count => count === 0))
      return unchanged(name, 'Directory is already bootstrapped');
    if (__opts__.test)
      return would(name, `${name} is set to be bootstrapped`, { old: [], new: due });
    await salt('npm.install')(null, { dir: name, runas: user });
    return changed(name, 'Directory was successfully bootstrapped', { [name]: 'Bootstrapped' });
  } catch (error) {
    return failed(name, `Error Bootstrapping '${name}': ${messageOf(error)}`);
  }
};

/**
 * npm's cache holds nothing, or nothing of one package.
 *
 * @param name the package; the whole cache when not given
 * @param user the account to run as
 * @param force true: npm clears the whole cache with it only
 * @example
 * clear-the-cache:
 *   npm.cache_cleaned:
 *     - name: null
 *     - force: true
 */
export const cache_cleaned = async (
  name: string | null = null,
  { user = null, force = false }: { user?: string | null; force?: boolean } = {},
): Promise<StateReturn> => {
  const id = name ?? '';
  const what = name || 'packages';
  try {
    const kept: string = await salt('npm.cache_list')(name, { runas: user });
    if (kept === '')
      return unchanged(id, name ? `Package ${name} is not in the cache` : 'The cache is empty');
    if (__opts__.test)
      return would(
        id,
        `Cached ${what} set to be removed`,
        inPlan({ [name || 'cache']: 'Removed' }),
      );
    await salt('npm.cache_clean')(name, { runas: user, force });
    return changed(id, `Cached ${what} successfully removed`, { [name || 'cache']: 'Removed' });
  } catch (error) {
    return failed(id, `Error cleaning cached ${what}: ${messageOf(error)}`);
  }
};
