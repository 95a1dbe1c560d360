/** Manages access control lists of files. Also available as `acl`. */

import { exists } from '../../_shared/files/file-paths.ts';
import { hasFunction } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { isPathToCome } from '../../_shared/states/to-come.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../api.ts';
import { aclArg, aclLetters, entryOf, grants, readAcls, setAcls } from '../acl.ts';

export const __virtualname__ = 'acl';

export const __virtual__ = (): string | [false, string] =>
  hasFunction('acl.getfacl')
    ? __virtualname__
    : [false, 'getfacl and setfacl are not installed (package acl).'];

type Wish = {
  readonly type: string;
  readonly names: readonly string[];
  readonly perms: string;
  readonly recurse: boolean;
  readonly force: boolean;
};

const given = async (path: string, wish: Wish): Promise<StateReturn> => {
  const { type, names, perms, recurse, force } = wish;
  const shown = names.join(', ');
  const entry = (value: string): PlainDict => ({ acl_name: shown, acl_type: type, perms: value });
  const words = names.map(name => aclArg(type, name, perms));
  const toCome = `New permissions will be applied for ${shown}: ${perms}`;
  if (isPathToCome(path)) return would(path, toCome, { new: entry(perms) });
  if (!exists(path)) return failed(path, `${path} does not exist`);
  const acls = await readAcls([path], recurse);
  const missing = names.filter(name =>
    [...acls].some(([below, acl]) => !grants(below, acl, type, name, perms)),
  );
  if (missing.length === 0) return unchanged(path, 'Permissions are in the desired state');
  const had = missing.flatMap(name => {
    const found = [...acls.values()].flatMap(acl => entryOf(acl, type, name) ?? []);
    return found.slice(0, 1).map(({ octal }) => aclLetters(octal));
  });
  const old = had.join(', ');
  const changes = { new: entry(perms), ...(had.length > 0 ? { old: entry(old) } : {}) };
  if (__opts__.test)
    return would(
      path,
      had.length > 0
        ? `Updated permissions will be applied for ${shown}: ${old} -> ${perms}`
        : toCome,
      changes,
    );
  try {
    if (force) await setAcls(['--remove-all'], [path], recurse);
    await setAcls(
      words.flatMap(word => ['--modify', word]),
      [path],
      recurse,
    );
  } catch (error) {
    return failed(path, `Error updating permissions for ${shown}: ${(error as Error).message}`);
  }
  const done = had.length > 0 ? 'Updated permissions' : 'Applied new permissions';
  return changed(path, `${done} for ${shown}`, changes);
};

const taken = async (
  path: string,
  { type, names, perms, recurse }: Omit<Wish, 'force'>,
): Promise<StateReturn> => {
  const words = names.map(name => aclArg(type, name));
  const fine = 'Permissions are in the desired state';
  if (isPathToCome(path)) return unchanged(path, fine);
  if (!exists(path)) return failed(path, `${path} does not exist`);
  const acls = [...(await readAcls([path], recurse)).values()];
  const there = names.filter(name => acls.some(acl => entryOf(acl, type, name)));
  if (there.length === 0) return unchanged(path, fine);
  const old = { acl_name: there.join(', '), acl_type: type, ...(perms === '' ? {} : { perms }) };
  if (__opts__.test) return would(path, 'Removing permissions', { old });
  await setAcls(
    words.flatMap(word => ['--remove', word]),
    [path],
    recurse,
  );
  return changed(path, 'Removing permissions', { old });
};

type PresentOptions = {
  /** true: for all below the path too */
  recurse?: boolean;
  /** true: if something has to change, remove all other entries */
  force?: boolean;
};

/**
 * Makes sure that a user or group has these permissions for a path.
 *
 * @param name the path
 * @param acl_type `user`, `group`, `mask` or `other`; with `default:` (`d:`) before it, what is made
 *   inside of the folder gets it
 * @param acl_name the user or group; empty: the owner
 * @param perms `rwx`, `r-x`, `rX` or a digit
 * @example
 * /srv/www:
 *   acl.present:
 *     - acl_type: user
 *     - acl_name: ann
 *     - perms: rwx
 */
export const present = async (
  name: string,
  acl_type: string,
  acl_name = '',
  perms = '',
  { recurse = false, force = false }: PresentOptions = {},
): Promise<StateReturn> =>
  failOnError(name, () =>
    given(name, { type: acl_type, names: [acl_name], perms, recurse, force }),
  );

/**
 * Makes sure that a path has no entry for a user or group.
 *
 * @param name the path
 * @param acl_type `user`, `group` or `mask`, with `default:` (`d:`) before it or not
 * @param acl_name the user or group
 * @param perms only shown in the changes: the entry is removed with all its permissions
 * @param recurse true: nor has anything below the path
 * @example
 * /srv/www:
 *   acl.absent:
 *     - acl_type: user
 *     - acl_name: ann
 */
export const absent = async (
  name: string,
  acl_type: string,
  acl_name = '',
  perms = '',
  { recurse = false }: { recurse?: boolean } = {},
): Promise<StateReturn> =>
  failOnError(name, () => taken(name, { type: acl_type, names: [acl_name], perms, recurse }));

/**
 * Makes sure that several users or groups have these permissions for a path.
 *
 * @param name the path
 * @param acl_type `user` or `group`, with `default:` (`d:`) before it or not
 * @param acl_names the users or groups
 * @param perms `rwx`, `r-x`, `rX` or a digit
 * @example
 * /srv/www:
 *   acl.list_present:
 *     - acl_type: user
 *     - acl_names: [ann, bob]
 *     - perms: rwx
 */
export const list_present = async (
  name: string,
  acl_type: string,
  acl_names: string[] | null = null,
  perms = '',
  { recurse = false, force = false }: PresentOptions = {},
): Promise<StateReturn> =>
  failOnError(name, () =>
    given(name, { type: acl_type, names: acl_names ?? [], perms, recurse, force }),
  );

/**
 * Makes sure that a path has no entries for several users or groups.
 *
 * @param name the path
 * @param acl_type `user` or `group`, with `default:` (`d:`) before it or not
 * @param acl_names the users or groups
 * @param recurse true: nor has anything below the path
 * @example
 * /srv/www:
 *   acl.list_absent:
 *     - acl_type: user
 *     - acl_names: [ann, bob]
 */
export const list_absent = async (
  name: string,
  acl_type: string,
  acl_names: string[] | null = null,
  { recurse = false }: { recurse?: boolean } = {},
): Promise<StateReturn> =>
  failOnError(name, () =>
    taken(name, { type: acl_type, names: acl_names ?? [], perms: '', recurse }),
  );
