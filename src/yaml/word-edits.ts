/** A word of one text that is another word in a second text. */
export type WordEdit = {
  /** Offsets in the first text. */
  readonly start: number;
  readonly end: number;
  /** How much farther the second text is after the word. */
  readonly shift: number;
};

/** Characters that are compared at once. */
const chunk = 512;

const longestWord = 250;

/** A word, or several that are joined: a path, a host name. */
const joined = /[\w/][\w./-]*/y;

/** After these characters, a word is not text but syntax: an escape, an anchor, a header. */
const beforeSyntax = '\\&*!|>%@`';

/**
 * Returns the words in which two texts differ. A word has letters, digits and `_./-`, and begins with
 * none of `.` and `-`: it is one in any context of YAML, and so is any other one.
 *
 * @returns undefined if the texts differ in anything else
 */
export const wordEdits = (text: string, other: string): WordEdit[] | undefined => {
  const edits: WordEdit[] = [];
  let at = 0;
  let shift = 0;
  for (;;) {
    const end = at + commonLength(text, at, other, at + shift);
    if (end === text.length && end + shift === other.length) return edits;
    const start = wordStart(text, at, end);
    if (start === undefined) return undefined;
    const length = wordLength(text, start);
    const otherLength = wordLength(other, start + shift);
    if (length === 0 || otherLength === 0 || otherLength > longestWord) return undefined;
    at = start + length;
    shift += otherLength - length;
    edits.push({ start, end: at, shift });
  }
};

const commonLength = (text: string, from: number, other: string, otherFrom: number): number => {
  let at = from;
  let otherAt = otherFrom;
  for (let size = chunk; size > 0; ) {
    const isSame = at + size <= text.length && other.startsWith(text.slice(at, at + size), otherAt);
    if (isSame) {
      at += size;
      otherAt += size;
    } else size >>= 1;
  }
  return at - from;
};

/** Returns where the word begins in which the texts begin to differ. */
const wordStart = (text: string, from: number, differs: number): number | undefined => {
  let start = differs;
  while (start > from && isJoined(text.charCodeAt(start - 1))) start -= 1;
  if (start > 0 && beforeSyntax.includes(text.charAt(start - 1))) return undefined;
  while (start < differs && '.-'.includes(text.charAt(start))) start += 1;
  return start;
};

const wordLength = (text: string, start: number): number => {
  joined.lastIndex = start;
  return joined.test(text) ? joined.lastIndex - start : 0;
};

/** Whether a character is one of `\w./-`. */
const isJoined = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x2d && code <= 0x39) ||
  (code >= 0x41 && code <= 0x5a) ||
  code === 0x5f;
