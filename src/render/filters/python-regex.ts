import { type Context, createContext, runInContext } from 'node:vm';
import { pythonPattern } from '../../data/python/python-pattern.ts';
import { ownTurn } from '../../protocol/own-turn.ts';
import { linearMatches } from './linear-regex.ts';

/**
 * Converts a Python regular expression to a JavaScript one.
 *
 * @throws TypeError for a malformed pattern, or one that JavaScript does not support.
 */
export const filterRegex = (
  pattern: string,
  given: { ignorecase?: boolean; multiline?: boolean; sticky?: boolean; global?: boolean },
): RegExp => {
  const letters = `${given.ignorecase ? 'i' : ''}${given.multiline ? 'm' : ''}`;
  try {
    return pythonPattern(pattern, letters, `${given.sticky ? 'y' : ''}${given.global ? 'g' : ''}`);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new TypeError(`'${pattern}' is not a regular expression: ${error.message}`);
  }
};

/**
 * Milliseconds for which one matcher may block everything else: V8's backtracking; an automaton,
 * which is linear but slow at first; and V8 again for patterns that automata do not support.
 * Together they stay below the promised 100.
 */
const first = 25;
const linear = 55;
const last = 15;
/** As above, if there is a yield between the attempts. */
const linearAlone = 80;
const attempts = 5;
/** After this many wasted milliseconds, every pattern is assumed to be slow on purpose. */
const patience = 1000;
const suspectedFirst = 5;
const suspectedLinear = 15;

/** Wasted milliseconds: in total, and in the current turn of the event loop. */
let inVain = 0;
let inVainNow = 0;

const isSuspected = (): boolean => inVain > patience;

const spendInVain = (milliseconds: number): void => {
  if (inVainNow === 0)
    setImmediate(() => {
      inVainNow = 0;
    });
  inVain += milliseconds;
  inVainNow += milliseconds;
};

/**
 * Whether a pattern may be slow. Two repetitions, or a repeated group, can take exponential time; a
 * single repetition is tried again at each character, which is slow for long texts.
 */
const mayHang = ({ source }: RegExp, text: string): boolean => {
  if (text.length <= 20) return false;
  const repetitions = (source.match(/[*+]|\{\d+,/g) ?? []).length;
  return /\)[*+{?]/.test(source) || repetitions > (text.length > longText ? 0 : 1);
};

const longText = 2000;

/**
 * Returns all matches of a global or sticky expression; undefined if it took too long. V8's
 * backtracking gets a short time; then an automaton takes over, whose time is linear.
 */
export const boundedMatches = (regex: RegExp, text: string): RegExpMatchArray[] | undefined =>
  mayHang(regex, text)
    ? bounded(
        () => [...text.matchAll(regex)],
        () => linearMatches(regex, text),
      )
    : [...text.matchAll(regex)];

/** Whether it matches. Undefined if it took too long. */
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
  const isShort = isSuspected() || inVainNow > 0;
  const one = withinTime(backtrack, isShort ? suspectedFirst : first);
  if (one !== late) return one;
  const two = withinTime(automaton, isShort ? suspectedLinear : linear);
  if (two === late) return undefined;
  if (two !== undefined || isShort) return two;
  const three = withinTime(backtrack, last);
  return three === late ? undefined : three;
};

/**
 * As `boundedMatches`, with a larger limit: long matching yields to other work. Synchronous if it
 * is fast.
 */
export const matchesYielding = (
  regex: RegExp,
  text: string,
): RegExpMatchArray[] | undefined | Promise<RegExpMatchArray[] | undefined> => {
  const backtrack = (): RegExpMatchArray[] => [...text.matchAll(regex)];
  if (!mayHang(regex, text)) return backtrack();
  const found = withinTime(backtrack, isSuspected() || inVainNow > 0 ? suspectedFirst : first);
  return found === late ? inTurns(backtrack, () => linearMatches(regex, text)) : found;
};

const inTurns = async <T>(
  backtrack: () => T,
  automaton: () => T | undefined,
): Promise<T | undefined> => {
  const most = isSuspected() ? 1 : attempts;
  for (let attempt = 0; attempt < most; attempt += 1) {
    await ownTurn();
    const found = withinTime(automaton, isSuspected() ? suspectedLinear : linearAlone);
    if (found === late) continue;
    if (found !== undefined || isSuspected()) return found;
    await ownTurn();
    const again = withinTime(backtrack, linearAlone);
    return again === late ? undefined : again;
  }
  return undefined;
};

const late = Symbol('late');

/** Made on first use: most runs have no such expression. */
let sandbox: Context | undefined;

/** A time limit includes the time of other programs, so matching is tried again. */
const mostTries = 3;

const withinTime = <T>(work: () => T, milliseconds: number): T | typeof late => {
  sandbox ??= createContext(Object.create(null));
  Object.assign(sandbox, { work });
  let took = 0;
  try {
    for (let tried = 1; ; tried += 1) {
      const begin = process.cpuUsage();
      try {
        return runInContext('work()', sandbox, { timeout: milliseconds });
      } catch (error) {
        if ((error as { code?: string }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      }
      const { user, system } = process.cpuUsage(begin);
      const spent = (user + system) / 1000;
      took += spent;
      if (spent > milliseconds / 2 || tried === mostTries) break;
    }
    spendInVain(took);
    return late;
  } finally {
    Object.assign(sandbox, { work: undefined });
  }
};

/**
 * As `boundedMatches`.
 *
 * @throws TypeError if it took too long.
 */
export const allMatches = (regex: RegExp, text: string): RegExpMatchArray[] => {
  const found = boundedMatches(regex, text);
  if (found) return found;
  throw new TypeError(
    `'${regex.source}' takes too long on this text: its repetitions are ambiguous`,
  );
};
