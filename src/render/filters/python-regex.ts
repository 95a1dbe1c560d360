import { type Context, createContext, runInContext } from 'node:vm';
import { pythonPattern } from '../../data/python-pattern.ts';

/**
 * A Python regular expression as JavaScript's.
 *
 * @throws TypeError for a pattern that is broken or that JavaScript cannot express.
 */
export const pythonRegex = (
  pattern: string,
  given: { ignorecase?: boolean; multiline?: boolean; sticky?: boolean; global?: boolean },
): RegExp => {
  const letters = `${given.ignorecase ? 'i' : ''}${given.multiline ? 'm' : ''}`;
  try {
    return pythonPattern(pattern, letters, `${given.sticky ? 'y' : ''}${given.global ? 'g' : ''}`);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new TypeError(`'${pattern}' is no regular expression: ${error.message}`);
  }
};

const mostMilliseconds = 1000;
const search = '[...text.matchAll(regex)]';
const trial = 'regex.test(text)';

/** Two repetitions, or one of a group, can make a pattern take for ever. */
const mayHang = ({ source }: RegExp, text: string): boolean =>
  text.length > 20 && (/\)[*+{?]/.test(source) || (source.match(/[*+]|\{\d+,/g) ?? []).length > 1);

/** All matches of a global or sticky expression; undefined where it took too long. */
export const boundedMatches = (regex: RegExp, text: string): RegExpMatchArray[] | undefined =>
  mayHang(regex, text)
    ? (withinTime(search, regex, text) as RegExpMatchArray[] | undefined)
    : [...text.matchAll(regex)];

/** Does it match? Undefined where it took too long. */
export const boundedTest = (regex: RegExp, text: string): boolean | undefined =>
  mayHang(regex, text) ? (withinTime(trial, regex, text) as boolean | undefined) : regex.test(text);

/** Made when it is needed: most runs have no such expression. */
let sandbox: Context | undefined;

const withinTime = (script: string, regex: RegExp, text: string): unknown => {
  sandbox ??= createContext(Object.create(null));
  Object.assign(sandbox, { regex, text });
  try {
    return runInContext(script, sandbox, { timeout: mostMilliseconds });
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
