import { __low__, __opts__, log, type StateReturn } from '../../api.ts';
import type { AccountName } from './check-perms.ts';
import { exists, isAbs, isDir } from './file-paths.ts';
import { gidOf, uidOf } from './owner-names.ts';

/** Why owner or group cannot be set: they do not exist. In test mode an earlier state may make them. */
export const missingAccounts = (
  user: AccountName,
  group: AccountName,
  { uid, gid }: AccountIds = accountIds(user, group),
): string => {
  const parts: string[] = [];
  if (user && uid === undefined) parts.push(`User ${user} is not available `);
  if (group && gid === undefined) parts.push(`Group ${group} is not available`);
  const message = parts.join('');
  if (message === '' || !__opts__.test) return message;
  log.warning(`${__low__.__id__ ?? 'file'}: ${message.trim()}`);
  return '';
};

/** The ids of the accounts that a state names; undefined for those that it leaves out or that do not exist. */
export type AccountIds = { readonly uid?: number | undefined; readonly gid?: number | undefined };

/** Looks up the accounts that a state names, once for all that follows. */
export const accountIds = (user: AccountName, group: AccountName): AccountIds => ({
  uid: user || user === 0 ? uidOf(user) : undefined,
  gid: group || group === 0 ? gidOf(group) : undefined,
});

/** Why a file cannot be edited: its path is relative, it is not there, or it is a directory. */
export const cannotEdit = (name: string): string => {
  if (!isAbs(name)) return `Specified file ${name} is not an absolute path`;
  if (!exists(name)) return `${name}: file not found`;
  return isDir(name) ? `${name} is a directory, not a file` : '';
};

/** Warnings of a return, with one more. */
export const warn = (ret: StateReturn, warning: string): void => {
  ret.warnings = [...(ret.warnings ?? []), warning];
};
