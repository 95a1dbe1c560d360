import { contentText } from '../_shared/files/file-content.ts';
import { findSource } from '../_shared/sources/file-source.ts';
import { salt } from '../_shared/states/call.ts';
import { splitLines, textList } from '../_shared/text/python-text.ts';
import { unifiedDiff } from '../_shared/text/unified-diff.ts';
import { __env__, type PlainDict } from '../api.ts';
import { readOnlyText } from './edit-file.ts';
import { holdsLoosely } from './holds-loosely.ts';

export type AddedTextOptions = {
  text?: unknown;
  source?: string | null;
  source_hash?: string | null;
  sources?: string[] | null;
  source_hashes?: string[] | null;
  template?: string | null;
  defaults?: PlainDict | null;
  context?: PlainDict | null;
};

/** Returns the chunks of text that `file.append` and `file.prepend` add, or an error message. */
export const addedText = async (
  name: string,
  options: AddedTextOptions,
): Promise<string[] | { error: string }> => {
  const { source, source_hash, sources, source_hashes, text, ...rest } = options;
  if (source && sources?.length) return { error: 'source and sources are mutually exclusive' };
  if (source_hash && source_hashes?.length)
    return { error: 'source_hash and source_hashes are mutually exclusive' };
  const all = source ? [source] : (sources ?? []);
  if (all.length === 0)
    return text === null || text === undefined
      ? { error: 'No text found to append. Nothing appended' }
      : textList(text);
  const chunks: string[] = [];
  for (const [index, each] of all.entries()) {
    const hash = source ? source_hash : source_hashes?.[index];
    const found = await findSource(each, {
      ...rest,
      name,
      saltenv: __env__.name,
      source_hash: hash ?? null,
    });
    const content = await found.content();
    chunks.push(contentText(content));
    content.discard();
  }
  return chunks;
};

/**
 * Returns the lines of the chunks that a file does not contain yet.
 *
 * @param ignoreWhitespace - A chunk may be indented and spaced otherwise; else it is a regular expression.
 * @throws SaltInvocationError for a binary file
 */
export const missingLines = async (
  path: string,
  chunks: readonly string[],
  ignoreWhitespace: boolean,
): Promise<string[]> => {
  const text = ignoreWhitespace ? readOnlyText(path).text : '';
  const missing: string[][] = [];
  for (const chunk of chunks) {
    const isThere = ignoreWhitespace
      ? holdsLoosely(text, chunk)
      : await salt('file.search')(path, chunk, { multiline: true });
    if (!isThere) missing.push(splitLines(chunk));
  }
  return missing.flat();
};

/** Returns the diff in the format of these states: of lines without line ends. */
export const addedDiff = (before: readonly string[], after: readonly string[]): string =>
  unifiedDiff(before, after).join('\n');
