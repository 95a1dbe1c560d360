/**
 * Inspects and changes files and folders.
 *
 * @platform unix
 */

import { changeAttributes, lsattrFlags } from '../../../_shared/files/file-attributes.ts';
import { exists, expandUser } from '../../../_shared/files/file-paths.ts';
import { SaltInvocationError } from '../../../api.ts';

/**
 * Returns the attributes of a file, as `lsattr` shows them.
 *
 * @param path the file
 *
 * @example tsalt-ssh '*' file.lsattr /etc/resolv.conf
 */
export const lsattr = async (path: string): Promise<Record<string, string[]> | null> => {
  const full = expandUser(path);
  if (!exists(full)) throw new SaltInvocationError(`File or directory does not exist: ${full}`);
  const found = lsattrFlags(full);
  return found === undefined ? null : { [full]: [...found] };
};

/**
 * Adds or removes attributes of a file.
 *
 * @param path the file
 * @param operator `add` or `remove`
 * @param attributes the letters
 * @param flags further options of `chattr`, as letters: `R`, `f`, `V`
 *
 * @example tsalt-ssh '*' file.chattr /etc/resolv.conf operator=add attributes=i
 */
export const chattr = async (
  path: string,
  {
    operator = null,
    attributes = null,
    flags = null,
  }: { operator?: string | null; attributes?: string | null; flags?: string | null } = {},
): Promise<boolean> => {
  if (operator !== 'add' && operator !== 'remove')
    throw new SaltInvocationError("Need an operator: 'add' or 'remove' to modify attributes.");
  if (!attributes) throw new SaltInvocationError('Need attributes: [aAcCdDeijPsStTu]');
  if (flags && !/^[RVf]+$/.test(flags))
    throw new SaltInvocationError(`Flags are of R, V, f, not "${flags}"`);
  changeAttributes(operator, attributes, [expandUser(path)], flags ? [`-${flags}`] : []);
  return true;
};
