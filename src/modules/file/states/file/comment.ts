import { cannotEdit } from '../../../_shared/files/file-checks.ts';
import { expandUser } from '../../../_shared/files/file-paths.ts';
import { readFileSync } from '../../../_shared/safe-fs/fs.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { contentDiff } from '../../../_shared/text/text-diff.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';

type CommentOptions = {
  /** the comment character */
  char?: string;
  /** suffix of the backup copy's name; false for no backup */
  backup?: string | boolean | null;
  ignore_missing?: boolean;
};

/**
 * Comments lines out.
 *
 * @param name the file
 * @param regex regular expression (Python's syntax) for the start of a line
 * @param ignore_missing it is not an error if no line matches
 *
 * @example
 * /etc/fstab:
 *   file.comment:
 *     - regex: ^bind 127.0.0.1
 */
export const comment = async (
  name: string,
  regex: string,
  { char = '#', backup = '.bak', ignore_missing = false }: CommentOptions = {},
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.comment');
  const problem = cannotEdit(path);
  if (problem) return failed(ret, problem);
  const bare = regex.replace(/^(\(\?[iLmsux]\))?\^?(.*?)\$?$/, '$2');
  const has = async (pattern: string): Promise<boolean> =>
    Boolean(await __salt__['file.search']?.(path, pattern, { multiline: true }));
  const commented = char + bare;
  if (!(await has(`^(?!\\s*${char}).*${bare}`))) {
    if (await has(commented)) return { ...ret, comment: 'Pattern already commented' };
    return ignore_missing
      ? { ...ret, comment: 'Pattern not found and ignore_missing set to True' }
      : failed(ret, `${bare}: Pattern not found`);
  }
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      changes: { [path]: 'updated' },
      comment: `File ${path} is set to be updated`,
    };
  const before = readFileSync(path);
  await __salt__['file.comment_line']?.(path, regex, char, true, backup);
  const diff = contentDiff(before, readFileSync(path));
  const changes = diff ? { diff } : {};
  return (await has(commented))
    ? { ...ret, changes, comment: 'Commented lines successfully' }
    : failed({ ...ret, changes }, 'Expected commented lines not found');
};

/**
 * Removes the comment characters from lines.
 *
 * @param name the file
 * @param regex regular expression (Python's syntax) for a line behind its comment sign
 * @example
 * /etc/adduser.conf:
 *   file.uncomment:
 *     - regex: EXTRA_GROUPS
 */
export const uncomment = async (
  name: string,
  regex: string,
  { char = '#', backup = '.bak' }: Omit<CommentOptions, 'ignore_missing'> = {},
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.uncomment');
  const problem = cannotEdit(path);
  if (problem) return failed(ret, problem);
  const bare = regex.replace(/^\^+/, '');
  const has = async (pattern: string): Promise<boolean> =>
    Boolean(await __salt__['file.search']?.(path, pattern, { multiline: true }));
  const plain = `^[ \t]*${bare}`;
  if (!(await has(`${char}[ \t]*${bare}`)))
    return (await has(plain))
      ? { ...ret, comment: 'Pattern already uncommented' }
      : failed(ret, `${regex}: Pattern not found`);
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      changes: { [path]: 'updated' },
      comment: `File ${path} is set to be updated`,
    };
  const before = readFileSync(path);
  await __salt__['file.comment_line']?.(path, regex, char, false, backup);
  const diff = contentDiff(before, readFileSync(path));
  const changes = diff ? { diff } : {};
  return (await has(plain))
    ? { ...ret, changes, comment: 'Uncommented lines successfully' }
    : failed({ ...ret, changes }, 'Expected uncommented lines not found');
};
