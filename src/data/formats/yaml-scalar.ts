import { bidiMarks } from '../../protocol/unsafe-characters.ts';
import { yamlKind } from './yaml-kind.ts';

/** The styles in which libyaml's emitter may write a scalar. */
export type Analysis = {
  readonly multiline: boolean;
  readonly flowPlain: boolean;
  readonly blockPlain: boolean;
  readonly single: boolean;
  /** Whether the string remains a string without quotes. */
  readonly implicit: boolean;
};

/** The characters that are escaped in addition to control characters. */
export type Escapes = 'ascii' | 'marks' | undefined;

const marks = new RegExp(`[${bidiMarks}]`);
const breaks = '\n\x85\u2028\u2029';
const whitespace = ' \t\r\n\x85\u2028\u2029';

/**
 * Characters that libyaml does not escape; it escapes those beyond U+FFFF and those selected by
 * `escapes`.
 */
const isPrintable = (char: string, escapes: Escapes): boolean => {
  const code = char.codePointAt(0) ?? 0;
  return (
    code === 0x0a ||
    (code >= 0x20 && code <= 0x7e) ||
    (escapes !== 'ascii' &&
      !(escapes === 'marks' && marks.test(char)) &&
      ((code >= 0xa0 && code <= 0xd7ff) || (code >= 0xe000 && code <= 0xfffd && code !== 0xfeff)))
  );
};

export const analyse = (text: string, escapes?: Escapes): Analysis => {
  const implicit = yamlKind(text) === 'str';
  if (text === '')
    return { multiline: false, flowPlain: false, blockPlain: true, single: true, implicit };
  const chars = Array.from(text);
  const last = chars.length - 1;
  const marker = text.startsWith('---') || text.startsWith('...');
  let flow = marker;
  let block = marker;
  let lineBreaks = false;
  let special = false;
  let edge = false;
  let breakSpace = false;
  let spaceBreak = false;
  let previous: 'space' | 'break' | 'other' = 'other';

  chars.forEach((char, index) => {
    const spaceBefore = index === 0 || whitespace.includes(chars[index - 1] ?? '');
    const spaceAfter = index === last || whitespace.includes(chars[index + 1] ?? '');
    if (index === 0 && '#,[]{}&*!|>\'"%@`'.includes(char)) flow = block = true;
    else if (char === '#' && spaceBefore) flow = block = true;
    else if (index > 0 && ',?[]{}'.includes(char)) flow = true;
    else if (char === ':' || (index === 0 && char === '?')) {
      flow = true;
      block ||= spaceAfter;
    } else if (index === 0 && char === '-' && spaceAfter) flow = block = true;
    if (!isPrintable(char, escapes)) special = true;
    if (char === ' ') {
      edge ||= index === 0 || index === last;
      breakSpace ||= previous === 'break';
      previous = 'space';
    } else if (breaks.includes(char)) {
      lineBreaks = true;
      edge ||= index === 0 || index === last;
      spaceBreak ||= previous === 'space';
      previous = 'break';
    } else previous = 'other';
  });

  const double = spaceBreak || special;
  const plain = !edge && !breakSpace && !double && !lineBreaks;
  return {
    multiline: lineBreaks,
    flowPlain: plain && !flow,
    blockPlain: plain && !block,
    single: !breakSpace && !double,
    implicit,
  };
};

const escapes = new Map([
  ['\0', '0'],
  ['\x07', 'a'],
  ['\b', 'b'],
  ['\t', 't'],
  ['\n', 'n'],
  ['\v', 'v'],
  ['\f', 'f'],
  ['\r', 'r'],
  ['\x1b', 'e'],
  ['"', '"'],
  ['\\', '\\'],
  ['\x85', 'N'],
  ['\xa0', '_'],
  ['\u2028', 'L'],
  ['\u2029', 'P'],
]);

/** Escapes a character of a double-quoted scalar. */
export const escapeChar = (char: string): string => {
  const name = escapes.get(char);
  if (name !== undefined) return `\\${name}`;
  const code = char.codePointAt(0) ?? 0;
  const [letter, width] = code <= 0xff ? ['x', 2] : code <= 0xffff ? ['u', 4] : ['U', 8];
  return `\\${letter}${code.toString(16).toUpperCase().padStart(Number(width), '0')}`;
};

export const mustEscape = (char: string, escapes?: Escapes): boolean =>
  char === '"' || char === '\\' || breaks.includes(char) || !isPrintable(char, escapes);
