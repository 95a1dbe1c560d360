import { firstBehind, isTouched, type Ranges, type TaintRange, touching } from '../data/taint.ts';
import { withoutEnd } from '../data/values/without-end.ts';
import { TsaltError } from '../protocol/error.ts';
import { Source } from './fault.ts';
import { Scanner } from './scanner.ts';
import type { Token, TokenKind } from './token.ts';

/**
 * Refuses a text whose structure depends on what a host chose. The tokens of the text are compared
 * with those of the same text in which harmless letters replace each tainted part: kinds and
 * bounds have to be the same. A value that a serializer wrote may be one whole node instead.
 *
 * @param text without byte order mark
 * @param refuse is called with the tainted part that makes the difference
 */
export const checkTaint = (
  text: string,
  ranges: Ranges,
  refuse: (range: TaintRange) => never,
): void => {
  // A directive takes words apart that are one everywhere else.
  if (!/^%/m.test(text) && ranges.every(range => isPlain(text, range))) return;
  const actual = tokensOf(text);
  const harmless = tokensOf(disarmed(text, ranges));
  new Comparison(text, ranges, refuse).compare(actual, harmless);
};

/**
 * Whether other letters in the range would make the same tokens, whatever stands around: it holds
 * words only, and what it continues is no indicator, escape, tag, anchor or header of a block.
 */
const isPlain = (text: string, { start, end }: TaintRange): boolean => {
  if (start >= end) return false;
  for (let at = start; at < end; at += 1)
    if (!isWordLetter(text, at) && !(at > start && isJoin(text, at) && isWordLetter(text, at + 1)))
      return false;
  if (!isWordLetter(text, end - 1)) return false;
  for (let at = start - 1; at >= 0; at -= 1) {
    const before = text.charAt(at);
    if (/\s/.test(before)) return true;
    if (start - at > longestWord || '&*!|>%@`\\'.includes(before)) return false;
  }
  return true;
};

const longestWord = 200;

const isWordLetter = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
};

/** One of these between two letters is a part of the word in every place. */
const isJoin = (text: string, at: number): boolean => ' ._-'.includes(text.charAt(at));

type Tokens = { readonly list: readonly Token[]; readonly isBroken: boolean };

const tokensOf = (text: string): Tokens => {
  const scanner = new Scanner(new Source(text, {}));
  const list: Token[] = [];
  try {
    for (;;) {
      const token = scanner.peek();
      list.push(token);
      if (token.kind === 'stream-end') return { list, isBroken: false };
      scanner.skip();
    }
  } catch (error) {
    if (!(error instanceof TsaltError)) throw error;
    return { list, isBroken: true };
  }
};

/** A letter of two units stands for one, so that columns stay. */
const wideLetter = '\u{1d431}';

/** The text with letters where it is tainted. */
export const disarmed = (text: string, ranges: Ranges): string => {
  let result = '';
  let at = 0;
  for (const { start, end } of ranges) {
    const part = text.slice(start, end);
    result += text.slice(at, start);
    result += part.replace(/[\ud800-\udbff][\udc00-\udfff]|[\s\S]/g, unit =>
      unit.length === 2 ? wideLetter : 'x',
    );
    at = end;
  }
  return result + text.slice(at);
};

const scalars: ReadonlySet<TokenKind> = new Set(['plain', 'quoted', 'block-scalar']);
const openers: ReadonlySet<TokenKind> = new Set([
  'block-sequence-start',
  'block-mapping-start',
  'flow-sequence-start',
  'flow-mapping-start',
]);
const closers: ReadonlySet<TokenKind> = new Set([
  'block-end',
  'flow-sequence-end',
  'flow-mapping-end',
]);
const nodeless: ReadonlySet<TokenKind> = new Set([
  'directive',
  'tag-directive',
  'document-start',
  'document-end',
  'stream-end',
  'tag',
]);

class Comparison {
  readonly #text: string;
  readonly #ranges: Ranges;
  readonly #refuse: (range: TaintRange) => never;

  constructor(text: string, ranges: Ranges, refuse: (range: TaintRange) => never) {
    this.#text = text;
    this.#ranges = ranges;
    this.#refuse = refuse;
  }

