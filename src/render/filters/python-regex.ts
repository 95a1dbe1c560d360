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

const mostMilliseconds = 1000;
const sandbox = createContext(Object.create(null));
const search = new Script('[...text.matchAll(regex)]');

/** Two repetitions, or one of a group, can make a pattern take for ever. */
const mayHang = ({ source }: RegExp, text: string): boolean =>
  text.length > 20 && (/\)[*+{?]/.test(source) || (source.match(/[*+]|\{\d+,/g) ?? []).length > 1);

/** All matches of a global or sticky expression; undefined where it took too long. */
export const boundedMatches = (regex: RegExp, text: string): RegExpMatchArray[] | undefined => {
  if (!mayHang(regex, text)) return [...text.matchAll(regex)];
  Object.assign(sandbox, { regex, text });
  try {
    return search.runInContext(sandbox, { timeout: mostMilliseconds }) as RegExpMatchArray[];
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return undefined;
  } finally {
    Object.assign(sandbox, { regex: undefined, text: undefined });
  }
};

/**
 * As `boundedMatches`.
 *
 * @throws TypeError where it took too long.
 */
export const allMatches = (regex: RegExp, text: string): RegExpMatchArray[] => {
  const found = boundedMatches(regex, text);
  if (found) return found;
  throw new TypeError(
    `'${regex.source}' takes too long on this text: its repetitions are ambiguous`,
  );
};
