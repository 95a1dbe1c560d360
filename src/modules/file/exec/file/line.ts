import { expandUser, isFile } from '../../../_shared/files/file-paths.ts';
import { followLinks } from '../../../_shared/safe-fs/open-parent.ts';
import { splitKeepingEnds } from '../../../_shared/text/python-text.ts';
import { linesDiff } from '../../../_shared/text/text-diff.ts';
import { __opts__, CommandExecutionError } from '../../../api.ts';
import { copyWithAttributes, readText, writeText } from '../../edit-file.ts';
import { placedLines } from '../../insert-line.ts';

type LineKeywords = {
  match?: string | null;
  mode?: string | null;
  location?: string | null;
  before?: string | null;
  after?: string | null;
  show_changes?: boolean;
  backup?: boolean | string;
  quiet?: boolean;
  indent?: boolean;
};

/**
 * Adds, changes or removes one line of a file. Returns the diff, or false.
 *
 * @param path the file
 * @param content the line
 * @param match text or regular expression that the line to replace or delete matches
 * @param mode `ensure`, `replace`, `insert` or `delete`
 * @param location `start` or `end`, for `insert`
 * @param before text or regular expression that the line after it matches
 * @param after text or regular expression that the line before it matches
 * @param show_changes false: return true instead of the diff
 * @param backup back up the old file; the time is appended to its name
 * @param quiet a missing file is not an error
 * @param indent indent the line as its neighbour
 *
 * @example tsalt-ssh '*' file.line /etc/resolv.conf 'nameserver 10.0.0.1' mode=ensure after='^search'
 */
export const line = async (
  path: string,
  content: string | null = null,
  {
    match = null,
    mode = null,
    location = null,
    before = null,
    after = null,
    show_changes = true,
    backup = false,
    quiet = false,
    indent = true,
  }: LineKeywords = {},
): Promise<string | boolean> => {
  const full = followLinks(expandUser(path));
  if (!isFile(full)) {
    if (quiet) return false;
    throw new CommandExecutionError(`File "${full}" does not exists or is not a file.`);
  }
  const kind = mode?.toLowerCase();
  if (kind === undefined)
    throw new CommandExecutionError('Mode was not defined. How to process the file?');
  if (!['insert', 'ensure', 'delete', 'replace'].includes(kind))
    throw new CommandExecutionError(`Unknown mode: "${kind}"`);
  if (kind !== 'delete' && content === null)
    throw new CommandExecutionError('Content can only be empty if mode is "delete"');

  const { text, encoding } = readText(full);
  const lines = splitKeepingEnds(text);
  const options = { match, mode: kind, location, before, after, indent };
  const result = placedLines(lines, {
    ...options,
    content: content === null ? null : String(content),
  });
  if (result.join('') === text) return false;
  if (!__opts__.test) {
    if (backup) copyWithAttributes(full, `${full}.${timestamp(new Date())}`);
    writeText(full, result.join(''), { encoding });
  }
  return show_changes ? linesDiff(lines, result) : true;
};

const timestamp = (now: Date): string => {
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map(two).join('-');
  return `${date}-${[now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join('-')}`;
};
