import { exists, expandUser } from '../../../_shared/files/file-paths.ts';
import { followLinks } from '../../../_shared/safe-fs/open-parent.ts';
import { linesDiff, splitAtNewlines } from '../../../_shared/text/text-diff.ts';
import { SaltInvocationError } from '../../../api.ts';
import { copyWithAttributes, readOnlyText, writeText } from '../../edit-file.ts';
import { replaceBlock } from '../../replace-block.ts';

type BlockKeywords = {
  content?: string;
  append_if_not_found?: boolean;
  prepend_if_not_found?: boolean;
  backup?: string | boolean | null;
  dry_run?: boolean;
  show_changes?: boolean;
  append_newline?: boolean | null;
  insert_before_match?: string | null;
  insert_after_match?: string | null;
};

/**
 * Replaces the block between two marker lines. Returns the diff, or ''.
 *
 * @param path the file
 * @param marker_start text of the line before the block
 * @param marker_end text of the line after it
 * @param content the text between the markers
 * @param append_if_not_found add the markers and the block at the end if the markers do not exist
 * @param prepend_if_not_found add them at the start
 * @param backup suffix of the backup copy's name; false for no backup
 * @param dry_run change nothing, only report the changes
 * @param show_changes false: return true or false instead of the diff
 * @param append_newline end the block with a newline; null: when the content does not
 * @param insert_before_match add them before the line that this regular expression matches
 * @param insert_after_match add them after it
 *
 * @example tsalt-ssh '*' file.blockreplace /etc/hosts '# start' '# end' content='10.0.0.1 db'
 */
export const blockreplace = async (
  path: string,
  marker_start = '#-- start managed zone --',
  marker_end = '#-- end managed zone --',
  {
    content = '',
    append_if_not_found = false,
    prepend_if_not_found = false,
    backup = '.bak',
    dry_run = false,
    show_changes = true,
    append_newline = false,
    insert_before_match = null,
    insert_after_match = null,
  }: BlockKeywords = {},
): Promise<string | boolean> => {
  const ways = [append_if_not_found, prepend_if_not_found, insert_before_match, insert_after_match];
  if (ways.filter(Boolean).length > 1)
    throw new SaltInvocationError(
      'Only one of append_if_not_found, prepend_if_not_found, insert_before_match, and insert_after_match is permitted',
    );
  const full = followLinks(expandUser(path));
  if (!exists(full)) throw new SaltInvocationError(`File not found: ${full}`);
  const { text, encoding } = readOnlyText(full);
  const lines = splitAtNewlines(text);
  const result = replaceBlock(lines, {
    markerStart: marker_start,
    markerEnd: marker_end,
    content,
    append: append_if_not_found,
    prepend: prepend_if_not_found,
    appendNewline: append_newline,
    insertBefore: insert_before_match,
    insertAfter: insert_after_match,
  });
  if (result.join('') === text) return show_changes ? '' : false;
  if (!dry_run) {
    if (backup) copyWithAttributes(full, full + (backup === true ? '.bak' : backup));
    writeText(full, result.join(''), { encoding });
  }
  return show_changes ? linesDiff(lines, result) : true;
};
