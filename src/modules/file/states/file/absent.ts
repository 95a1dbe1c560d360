/** Manages files, folders, links and their contents. */
import { messageOf } from '../../../../protocol/error.ts';
import { expandUser, isAbs, isDir, lstatOf } from '../../../_shared/files/file-paths.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';

/**
 * Makes sure that nothing is there: removes a file, a symlink, or a directory with all it holds.
 *
 * @param name an absolute path, not `/`
 * @unknown ignored
 *
 * @example
 * /etc/motd.tail:
 *   file.absent: []
 */
export const absent = async (name: string): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.absent');
  if (!isAbs(path)) return failed(ret, `Specified file ${path} is not an absolute path`);
  if (/^\/+$/.test(path)) return failed(ret, 'Refusing to make "/" absent');
  const found = lstatOf(path);
  if (!found) return { ...ret, comment: `File ${path} is not present` };
  const kind = !found.isSymbolicLink() && isDir(path) ? 'directory' : 'file';
  const changes = { removed: path };
  if (__opts__.test) {
    const subject = kind === 'file' ? 'File' : 'Directory';
    return { ...ret, result: null, changes, comment: `${subject} ${path} is set for removal` };
  }
  try {
    await __salt__['file.remove']?.(path, { force: true });
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  return { ...ret, changes, comment: `Removed ${kind} ${path}` };
};
