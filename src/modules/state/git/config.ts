import { __opts__, __salt__, type StateReturn } from '../../api.ts';
import { messageOf } from '../../lib/call.ts';
import { loginFor, redact } from '../../lib/git-run.ts';
import { failed, newReturn } from '../../lib/returns.ts';
import { isPathToCome, isUserToCome } from '../../lib/to-come.ts';

type ConfigOptions = {
  value?: string | number | boolean | null;
  multivar?: (string | number)[] | null;
  repo?: string | null;
  user?: string | null;
  global?: boolean;
};

/** In a prediction: the repository or the account may be about to be made by an earlier state. */
const isToCome = (repo: string | null, user: string | null): boolean =>
  isPathToCome(repo) || isUserToCome(user);

/**
 * Gives a key of git's configuration one value or several.
 *
 * @param name the key
 * @param value the value
 * @param multivar several values
 * @param repo the repository
 * @param user run git as this user
 * @param global the user's configuration instead of a repository's
 *
 * @example
 * user.email:
 *   git.config_set:
 *     - value: ops@example.com
 *     - global: True
 */
export const config_set = async (
  name: string,
  { value = null, multivar = null, repo = null, user = null, global = false }: ConfigOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (value !== null && multivar !== null)
    return failed(ret, "Only one of 'value' and 'multivar' is permitted");
  if (value === null && multivar === null)
    return failed(ret, "One of 'value' and 'multivar' is required");
  if (!global && repo === null)
    return failed(ret, "Non-global config options require the 'repo' argument to be set");
  const wanted = (multivar ?? [value ?? '']).map(each =>
    typeof each === 'boolean' ? String(each) : String(each),
  );
  const scope = { cwd: repo, user, global };
  try {
    const old: string[] = isToCome(repo, user)
      ? []
      : await __salt__['git.config_get_all']?.(name, scope);
    const shown = (values: string[]): string | string[] | null =>
      values.length > 1 ? values : (values[0] ?? null);
    if (old.length === wanted.length && old.every((each, index) => each === wanted[index]))
      return { ...ret, comment: `'${name}' is already set to ${JSON.stringify(shown(wanted))}` };
    const changes = { [name]: { old: shown(old), new: shown(wanted) } };
    const what = old.length === 0 ? 'added as' : 'changed to';
    if (__opts__.test)
      return {
        ...ret,
        result: null,
        changes,
        comment: `'${name}' would be ${what} ${JSON.stringify(shown(wanted))}`,
      };
    await __salt__['git.config_set']?.(name, { ...scope, multivar: wanted });
    return { ...ret, changes, comment: `'${name}' was ${what} ${JSON.stringify(shown(wanted))}` };
  } catch (error) {
    return failed(ret, messageOf(error));
  }
};

/**
 * Takes a key from git's configuration.
 *
 * @param name the key
 * @param repo the repository
 * @param user run git as this user
 * @param global the user's configuration instead of a repository's
 *
 * @example
 * core.editor:
 *   git.config_unset:
 *     - global: True
 */
export const config_unset = async (
  name: string,
  {
    repo = null,
    user = null,
    global = false,
  }: Pick<ConfigOptions, 'repo' | 'user' | 'global'> = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (!global && repo === null)
    return failed(ret, "Non-global config options require the 'repo' argument to be set");
  const scope = { cwd: repo, user, global };
  try {
    const old: string[] = isToCome(repo, user)
      ? []
      : await __salt__['git.config_get_all']?.(name, scope);
    if (old.length === 0) return { ...ret, comment: `No matching keys are set` };
    const changes = { [name]: { old: old.length > 1 ? old : (old[0] ?? null), new: null } };
    if (__opts__.test)
      return { ...ret, result: null, changes, comment: `'${name}' would be unset` };
    await __salt__['git.config_unset']?.(name, scope);
    return { ...ret, changes, comment: `'${name}' was unset` };
  } catch (error) {
    return failed(ret, messageOf(error));
  }
};

/**
 * Keeps a clone at one commit, tag or branch, with HEAD detached.
 *
 * @param name URL of the repository
 * @param rev the revision
 * @param target directory of the clone
 * @param user run git as this user
 * @param identity private key, or keys, on this host to log in with
 * @param https_user name to log in with, over https; it is written down nowhere
 * @param https_pass its password
 *
 * @example
 * https://example.com/app.git:
 *   git.detached:
 *     - rev: v1.2
 *     - target: /srv/app
 */
export const detached = async (
  name: string,
  rev: string,
  {
    target = null,
    user = null,
    identity = null,
    https_user = null,
    https_pass = null,
  }: {
    target?: string | null;
    user?: string | null;
    identity?: string | string[] | null;
    https_user?: string | null;
    https_pass?: string | null;
  } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (!target) return failed(ret, "'target' argument is required");
  const shown = redact(name);
  try {
    const { url, ...https } = loginFor(name, https_user, https_pass);
    const login = { user, identity, ...https };
    const has = async (): Promise<string | null> => {
      try {
        return (await __salt__['git.revision']?.(target, rev, { user })) ?? null;
      } catch {
        return null;
      }
    };
    const isRepo = await __salt__['git.is_repo']?.(target, { user });
    const old: string | null = isRepo
      ? await __salt__['git.revision']?.(target, 'HEAD', { user })
      : null;
    const known = isRepo ? await has() : null;
    const branch: string = isRepo ? await __salt__['git.current_branch']?.(target, { user }) : '';
    if (known !== null && known === old && branch === '')
      return { ...ret, comment: 'Already checked out at correct revision' };
    if (__opts__.test)
      return {
        ...ret,
        result: null,
        changes: { revision: { old, new: rev } },
        comment: isRepo
          ? `${rev} would be checked out at ${target}`
          : `${shown} would be cloned to ${target}`,
      };
    if (isRepo) await __salt__['git.fetch']?.(target, { opts: '--tags', ...login });
    else await __salt__['git.clone']?.(target, url, { opts: '--no-checkout', ...login });
    await __salt__['git.checkout']?.(target, rev, { opts: '--detach', user });
    const now: string = await __salt__['git.revision']?.(target, 'HEAD', { user });
    return {
      ...ret,
      changes: { ...(isRepo ? {} : { new: `${shown} => ${target}` }), revision: { old, new: now } },
      comment: `Commit ID ${now} was checked out at ${target}`,
    };
  } catch (error) {
    return failed(ret, redact(messageOf(error)));
  }
};
