/** Accounts of the system. */

import { readGroups } from '../../../_shared/commands/accounts.ts';
import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { failed, would } from '../../../_shared/states/returns.ts';
import { toList } from '../../../_shared/states/values.ts';
import {
  __opts__,
  CommandExecutionError,
  type Plain,
  type PlainDict,
  type StateReturn,
} from '../../../api.ts';
import type { DesiredUser, PresentOptions, User } from '../../desired-user.ts';
import { createUser, updateUser } from '../../user-change.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('user.info') || [false, 'user.info is not available on this host.'];

/**
 * An account is there, with these properties.
 *
 * @param name the account
 * @param uid its number; changing the one of an account that is there needs `allow_uid_change`
 * @param gid its primary group, name or number; changing it needs `allow_gid_change`
 * @param usergroup true: with a group of its own name; false: without, when it is made
 * @param groups groups it is in, all of which must exist
 * @param optional_groups groups it is in where they exist
 * @param remove_groups false: it stays in other groups
 * @param home its home folder
 * @param createhome false: do not make the home folder
 * @param password the hash of its password, as in /etc/shadow
 * @param hash_password true: `password` is the password itself and is hashed here
 * @param enforce_password false: set the password only when the account has none yet
 * @param empty_password true: the account has an empty password
 * @param shell its login shell
 * @param unique false: the number may be taken already
 * @param system true: a system account, when it is made
 * @param fullname the person's name
 * @param roomnumber room
 * @param workphone phone at work
 * @param homephone phone at home
 * @param other anything else
 * @param date day of the last password change, in days since 1970
 * @param mindays days that a password must be kept
 * @param maxdays days for which a password is good
 * @param inactdays days after expiry in which the password can still be changed
 * @param warndays days of warning before the password expires
 * @param expire day on which the account expires, in days since 1970
 * @param nologinit true: leave lastlog and faillog alone when it is made
 * @param allow_uid_change true: the number of an account that is there may change
 * @param allow_gid_change true: the primary group of an account that is there may change
 * @param password_lock true: the password is locked; false: it is not
 * @param loginclass has no effect: the BSDs have login classes
 * @param win_homedrive has no effect here: for Windows
 * @param win_profile has no effect here: for Windows
 * @param win_logonscript has no effect here: for Windows
 * @param win_description has no effect here: for Windows
 * @example
 * deploy:
 *   user.present:
 *     - shell: /bin/bash
 *     - groups: [adm, www-data]
 */
export const present = async (name: string, options: PresentOptions = {}): Promise<StateReturn> => {
  const wanted = { ...given(options), groups: listOr(options.groups) };
  for (const field of ['fullname', 'roomnumber', 'workphone', 'homephone'] as const)
    if (String(wanted[field] ?? '').includes(','))
      return failed(name, `Unsupported char ',' in ${wanted[field]}`);
  const known = new Set((await readGroups()).map(group => group.name));
  const missing = (wanted.groups ?? []).filter(group => !known.has(group));
  if (missing.length > 0) {
    const comment = `The following group(s) are not present: ${missing.join(',')}`;
    // An earlier state of the run may be the one that makes them.
    return __opts__.test
      ? would(name, `${comment}; if created in this state run, the user would be checked`)
      : failed(name, comment);
  }
  const optional = toList(options.optional_groups).filter(group => known.has(group));
  try {
    const password = await hashOf(name, wanted);
    const state: DesiredUser = { ...wanted, password, optional };
    const user: User | PlainDict = await salt('user.info')(name);
    return 'uid' in user
      ? await updateUser(name, user as User, state)
      : await createUser(name, state);
  } catch (error) {
    if (error instanceof CommandExecutionError) return failed(name, error.message);
    throw error;
  }
};

/** The options without those that are `false` for nothing; false comes as Python's text where a text is asked for. */
const given = (options: PresentOptions): PresentOptions => {
  const nothing = (['password', 'shell', 'home', 'uid', 'gid'] as const).filter(
    field => String(options[field]).toLowerCase() === 'false',
  );
  return { ...options, ...Object.fromEntries(nothing.map(field => [field, null])) };
};

const listOr = (value: Plain | undefined): string[] | null =>
  value === null || value === undefined ? null : toList(value);

/** The password's hash; a plain one is hashed with the salt of the present one, so that it compares. */
const hashOf = async (
  name: string,
  { password = null, hash_password = false }: PresentOptions,
): Promise<string | null> => {
  if (password === null || password === '') return null;
  if (!hash_password) return String(password);
  const { passwd } = await salt('shadow.info')(name);
  const parts = /^\$([56])\$((?:rounds=\d+\$)?[^$]+)\$/.exec(String(passwd));
  return salt('shadow.gen_password')(
    String(password),
    parts ? { crypt_salt: parts[2], algorithm: parts[1] === '6' ? 'sha512' : 'sha256' } : {},
  );
};
