import { RE2JS } from 're2js';

/** Fragments of the output of `pythonPattern`, and their RE2 equivalents. */
const words: readonly (readonly [string, string])[] = [
  ['(?<![\\s\\S])', '\\A'],
  ['(?<![^\\n])', '(?m:^)'],
  ['(?![^\\n])', '(?m:$)'],
  ['(?:(?<=[\\p{L}\\p{N}_])(?![\\p{L}\\p{N}_])|(?<![\\p{L}\\p{N}_])(?=[\\p{L}\\p{N}_]))', '\\b'],
  ['(?:(?<=[\\p{L}\\p{N}_])(?=[\\p{L}\\p{N}_])|(?<![\\p{L}\\p{N}_])(?![\\p{L}\\p{N}_]))', '\\B'],
];
const endOrLastLine = '(?=\\n?(?![\\s\\S]))';
const end = '(?![\\s\\S])';

/** RE2 supports these for ASCII only. */
const asciiOnly = /\\[bBdDsSwW]/;
const beyondAscii = /[^\0-\x7f]/;

/** A run has few patterns; those that a host chooses must not fill the memory. */
const mostKnown = 200;
const known = new Map<string, RE2JS | undefined>();

const compiled = (source: string, ignoreCase: boolean): RE2JS | undefined => {
  const key = `${ignoreCase ? 'i' : ''}:${source}`;
  if (known.has(key)) return known.get(key);
  if (known.size >= mostKnown) known.clear();
  let made: RE2JS | undefined;
  try {
    made = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch {
    // Lookaround or a backreference: automata cannot match these.
  }
  known.set(key, made);
  return made;
};

const translated = ({ source }: RegExp, text: string): string | undefined => {
  let pattern = source;
  for (const [from, to] of words) pattern = pattern.replaceAll(from, to);
  // It also matches before a line end at the end of the text, but RE2 has no lookahead.
  if (pattern.includes(endOrLastLine)) {
    if (text.endsWith('\n')) return undefined;
    pattern = pattern.replaceAll(endOrLastLine, '\\z');
  }
  pattern = pattern
    .replaceAll(end, '\\z')
    .replace(
      /\\u(?:\{([\da-fA-F]+)\}|([\da-fA-F]{4}))/g,
      (_, long, short) => `\\x{${long ?? short}}`,
    );
  return asciiOnly.test(pattern.replaceAll('[\\s\\S]', '.')) && beyondAscii.test(text)
    ? undefined
    : pattern;
};

/**
 * Returns all matches of an expression made by `pythonPattern`, found by an automaton in time that
 * is proportional to the text. For a sticky expression, returns only the first.
 *
 * @returns undefined for lookaround and backreferences, which automata do not support
 */
export const linearMatches = (
  regex: RegExp,
  text: string,
  most = Number.POSITIVE_INFINITY,
): RegExpMatchArray[] | undefined => {
  const source = translated(regex, text);
  const program = source === undefined ? undefined : compiled(source, regex.ignoreCase);
  if (!program) return undefined;
  const matcher = program.matcher(text);
  const names = Object.entries(program.namedGroups()) as [string, number][];
  const found: RegExpMatchArray[] = [];
  const limit = regex.sticky ? 1 : most;
  while (found.length < limit && (regex.sticky ? matcher.lookingAt() : matcher.find())) {
    const groups: (string | undefined)[] = [];
    for (let index = 0; index <= program.groupCount(); index += 1)
      groups.push(matcher.group(index) ?? undefined);
    const match = groups as RegExpMatchArray;
    match.index = matcher.start();
    match.input = text;
    if (names.length > 0)
      match.groups = Object.fromEntries(names.map(([name, index]) => [name, groups[index] ?? '']));
    found.push(match);
  }
  return found;
};
