import { readFileSync } from '../../../_shared/safe-fs/fs.ts';
import { splitLines } from '../../../_shared/text/python-text.ts';
import { decodeForDiff, isText } from '../../../_shared/text/text-diff.ts';
import type { PlainDict, StateReturn } from '../../../api.ts';
import { addToFile } from '../../add-to-file.ts';
import { addedDiff, missingLines } from '../../added-text.ts';
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
 * @param text one string or several; each is searched separately
 * @param makedirs make missing directories above
 * @param source source of the text, instead of `text`
 * @param source_hash hash of a source from the web
 * @param template renderer for a source; null: use it unchanged
 * @param sources several sources
 * @param source_hashes their hashes
 * @param defaults variables for the template that `context` overrides
 * @param context variables for the template
 * @param ignore_whitespace ignore differences in white space
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
    template = 'jinja',
    sources = null,
    source_hashes = null,
    defaults = null,
    context = null,
    ignore_whitespace = true,
  }: AppendOptions = {},
): Promise<StateReturn> =>
  addToFile(
    name,
    { text, makedirs, source, source_hash, template, sources, source_hashes, defaults, context },
    {
      verb: 'append',
      touch,
      plan: async (path, chunks) => {
        const lines = await missingLines(path, chunks, ignore_whitespace);
        return {
          lines,
          diff: () => {
            const bytes = readFileSync(path);
            const before = splitLines(decodeForDiff(bytes));
            return isText(bytes) ? addedDiff(before, [...before, ...lines]) : 'Replace binary file';
          },
        };
      },
    },
  );
