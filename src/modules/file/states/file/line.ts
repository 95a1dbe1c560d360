import type { AccountName } from '../../../_shared/files/check-perms.ts';
import { cannotEdit } from '../../../_shared/files/file-checks.ts';
import { exists, expandUser } from '../../../_shared/files/file-paths.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';
import { managed } from './managed.ts';

type LineOptions = {
  content?: string | null;
  match?: string | null;
  mode?: string | null;
  location?: string | null;
  before?: string | null;
  after?: string | null;
  show_changes?: boolean;
  backup?: boolean;
  quiet?: boolean;
  indent?: boolean;
  create?: boolean;
  user?: AccountName;
  group?: AccountName;
  file_mode?: string | number | null;
};

/**
 * Manages one line of a file.
 *
 * @param name the file
 * @param content the line
 * @param match text or regular expression that the line to replace or delete matches
 * @param mode `ensure`, `replace`, `insert` or `delete`
 * @param location `start` or `end`, for `insert`
 * @param before text or regular expression that the line after it matches
 * @param after text or regular expression that the line before it matches
 * @param show_changes false: the diff is not shown
 * @param backup back up the old file; the time is appended to its name
 * @param quiet a missing file is not an error
 * @param indent indent the line as its neighbour
 * @param create create the file if it is missing
 * @param user owner
 * @param group group
 * @param file_mode mode
 *
 * @example
 * /etc/default/app:
 *   file.line:
 *     - mode: ensure
 *     - content: LEVEL=info
 *     - after: ^NAME=
 */
export const line = async (
  name: string,
  {
    content = null,
    match = null,
    mode = null,
    location = null,
    before = null,
    after = null,
    show_changes = true,
    backup = false,
    quiet = false,
    indent = true,
    create = false,
    user = null,
    group = null,
    file_mode = null,
  }: LineOptions = {},
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.line');
  if (__opts__.test && create && !exists(path))
    return { ...ret, result: null, changes: { newfile: path }, comment: 'Changes would be made' };
  const file = await managed(path, { create, user, group, mode: file_mode, replace: false });
  const problem = cannotEdit(path);
  if (problem) return quiet && !exists(path) ? ret : failed(ret, problem);
  if (file.result === false) return failed(ret, String(file.comment));
  const kind = mode?.toLowerCase();
  if (kind === undefined) return failed(ret, 'Mode was not defined. How to process the file?');
  if (kind !== 'delete' && content === null)
    return failed(ret, "Content can only be empty if mode is ['delete']");
  const changes = await __salt__['file.line']?.(path, content, {
    match,
    mode: kind,
    location,
    before,
    after,
    show_changes,
    backup,
    quiet,
    indent,
  });
  if (!changes) return { ...ret, comment: 'No changes needed to be made' };
  return __opts__.test
    ? { ...ret, changes: { diff: changes }, result: null, comment: 'Changes would be made' }
    : { ...ret, changes: { diff: changes }, comment: 'Changes were made' };
};
