/**
 * Manages access control lists of files with getfacl and setfacl. Also available as `acl`.
 *
 * @platform Linux
 * @depends getfacl, setfacl
 */

import { runChecked } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import type { PlainDict } from '../../api.ts';
import { type AclEntry, aclArg, readAcls, setAcls } from '../acl.ts';

export const __virtualname__ = 'acl';

export const __virtual__ = (): string | [false, string] =>
  which('getfacl') !== undefined && which('setfacl') !== undefined
    ? __virtualname__
    : [false, 'getfacl and setfacl are not installed (package acl).'];

/**
 * Returns the version of getfacl.
 *
 * @example tsalt-ssh '*' acl.version
 */
export const version = async (): Promise<string> =>
  (await runChecked(['getfacl', '--version'])).stdout.trim().split(/\s+/)[1] ?? '';

/**
 * Returns the access control lists of files, as data: `comment`, `user`, `group`, `mask`, `other`
 * and `defaults`. Entries of the owner are listed under the owner's name.
 *
 * @param recursive true: and of all below them
 * @param paths paths
 * @example tsalt-ssh '*' acl.getfacl /srv/www
 */
export const getfacl = async (
  { recursive = false }: { recursive?: boolean },
  ...paths: string[]
): Promise<PlainDict> => {
  const all: PlainDict = {};
  for (const [path, { owner, group, flags, entries }] of await readAcls(paths, recursive)) {
    const told: PlainDict = {
      comment: { file: path, owner, group, ...(flags === undefined ? {} : { flags }) },
      user: [],
      group: [],
    };
    const defaults: PlainDict = {};
    for (const entry of entries) {
      const place = entry.isDefault ? defaults : told;
      const owners: Record<string, string> = { user: owner, group };
      const name = entry.name || (owners[entry.kind] ?? '');
      place[entry.kind] = [...((place[entry.kind] as PlainDict[]) ?? []), { [name]: shown(entry) }];
    }
    if (Object.keys(defaults).length > 0) told.defaults = defaults;
    for (const [at, bit] of ['suid', 'sgid', 'sticky'].entries())
      if (flags?.[at] !== undefined && flags[at] !== '-') told[bit] = true;
    all[path] = told;
  }
  return all;
};

const shown = ({ octal }: AclEntry): PlainDict => ({
  permissions: {
    read: (octal & 4) !== 0,
    write: (octal & 2) !== 0,
    execute: (octal & 1) !== 0,
  },
  octal,
});

/**
 * Options of a change; `raise_err` is accepted for compatibility with Salt: errors are always raised
 * here.
 */
type Where = {
  recursive?: boolean;
  /** accepted for compatibility with Salt: errors are always raised */
  raise_err?: boolean;
};

/**
 * Removes all entries from access control lists; the mode stays.
 *
 * @param recursive true: from all below too
 * @param paths paths
 * @example tsalt-ssh '*' acl.wipefacls /srv/www
 */
export const wipefacls = async (
  { recursive = false, raise_err: _raise_err = false }: Where,
  ...paths: string[]
): Promise<true> => {
  await setAcls(['--remove-all'], paths, recursive);
  return true;
};

/**
 * Adds an entry to access control lists, or changes it.
 *
 * @param acl_type `user`, `group`, `mask` or `other`, with `default:` (`d:`) before it or not
 * @param acl_name the user or group; empty: the owner
 * @param perms permissions: `rwx`, `rX` or a digit
 * @param recursive true: of all below too
 * @param paths paths
 * @example tsalt-ssh '*' acl.modfacl user ann rwx /srv/www
 */
export const modfacl = async (
  acl_type: string,
  acl_name: string,
  perms: string,
  { recursive = false, raise_err: _raise_err = false }: Where,
  ...paths: string[]
): Promise<true> => {
  await setAcls(['--modify', aclArg(acl_type, acl_name, perms)], paths, recursive);
  return true;
};

/**
 * Removes an entry of access control lists.
 *
 * @param acl_type `user`, `group` or `mask`, with `default:` (`d:`) before it or not
 * @param acl_name the user or group
 * @param recursive true: from all below too
 * @param paths paths
 * @example tsalt-ssh '*' acl.delfacl user ann /srv/www
 */
export const delfacl = async (
  acl_type: string,
  acl_name: string,
  { recursive = false }: { recursive?: boolean },
  ...paths: string[]
): Promise<true> => {
  await setAcls(['--remove', aclArg(acl_type, acl_name)], paths, recursive);
  return true;
};
