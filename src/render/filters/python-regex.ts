import { type Context, createContext, runInContext } from 'node:vm';
import { pythonPattern } from '../../data/python-pattern.ts';
import { linearMatches } from './linear-regex.ts';

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

/** How long V8's backtracking may take, before an automaton takes over. */
const tryMilliseconds = 50;
/** How long an automaton may take for one text; its time is linear, but it is slow at first. */
const automatonMilliseconds = 500;
/** How long backtracking may take that no automaton can replace. */
const lastMilliseconds = 100;
/** After so long in vain, all that is tried is suspected to be made to take long. */
const patience = 1000;
const suspectedMilliseconds = 5;

let inVain = 0;

/**
 * Two repetitions, or one of a group, can make a pattern take for ever; a single one is tried again at
 * each letter of a text, which takes long where that is long.
 */
const mayHang = ({ source }: RegExp, text: string): boolean => {
  if (text.length <= 20) return false;
  const repetitions = (source.match(/[*+]|\{\d+,/g) ?? []).length;
  return /\)[*+{?]/.test(source) || repetitions > (text.length > longText ? 0 : 1);
};

const longText = 2000;

/**
 * All matches of a global or sticky expression; undefined where it took too long. Backtracking gets
 * a short time. What takes longer is left to an automaton, whose time is linear.
 */
export const boundedMatches = (regex: RegExp, text: string): RegExpMatchArray[] | undefined =>
  mayHang(regex, text)
    ? bounded(
        () => [...text.matchAll(regex)],
        () => linearMatches(regex, text),
      )
    : [...text.matchAll(regex)];

/** Does it match? Undefined where it took too long. */
export const boundedTest = (regex: RegExp, text: string): boolean | undefined => {
  if (!mayHang(regex, text)) return regex.test(text);
  const { lastIndex } = regex;
  return bounded(
    () => {
      regex.lastIndex = lastIndex;
      return regex.test(text);
    },
    () => {
      const found = linearMatches(regex, text, 1);
      return found && found.length > 0;
    },
  );
};

const bounded = <T>(backtrack: () => T, automaton: () => T | undefined): T | undefined => {
  const isSuspected = inVain > patience;
  const first = withinTime(backtrack, isSuspected ? suspectedMilliseconds : tryMilliseconds);
  if (first !== late) return first;
  const second = withinTime(automaton, isSuspected ? lastMilliseconds : automatonMilliseconds);
  if (second === late) return undefined;
  if (second !== undefined || isSuspected) return second;
  const last = withinTime(backtrack, lastMilliseconds);
  return last === late ? undefined : last;
};

const late = Symbol('late');

/** Made when it is needed: most runs have no such expression. */
let sandbox: Context | undefined;

const withinTime = <T>(work: () => T, milliseconds: number): T | typeof late => {
  sandbox ??= createContext(Object.create(null));
  Object.assign(sandbox, { work });
  const begin = performance.now();
  try {
    return runInContext('work()', sandbox, { timeout: milliseconds });
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    inVain += performance.now() - begin;
    return late;
  } finally {
    Object.assign(sandbox, { work: undefined });
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
