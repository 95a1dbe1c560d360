import { cannotEdit } from '../../../_shared/files/file-checks.ts';
import { expandUser } from '../../../_shared/files/file-paths.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';

type ReplaceOptions = {
  count?: number;
  flags?: number | string | string[];
  bufsize?: number | string;
  append_if_not_found?: boolean;
  prepend_if_not_found?: boolean;
  not_found_content?: string | null;
  backup?: string | boolean | null;
  show_changes?: boolean;
  ignore_if_missing?: boolean;
  backslash_literal?: boolean;
};

/**
 * Replaces text that matches a regular expression (Python's syntax) in a file.
 *
 * @param name the file
 * @param pattern the regular expression
 * @param repl the replacement, with `\1` or `\g<name>` for groups
 * @param count maximum number of replacements, 0 for all
 * @param flags `MULTILINE`, `IGNORECASE`, `DOTALL` …, a list of them, or a number
 * @param bufsize accepted for compatibility: the whole file is searched
 * @param append_if_not_found add the replacement at the end when nothing matches
 * @param prepend_if_not_found add it at the start when nothing matches
 * @param not_found_content the text to add instead of the replacement
 * @param backup suffix of the backup copy's name; false for no backup
 * @param show_changes false: the diff is not shown
 * @param ignore_if_missing a missing file is not an error
 * @param backslash_literal backslashes in the replacement are just that
 *
 * @example
 * /etc/ssh/sshd_config:
 *   file.replace:
 *     - pattern: ^#?PermitRootLogin .*
 *     - repl: PermitRootLogin no
 *     - append_if_not_found: True
 */
export const replace = async (
  name: string,
  pattern: string,
  repl: string | number,
  {
    count = 0,
    flags = 8,
    bufsize = 1,
    append_if_not_found = false,
    prepend_if_not_found = false,
    not_found_content = null,
    backup = '.bak',
    show_changes = true,
    ignore_if_missing = false,
    backslash_literal = false,
  }: ReplaceOptions = {},
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.replace');
  const problem = cannotEdit(path);
  if (problem)
    return ignore_if_missing && problem.includes('file not found')
      ? { ...ret, comment: 'No changes needed to be made' }
      : failed(ret, problem);
  const { test } = __opts__;
  const changes = await __salt__['file.replace']?.(path, pattern, repl, {
    count,
    flags,
    bufsize,
    append_if_not_found,
    prepend_if_not_found,
    not_found_content,
    backup,
    dry_run: test,
    show_changes,
    ignore_if_missing,
    backslash_literal,
  });
  if (!changes) return { ...ret, comment: 'No changes needed to be made' };
  return test
    ? { ...ret, changes: { diff: changes }, result: null, comment: 'Changes would have been made' }
    : { ...ret, changes: { diff: changes }, comment: 'Changes were made' };
};
