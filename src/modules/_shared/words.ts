import { SaltInvocationError } from '../api.ts';

/**
 * Splits a command line into words by POSIX shell quoting, expanding nothing.
 *
 * @throws SaltInvocationError when a quote is not closed
 */
export const splitWords = (line: string): string[] => {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? '';
    if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === "'" || character === '"') {
      const end = closingQuote(line, at);
      const inner = line.slice(at + 1, end);
      word = (word ?? '') + (character === '"' ? inner.replace(/\\(["\\])/g, '$1') : inner);
      at = end;
    } else if (character === '\\' && at + 1 < line.length) {
      at += 1;
      word = (word ?? '') + (line[at] ?? '');
    } else word = (word ?? '') + character;
  }
  if (word !== undefined) words.push(word);
  return words;
};

const closingQuote = (line: string, from: number): number => {
  const quote = line[from];
  for (let at = from + 1; at < line.length; at += 1) {
    if (quote === '"' && line[at] === '\\') at += 1;
    else if (line[at] === quote) return at;
  }
  throw new SaltInvocationError(`A quote is not closed in: ${line}`);
};

/** A word that a POSIX shell reads as exactly this text. */
export const quoteWord = (word: string): string =>
  word !== '' && /^[A-Za-z0-9_@%+=:,./-]+$/.test(word)
    ? word
    : `'${word.replaceAll("'", "'\\''")}'`;
