import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { __opts__, __salt__, type PlainDict, type StateReturn } from '../../api.ts';
import { addedDiff, addedText, missingLines } from '../../lib/added-text.ts';
import { messageOf } from '../../lib/call.ts';
import { cannotEdit } from '../../lib/file-checks.ts';
import { expandUser, isDir } from '../../lib/file-paths.ts';
import { splitLines } from '../../lib/python-text.ts';
import { failed, newReturn } from '../../lib/returns.ts';
import { decode, isText } from '../../lib/text-diff.ts';
import { touch } from './touch.ts';

type AppendOptions = {
  text?: string | string[] | null;
  makedirs?: boolean;
  source?: string | null;
  source_hash?: string | null;
  template?: string | null;
  sources?: string[] | null;
  source_hashes?: string[] | null;
  defaults?: PlainDict | null;
  context?: PlainDict | null;
  ignore_whitespace?: boolean;
};

/**
 * Adds text to the end of a file, unless the file has it already. A missing file is made.
 *
 * @param name the file
 * @param text one text or several; each is looked for on its own
 * @param makedirs make missing directories above
 * @param source where the text is, instead of `text`
 * @param source_hash hash of a source from the web
 * @param template renderer for a source
 * @param sources several sources
 * @param source_hashes their hashes
 * @param defaults variables for the template that `context` overrides
 * @param context variables for the template
 * @param ignore_whitespace text that differs only in blanks counts as the same
 *
 * @example
 * /etc/motd:
 *   file.append:
 *     - text: Trust no one unless you have eaten much salt with him.
 */
export const append = async (
  name: string,
  {
    text = null,
    makedirs = false,
    source = null,
    source_hash = null,
    template = null,
    sources = null,
    source_hashes = null,
    defaults = null,
    context = null,
    ignore_whitespace = true,
  }: AppendOptions = {},
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.append');
  if (makedirs && !__opts__.test && !isDir(dirname(path))) await __salt__['file.makedirs']?.(path);
  const problem = cannotEdit(path);
  if (problem) {
    const touched = await touch(path, { makedirs });
    if (__opts__.test) return touched;
    if (cannotEdit(path)) return failed(ret, problem);
  }
  let chunks: string[] | { error: string };
  try {
    const options = {
      text,
      source,
      source_hash,
      sources,
      source_hashes,
      template,
      defaults,
      context,
    };
    chunks = await addedText(path, options);
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  if ('error' in chunks) return failed(ret, chunks.error);
  const before = splitLines(decode(readFileSync(path)));
  const added = await missingLines(path, chunks, ignore_whitespace);
  if (added.length === 0) return { ...ret, comment: `File ${path} is in correct state` };
  const diff = isText(readFileSync(path))
    ? addedDiff(before, [...before, ...added])
    : 'Replace binary file';
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      changes: { diff },
      comment: `File ${path} is set to be updated`,
    };
  await __salt__['file.append']?.(path, ...added);
  return { ...ret, changes: { diff }, comment: `Appended ${added.length} lines` };
};