  compare(actual: Tokens, harmless: Tokens): undefined {
    let at = 0;
    for (const wanted of harmless.list) {
      const found = actual.list[at];
      if (!found) return this.#differs(actual.list.at(-1)?.end ?? 0);
      const node = this.#nodeAt(wanted);
      const next = node ? this.#afterNode(actual.list, at, node) : undefined;
      if (next !== undefined) {
        at = next;
        continue;
      }
      if (found.kind !== wanted.kind) return this.#differs(Math.min(found.start, wanted.start));
      this.#compareOne(found, wanted);
      at += 1;
    }
    if (at < actual.list.length || harmless.isBroken !== actual.isBroken)
      return this.#differs(actual.list[at]?.start ?? actual.list.at(-1)?.end ?? 0);
    return undefined;
  }

  #compareOne(found: Token, wanted: Token): undefined {
    const { kind, start, end } = found;
    // Tokens without length stand where the next one begins.
    if (start === end && wanted.start === wanted.end) return undefined;
    if (!this.#isSame(start, wanted.start)) return this.#differs(Math.min(start, wanted.start));
    if (!this.#isSame(end, wanted.end)) return this.#differs(Math.min(end, wanted.end));
    if (!scalars.has(kind)) {
      return isTouched(this.#ranges, start, end) ? this.#differs(start) : undefined;
    }
    if (kind === 'block-scalar') {
      const header = /^[^\r\n\x85\u2028\u2029]*/.exec(this.#text.slice(start, end))?.[0] ?? '';
      const opening = header.split('#', 1)[0] ?? '';
      if (isTouched(this.#ranges, start, start + opening.length)) this.#differs(start);
    }
    if (kind === 'quoted') this.#checkEscapes(start, end);
    return undefined;
  }

  /** A backslash of the host's must not change what the clean character behind it means. */
  #checkEscapes(start: number, end: number): void {
    if (this.#text[start] !== '"') return;
    for (const range of touching(this.#ranges, start, end)) {
      if (range.end >= end) continue;
      const part = this.#text.slice(Math.max(start, range.start), range.end);
      if ((part.length - withoutEnd(part, '\\').length) % 2 === 1) this.#refuse(range);
    }
  }

  /** Equal, or apart by nothing but tainted blanks and line ends. */
  #isSame(one: number, other: number): boolean {
    if (one === other) return true;
    const [from, to] = one < other ? [one, other] : [other, one];
    for (let at = from; at < to; at += 1)
      if (!/\s/.test(this.#text.charAt(at)) || !isTouched(this.#ranges, at, at + 1)) return false;
    return true;
  }

  /** The serialized value that a harmless word replaces whole. */
  #nodeAt({ kind, start, end }: Token): TaintRange | undefined {
    if (kind !== 'plain') return undefined;
    const range = this.#ranges[firstBehind(this.#ranges, start)];
    return range?.isNode === true && range.start === start && range.end === end ? range : undefined;
  }

  /** The number of the token after a node that lies in the range, where one does. */
  #afterNode(tokens: readonly Token[], first: number, range: TaintRange): number | undefined {
    const anchors = new Set<string>();
    let depth = 0;
    for (let at = first; at < tokens.length; at += 1) {
      const token = tokens[at];
      if (!token || nodeless.has(token.kind)) return undefined;
      const { kind, start, end, value } = token;
      if (kind !== 'block-end' && (start < range.start || end > range.end)) return undefined;
      if (kind === 'anchor') {
        anchors.add(value);
        continue;
      }
      if (kind === 'alias' && !anchors.has(value)) return undefined;
      if (openers.has(kind)) depth += 1;
      else if (closers.has(kind)) depth -= 1;
      else if (depth === 0 && kind !== 'alias' && !scalars.has(kind)) return undefined;
      if (depth === 0) return at + 1;
    }
    return undefined;
  }

  /** Names the tainted part that is to blame: the last one that begins before the difference. */
  #differs(offset: number): never {
    const before = this.#ranges.filter(({ start }) => start <= offset);
    return this.#refuse(before.at(-1) ?? this.#ranges[0]);
  }
}
