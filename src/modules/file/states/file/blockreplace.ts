import { messageOf } from '../../../../protocol/error.ts';
import { cannotEdit } from '../../../_shared/files/file-checks.ts';
import { expandUser } from '../../../_shared/files/file-paths.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { plainStr } from '../../../_shared/text/python-text.ts';
import { __opts__, __salt__, type PlainDict, type StateReturn } from '../../../api.ts';
import { accumulatedFor } from '../../accumulators.ts';
import { addedText } from '../../added-text.ts';

type BlockOptions = {
  marker_start?: string;
  marker_end?: string;
  source?: string | null;
  source_hash?: string | null;
  template?: string | null;
  sources?: string[] | null;
  source_hashes?: string[] | null;
  defaults?: PlainDict | null;
  context?: PlainDict | null;
  content?: string;
  append_if_not_found?: boolean;
  prepend_if_not_found?: boolean;
  backup?: string | boolean | null;
  show_changes?: boolean;
  append_newline?: boolean | null;
  insert_before_match?: string | null;
  insert_after_match?: string | null;
};

/**
 * Manages the block between two marker lines of a file. `file.accumulated` can add text to it.
 *
 * @param name the file
 * @param marker_start text of the line before the block
 * @param marker_end text of the line after it
 * @param source where the content is
 * @param source_hash hash of a source from the web
 * @param template renderer for a source; null: use it unchanged
 * @param sources several sources
 * @param source_hashes their hashes
 * @param defaults variables for the template that `context` overrides
 * @param context variables for the template
 * @param content the text between the markers
 * @param append_if_not_found add the markers and the block at the end if the markers do not exist
 * @param prepend_if_not_found add them at the start
 * @param backup suffix of the backup copy's name; false for no backup
 * @param show_changes false: the diff is not shown
 * @param append_newline end the block with a newline; left out: when the content does not
 * @param insert_before_match add them before the line that this regular expression matches
 * @param insert_after_match add them after it
 *
 * @example
 * /etc/hosts:
 *   file.blockreplace:
 *     - marker_start: '# start managed zone'
 *     - marker_end: '# end managed zone'
 *     - content: 10.0.0.1 db
 *     - append_if_not_found: True
 */
export const blockreplace = async (
  name: string,
  {
    marker_start = '#-- start managed zone --',
    marker_end = '#-- end managed zone --',
    source = null,
    source_hash = null,
    template = 'jinja',
    sources = null,
    source_hashes = null,
    defaults = null,
    context = null,
    content = '',
    append_if_not_found = false,
    prepend_if_not_found = false,
    backup = '.bak',
    show_changes = true,
    append_newline = null,
    insert_before_match = null,
    insert_after_match = null,
  }: BlockOptions = {},
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.blockreplace');
  const problem = cannotEdit(path);
  if (problem) return failed(ret, problem);
  const { test } = __opts__;
  const options = { source, source_hash, sources, source_hashes, template, defaults, context };
  let changes: unknown;
  try {
    const extra = source || sources?.length ? await addedText(path, options) : [];
    if ('error' in extra) return failed(ret, extra.error);
    const parts = [content, ...Object.values(accumulatedFor(path) ?? {}).flat()];
    const own = parts
      .filter((part, index) => index > 0 || part !== '')
      .map(plainStr)
      .join('\n');
    changes = await __salt__['file.blockreplace']?.(path, marker_start, marker_end, {
      content: own + extra.join(''),
      append_if_not_found,
      prepend_if_not_found,
      insert_before_match,
      insert_after_match,
      backup,
      dry_run: test,
      show_changes,
      append_newline,
    });
  } catch (error) {
    return failed(
      ret,
      `Encountered error managing block: ${messageOf(error)}. See the log for details.`,
    );
  }
  if (!changes) return { ...ret, comment: 'No changes needed to be made' };
  const diff = changes as string;
  return test
    ? { ...ret, changes: { diff }, result: null, comment: 'Changes would be made' }
    : { ...ret, changes: { diff }, comment: 'Changes were made' };
};
