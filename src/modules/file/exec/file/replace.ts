import { exists, expandUser, isLink } from '../../../_shared/files/file-paths.ts';
import { readlinkSync, rmSync, symlinkSync } from '../../../_shared/safe-fs/fs.ts';
import { followLinks } from '../../../_shared/safe-fs/open-parent.ts';
import { ASCII, pythonRegex, regexFlags } from '../../../_shared/text/python-regex.ts';
import { splitKeepingEnds } from '../../../_shared/text/python-text.ts';
import { linesDiff } from '../../../_shared/text/text-diff.ts';
import { SaltInvocationError } from '../../../api.ts';
import { copyWithAttributes, readOnlyText, writeText } from '../../edit-file.ts';
import { type ReplaceOptions, replaceInFile } from '../../replace-text.ts';

type Flags = number | string | string[];

/**
 * Replaces text that matches a regular expression (Python's syntax) in a file. Returns the diff, or
 * ''.
 *
 * @param path the file
 * @param pattern the regular expression
 * @param repl the replacement, with `\1` or `\g<name>` for groups
 * @param count maximum number of replacements, 0 for all
 * @param flags `MULTILINE`, `IGNORECASE`, `DOTALL` …, a list of them, or a number
 * @param bufsize accepted for compatibility: the whole file is searched
 * @param append_if_not_found add the replacement at the end when nothing matches
 * @param prepend_if_not_found add it at the start when nothing matches
 * @param not_found_content the text to add instead of the replacement
 * @param backup suffix of the backup copy's name; false for no backup
 * @param dry_run change nothing, only report the changes
 * @param search_only only report whether the pattern matches
 * @param show_changes false: return true or false instead of the diff
 * @param ignore_if_missing false: a missing file is an error
 * @param preserve_inode keep hard links to the file
 * @param backslash_literal backslashes in the replacement are just that
 *
 * @example tsalt-ssh '*' file.replace /etc/ssh/sshd_config '^#?Port .*' 'Port 2222'
 */
export const replace = async (
  path: string,
  pattern: string,
  repl: string | number,
  {
    count = 0,
    flags = 8,
    bufsize: _bufsize = 1,
    append_if_not_found = false,
    prepend_if_not_found = false,
    not_found_content = null,
    backup = '.bak',
    dry_run = false,
    search_only = false,
    show_changes = true,
    ignore_if_missing = false,
    preserve_inode = true,
    backslash_literal = false,
  }: ReplaceOptions & {
    flags?: Flags;
    bufsize?: number | string;
    backup?: string | boolean | null;
    dry_run?: boolean;
    search_only?: boolean;
    show_changes?: boolean;
    ignore_if_missing?: boolean;
    preserve_inode?: boolean;
  } = {},
): Promise<string | boolean> => {
  if (search_only && (append_if_not_found || prepend_if_not_found))
    throw new SaltInvocationError('search_only cannot be used with append/prepend_if_not_found');
  if (append_if_not_found && prepend_if_not_found)
    throw new SaltInvocationError('Only one of append and prepend_if_not_found is permitted');
  const given = expandUser(path);
  const full = followLinks(given);
  if (!exists(full)) {
    if (ignore_if_missing) return false;
    throw new SaltInvocationError(`File not found: ${full}`);
  }
  const { text, encoding } = readOnlyText(full);
  // Salt replaces in bytes, where `\w` and `\s` match only ASCII.
  const bits = regexFlags(flags) | ASCII;
  if (search_only) return pythonRegex(pattern, bits).test(text);
  const options = {
    count,
    append_if_not_found,
    prepend_if_not_found,
    not_found_content,
    backslash_literal,
  };
  const result = replaceInFile(text, pattern, String(repl), bits, options);
  if (result === text) return show_changes ? '' : false;
  if (!dry_run) {
    if (backup) keepCopy(given, full, backup === true ? '.bak' : backup);
    writeText(full, result, { encoding, preserveInode: preserve_inode });
  }
  return show_changes ? linesDiff(splitKeepingEnds(text), splitKeepingEnds(result)) : true;
};

/**
 * Whether a regular expression (Python's syntax) matches in a file.
 *
 * @param path the file
 * @param pattern the regular expression
 * @param flags `MULTILINE`, `IGNORECASE`, `DOTALL` …, a list of them, or a number
 * @param bufsize accepted for compatibility: the whole file is searched
 * @param ignore_if_missing false: a missing file is an error
 * @param multiline `^` and `$` match at every line
 *
 * @example tsalt-ssh '*' file.search /etc/crontab 'mymaintenance.sh'
 */
export const search = async (
  path: string,
  pattern: string,
  {
    flags = 8,
    bufsize: _bufsize = 1,
    ignore_if_missing = false,
    multiline = false,
  }: {
    flags?: Flags;
    bufsize?: number | string;
    ignore_if_missing?: boolean;
    multiline?: boolean;
  } = {},
): Promise<boolean> => {
  const bits = regexFlags(flags) | (multiline ? 8 : 0);
  const found = await replace(path, pattern, '', {
    flags: bits,
    dry_run: true,
    search_only: true,
    ignore_if_missing,
  });
  return found === true;
};

/**
 * The backup is next to the real file; if the path is a symlink, a symlink to the backup is created
 * next to it.
 */
const keepCopy = (given: string, full: string, suffix: string): void => {
  copyWithAttributes(full, full + suffix);
  if (!isLink(given)) return;
  rmSync(given + suffix, { force: true });
  symlinkSync(readlinkSync(given) + suffix, given + suffix);
};
