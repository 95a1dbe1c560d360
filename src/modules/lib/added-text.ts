import { __env__, __salt__, type PlainDict } from '../api.ts';
import { textOf } from './file-content.ts';
import { findSource } from './file-source.ts';
import { escapeRegex } from './python-regex.ts';
import { splitLines, textList } from './python-text.ts';
import { unifiedDiff } from './unified-diff.ts';

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

/** The chunks of text that `file.append` and `file.prepend` add, or why there are none. */
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
    chunks.push(textOf(content));
    content.discard();
  }
  return chunks;
};

/** The lines of the chunks that a file does not have yet. */
export const missingLines = async (
  name: string,
  chunks: readonly string[],
  ignoreWhitespace: boolean,
): Promise<string[]> => {
  const missing: string[] = [];
  for (const chunk of chunks) {
    const pattern = ignoreWhitespace ? looseRegex(chunk) : chunk;
    if (!(await __salt__['file.search']?.(name, pattern, { multiline: true })))
      missing.push(...splitLines(chunk));
  }
  return missing;
};

/** Matches a text however it is indented and spaced. */
export const looseRegex = (text: string): string => {
  const gap = '(?:[\\s]+)?';
  const lines = splitLines(text).map(line =>
    [gap, line.split(/\s+/).filter(Boolean).map(escapeRegex).join(gap), gap].join(''),
  );
  return `(?m)^${lines.join('')}$`;
};

/** The diff as these states show it: of lines without ends. */
export const addedDiff = (before: readonly string[], after: readonly string[]): string =>
  unifiedDiff(before, after).join('\n');
