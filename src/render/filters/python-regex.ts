import { createContext, Script } from 'node:vm';
import { translatePattern } from '../../data/python-pattern.ts';

/**
 * A Python regular expression as JavaScript's. Matching is by code point, as in Python.
 *
 * @throws TypeError for a pattern that is broken or that JavaScript cannot express.
 */
export const pythonRegex = (
  pattern: string,
  given: { ignorecase?: boolean; multiline?: boolean; sticky?: boolean; global?: boolean },
): RegExp => {
  const letters = `${given.ignorecase ? 'i' : ''}${given.multiline ? 'm' : ''}`;
  try {
    const { source, flags } = translatePattern(pattern, letters);
    return new RegExp(source, `${flags}${given.sticky ? 'y' : ''}${given.global ? 'g' : ''}`);
  } catch (error) {
    const { message } = error as Error;
    const reason = message.slice(message.lastIndexOf(': ') + 1).trim();
    throw new TypeError(`'${pattern}' is no regular expression: ${reason}`);
  }
};

const controls: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

/**
 * Python's replacement text: `\1`, `\g<1>`, `\g<name>`, `\n`; `$` means nothing.
 *
 * @throws TypeError for a backslash before any other letter.
 */
export const expandReplacement = (
  template: string,
  match: readonly (string | undefined)[],
  groups: Readonly<Record<string, string | undefined>> | undefined,
): string =>
  template.replace(
    /\\(?:g<(\w+)>|(0[0-7]{0,2})|([1-9]\d?)|([\s\S]?))/g,
    (whole, name, octal, digits, char) => {
      const key: string | undefined = name ?? digits;
      if (key !== undefined) return groupOf(key, match, groups);
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      const control = controls[char as string];
      if (control === undefined && /^[A-Za-z]?$/.test(char))
        throw new TypeError(`bad escape ${whole} in the replacement '${template}'`);
      return control ?? whole;
    },
  );

const groupOf = (
  key: string,
  match: readonly (string | undefined)[],
  groups: Readonly<Record<string, string | undefined>> | undefined,
): string => {
  const isNumber = /^\d+$/.test(key);
  const isKnown = isNumber ? Number(key) < match.length : Object.hasOwn(groups ?? {}, key);
  if (!isKnown) throw new TypeError(`the pattern has no group ${key}`);
  return (isNumber ? match[Number(key)] : groups?.[key]) ?? '';
};

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
