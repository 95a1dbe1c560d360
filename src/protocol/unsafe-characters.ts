// Ranges of a character class, for regular expressions.

/** Marks that change the order of text on a screen (UAX #9). */
export const bidiMarks = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';

/** Control characters of terminals: C0 except tab and newline, DEL, C1 and marks that reorder text. */
export const unsafeCharacters = `\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f${bidiMarks}`;
