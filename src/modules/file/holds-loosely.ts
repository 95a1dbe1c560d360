import { splitLines } from '../_shared/text/python-text.ts';

/**
 * Returns true if a text contains another as whole lines, ignoring indentation and spacing. Salt
 * uses a regular expression with `\s*` between all words, which is too large for some thousand
 * words.
 */
export const holdsLoosely = (text: string, wanted: string): boolean => {
  const words = splitLines(wanted).flatMap(line => line.split(/\s+/).filter(Boolean));
  let tried = -1;
  for (let start = 0; start <= text.length; start = lineEnd(text, start) + 1) {
    // Blank lines lead to the same first word.
    if (start <= tried) continue;
    tried = skipSpace(text, start);
    if (isAt(text, words.length === 0 ? start : tried, words)) return true;
  }
  return false;
};

const isAt = (text: string, start: number, words: readonly string[]): boolean => {
  let at = start;
  let end = start;
  for (const word of words) {
    if (!text.startsWith(word, at)) return false;
    end = at + word.length;
    at = skipSpace(text, end);
  }
  return skipSpace(text, end) >= lineEnd(text, end);
};

const lineEnd = (text: string, from: number): number => {
  const at = text.indexOf('\n', from);
  return at < 0 ? text.length : at;
};

/** Skips the bytes that `\s` matches. */
const skipSpace = (text: string, from: number): number => {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
};

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);
