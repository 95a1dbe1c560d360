import { expandUser, isDir } from '../../../_shared/files/file-paths.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';

/**
 * Makes sure that an empty directory does not exist; with `recurse` also the empty ones below it.
 *
 * @param name the directory
 * @param recurse also those below
 * @param ignore_errors a directory that is not empty is not an error
 * @param older_than only directories that did not change for this many days
 *
 * @example
 * /var/cache/app:
 *   file.pruned:
 *     - recurse: True
 */
export const pruned = async (
  name: string,
  {
    recurse = false,
    ignore_errors = false,
    older_than = null,
  }: { recurse?: boolean; ignore_errors?: boolean; older_than?: number | null } = {},
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!isDir(path)) return { ...ret, comment: `Directory ${path} is not present` };
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      changes: { deleted: path },
      comment: `Directory ${path} is set for removal`,
    };
  const deep = recurse || ignore_errors;
  const options = { recurse: deep, verbose: true, older_than };
  const removed = await __salt__['file.rmdir'](path, options);
  if (typeof removed === 'boolean') throw new TypeError('file.rmdir has ignored "verbose"');
  const { result, deleted, errors } = removed;
  if (!result && !(ignore_errors && deleted.length > 0))
    return failed({ ...ret, changes: { deleted, errors } }, `Failed to remove directory ${path}`);
  if (deleted.length === 0) return ret;
  return deep
    ? {
        ...ret,
        changes: { deleted: deleted.sort() },
        comment: `Recursively removed empty directories under ${path}`,
      }
    : { ...ret, changes: { deleted: path }, comment: `Removed directory ${path}` };
};
