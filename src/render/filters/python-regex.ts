import { createContext, Script } from 'node:vm';

/**
 * A Python regular expression as JavaScript's: named groups, `\A`, `\Z`, inline flags.
 * Matching is by code point, as in Python.
 *
 * @throws TypeError for a pattern that JavaScript cannot express.
 */
export const pythonRegex = (
  pattern: string,
  flags: { ignorecase?: boolean; multiline?: boolean; sticky?: boolean; global?: boolean },
): RegExp => {
  let letters = `${flags.ignorecase ? 'i' : ''}${flags.multiline ? 'm' : ''}${flags.sticky ? 'y' : ''}${flags.global ? 'g' : ''}`;
  const inline = /^\(\?([aiLmsux]+)\)/.exec(pattern);
  let source = inline ? pattern.slice(inline[0].length) : pattern;
  for (const letter of inline?.[1] ?? '')
    if ('ims'.includes(letter) && !letters.includes(letter)) letters += letter;
  if (inline?.[1]?.includes('x'))
    source = source.replace(/\\.|\s+|#.*$/gm, part => (part.startsWith('\\') ? part : ''));
  source = source
    .replace(/\(\?P</g, '(?<')
    .replace(/\(\?P=(\w+)\)/g, '\\k<$1>')
    .replace(/\\A/g, '(?<![\\s\\S])')
    .replace(/\\Z/g, '(?![\\s\\S])');
  try {
    return new RegExp(source, `${letters}u`);
  } catch {
    try {
      return new RegExp(source, letters);
    } catch (error) {
      throw new TypeError(`'${pattern}' is no regular expression: ${(error as Error).message}`);
    }
  }
};

/** Python's replacement text: `\1`, `\g<1>`, `\g<name>`, `\n`; `$` means nothing. */
export const expandReplacement = (
  template: string,
  match: readonly (string | undefined)[],
  groups: Readonly<Record<string, string | undefined>> | undefined,
): string =>
  template.replace(/\\(?:g<(\w+)>|(\d{1,2})|([nrt\\]))/g, (whole, name, digits, control) => {
    const key: string | undefined = name ?? digits;
    if (key !== undefined) return (/^\d+$/.test(key) ? match[Number(key)] : groups?.[key]) ?? '';
    return { n: '\n', r: '\r', t: '\t', '\\': '\\' }[control as string] ?? whole;
  });

const find = new Script('Array.from(text.matchAll(regex))');
const timeout = 2000;

/**
 * All matches of a global or sticky expression. Where repeated groups may make the engine try
 * without end, it is stopped after two seconds.
 *
 * @throws TypeError when it was stopped.
 */
export const allMatches = (regex: RegExp, text: string): RegExpMatchArray[] => {
  if (!/\)[*+{?]/.test(regex.source)) return [...text.matchAll(regex)];
  try {
    return find.runInContext(createContext({ regex, text }), { timeout }) as RegExpMatchArray[];
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new TypeError(
      `'${regex.source}' takes too long on this text: its repetitions are ambiguous`,
    );
  }
};
