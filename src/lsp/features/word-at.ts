import type { TextSpan } from '../text/scan-lines.ts';

/** The part of a line around a column that a pattern matches, such as a path or a name. */
export const wordAt = (
  text: string,
  line: number,
  column: number,
  pattern: RegExp,
):
  | { readonly word: string; readonly groups: readonly string[]; readonly span: TextSpan }
  | undefined => {
  const all = new RegExp(
    pattern.source,
    pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`,
  );
  for (const match of text.matchAll(all)) {
    const from = match.index;
    const to = from + match[0].length;
    if (from <= column && column <= to)
      return {
        word: match[0],
        groups: match.slice(1).map(group => group ?? ''),
        span: { line, from, to },
      };
  }
  return undefined;
};

/** `salt['pkg.version']`, `salt.pkg.version` and `salt['grains.get']` in a template. */
export const saltCall = /\bsalt(?:\[['"]([\w.]+)['"]\]|\.(\w+\.\w+))/;

/** A file that a template imports or includes. */
export const importedFile =
  /\b(?:from|import|include|extends|render)\s+(?:'([^'\n]+)'|"([^"\n]+)")/;
