import { escapeRegex, pythonRegex, pythonReplacement } from '../_shared/text/python-regex.ts';

export type ReplaceOptions = {
  count?: number;
  append_if_not_found?: boolean;
  prepend_if_not_found?: boolean;
  not_found_content?: string | null;
  backslash_literal?: boolean;
};

/** Applies `file.replace` to a text. */
export const replaceInFile = (
  text: string,
  pattern: string,
  repl: string,
  flags: number,
  {
    count = 0,
    append_if_not_found = false,
    prepend_if_not_found = false,
    not_found_content = null,
    backslash_literal = false,
  }: ReplaceOptions,
): string => {
  const regex = pythonRegex(pattern, flags, 'g');
  const substitute = backslash_literal ? () => repl : pythonReplacement(repl);
  // Like Python, refuses an invalid replacement before searching.
  ''.replace(new RegExp(`${regex.source}|`, regex.flags.replace('g', '')), substitute);
  let replaced = 0;
  const result = text.replace(regex, (...match) => {
    if (count > 0 && replaced >= count) return match[0] as string;
    replaced++;
    return substitute(...match);
  });
  if (replaced > 0 || !(append_if_not_found || prepend_if_not_found)) return result;
  const addition = not_found_content || repl;
  const isThere = pythonRegex(`^${escapeRegex(addition)}($|(?=\\r\\n))`, flags).test(text);
  if (isThere) return result;
  if (prepend_if_not_found) return `${addition}\n${result}`;
  return `${result === '' || result.endsWith('\n') ? result : `${result}\n`}${addition}\n`;
};
