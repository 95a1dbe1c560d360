import { readFileSync } from '../../../_shared/safe-fs/fs.ts';
import { splitLines } from '../../../_shared/text/python-text.ts';
import { contentDiff, decodeForDiff } from '../../../_shared/text/text-diff.ts';
import type { PlainDict, StateReturn } from '../../../api.ts';
import { addToFile } from '../../add-to-file.ts';
import { missingLines } from '../../added-text.ts';
import { touch } from './touch.ts';

type PrependOptions = {
  text?: string | string[] | null;
  makedirs?: boolean;
  source?: string | null;
  source_hash?: string | null;
  template?: string | null;
  sources?: string[] | null;
  source_hashes?: string[] | null;
  defaults?: PlainDict | null;
  context?: PlainDict | null;
  header?: boolean | null;
};

/**
 * Adds text to the start of a file, unless the file has it already. A missing file is made.
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
 * @param header the text must be the first lines of the file, even if it exists elsewhere in the file
 *
 * @example
 * /etc/motd:
 *   file.prepend:
 *     - text: Managed by tsalt-ssh
 */
export const prepend = async (
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
    header = null,
  }: PrependOptions = {},
): Promise<StateReturn> =>
  addToFile(
    name,
    { text, makedirs, source, source_hash, template, sources, source_hashes, defaults, context },
    {
      verb: 'prepend',
      touch,
      plan: async (path, chunks) => {
        const before = readFileSync(path);
        const wanted = header ? chunks.flatMap(splitLines) : await missingLines(path, chunks, true);
        const head = splitLines(decodeForDiff(before)).slice(0, wanted.length);
        const isHead = header && wanted.every((line, index) => line === head[index]);
        const text = Buffer.from(wanted.map(line => `${line}\n`).join(''));
        return {
          lines: isHead ? [] : wanted,
          diff: () => contentDiff(before, Buffer.concat([text, before])),
        };
      },
    },
  );
