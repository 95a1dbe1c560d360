import { type AccountName, checkPerms, readPerms } from '../../../_shared/files/check-perms.ts';
import { modeText } from '../../../_shared/files/file-mode.ts';
import { expandUser } from '../../../_shared/files/file-paths.ts';
import { groupName, userName } from '../../../_shared/files/owner-names.ts';
import { __opts__, type StateReturn } from '../../../api.ts';

/**
 * Sets the owner, group and mode of a file and reports the changes.
 *
 * @param name the file
 * @param ret a state's answer to add to, or nothing
 * @param user owner
 * @param group group
 * @param mode mode in octal digits
 * @param attrs attributes as `lsattr` shows them
 * @param follow_symlinks apply to the target of a symlink
 *
 * @example tsalt-ssh '*' file.check_perms /etc/sudoers '{}' root root 400
 */
export const check_perms = async (
  name: string,
  ret: StateReturn | null,
  user: AccountName,
  group: AccountName,
  mode: string | number | null,
  {
    attrs = null,
    follow_symlinks = false,
  }: { attrs?: string | null; follow_symlinks?: boolean } = {},
): Promise<[StateReturn, { luser: string | number; lgroup: string | number; lmode: string }]> => {
  const path = expandUser(name);
  const before = readPerms(path, follow_symlinks);
  const { test } = __opts__;
  const wanted = { user, group, mode, attrs, follow: follow_symlinks };
  const { ok, changes, comments } = checkPerms(path, wanted, { test });
  const changed = Object.keys(changes).length > 0;
  const base =
    ret && 'changes' in ret ? ret : { name: path, changes: {}, result: true, comment: '' };
  const answer: StateReturn = {
    ...base,
    changes: { ...base.changes, ...changes },
    result: ok ? (test && changed ? null : base.result) : false,
    comment: [base.comment, ...comments].flat().filter(Boolean).join('; '),
  };
  const perms = {
    luser: userName(before.uid),
    lgroup: groupName(before.gid),
    lmode: modeText(before.mode),
  };
  return [answer, perms];
};
