import { pythonPattern } from '../data/python/python-pattern.ts';
import { TsaltError } from '../protocol/error.ts';

/**
 * Converts a Python regular expression to JavaScript: named groups `(?P<n>…)` and `(?P=n)`, `\A`,
 * `\Z`, inline flags at the start, comments, verbose mode, literal braces.
 *
 * @throws TsaltError `bad-regex` with the reason, for malformed expressions and for the few
 *   constructs that JavaScript lacks (conditionals, flags for a part, atomic groups).
 */
export const pythonRegExp = (source: string): RegExp => {
  const known = cache.get(source);
  if (known) return known;
  const made = compile(source);
  if (cache.size >= 500) cache.clear();
  cache.set(source, made);
  return made;
};

/** As Python's `re.match`: the expression has to match at the start, not to the end. */
export const pythonMatch = (source: string, text: string): boolean => {
  const regExp = pythonRegExp(source);
  regExp.lastIndex = 0;
  const holds = test(regExp, text);
  if (holds !== undefined) return holds;
  throw new TsaltError(
    'regex-time',
    `Regular expression ${JSON.stringify(source)} takes too long on ${JSON.stringify(text.slice(0, 60))}.`,
    {
      hint: 'Its repetitions are ambiguous, as in (a+)+: a host chooses its grains and could hold up all others.',
    },
  );
};

/** Undefined: it took too long. */
type Test = (regExp: RegExp, text: string) => boolean | undefined;

let test: Test = (regExp, text) => regExp.test(text);

/** Sets the function that tries expressions; it limits their time, which this folder cannot do. */
export const tryRegExpsBy = (bounded: Test): void => {
  test = bounded;
};

const cache = new Map<string, RegExp>();

const compile = (pattern: string): RegExp => {
  try {
    // Sticky at index 0 is what `re.match` means by "at the start".
    return pythonPattern(pattern, '', 'y');
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw bad(pattern, error.message);
  }
};

const bad = (source: string, why: string): TsaltError =>
  new TsaltError('bad-regex', `Regular expression ${JSON.stringify(source)} is not valid: ${why}`, {
    hint: 'Regular expressions are written as in Python: parentheses and brackets in pairs, a literal dot as \\.',
  });
