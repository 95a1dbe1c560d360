import { messageOf } from '../../protocol/error.ts';

/**
 * Converts a regular expression in Python's syntax to JavaScript: named groups `(?P<n>…)` and
 * `(?P=n)`, `\A`, `\Z`, inline flags at the start, comments, verbose mode, literal braces. Matches
 * code points; letters, digits and white space are those of Unicode or, with flag `a`, of ASCII.
 *
 * @param letters Python's flags from outside the pattern: any of `aimsx`.
 * @param jsFlags additional JavaScript flags: any of `gy`.
 * @throws SyntaxError with the reason, for malformed patterns and for the few constructs that
 *   JavaScript lacks (conditionals, flags for a part, atomic groups).
 */
export const pythonPattern = (pattern: string, letters = '', jsFlags = ''): RegExp => {
  const inline = /^\(\?([aiLmsux]+)\)/.exec(pattern);
  const flags = letters + (inline?.[1] ?? '');
  const source = translate(inline ? pattern.slice(inline[0].length) : pattern, flags);
  try {
    return new RegExp(source, `${jsFlags}u${flags.includes('i') ? 'i' : ''}`);
  } catch (error) {
    // "Invalid regular expression: /<the translated one>/u: Unterminated group"
    const message = messageOf(error);
    throw new SyntaxError(message.slice(message.lastIndexOf(': ') + 2).toLowerCase());
  }
};

const spaces =
  '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const word = '\\p{L}\\p{N}_';
const start = '(?<![\\s\\S])';
const end = '(?![\\s\\S])';

type Escapes = Readonly<Record<string, string>>;

const anywhere = { A: start, Z: end, a: '\\x07' };

const unicodeOutside: Escapes = {
  ...anywhere,
  b: `(?:(?<=[${word}])(?![${word}])|(?<![${word}])(?=[${word}]))`,
  B: `(?:(?<=[${word}])(?=[${word}])|(?<![${word}])(?![${word}]))`,
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  s: `[${spaces}]`,
  S: `[^${spaces}]`,
  w: `[${word}]`,
  W: `[^${word}]`,
};

const unicodeInside: Escapes = {
  a: '\\x07',
  b: '\\x08',
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  s: spaces,
  w: word,
};

// JavaScript's own `\b`, `\d` and `\w` are those of ASCII.
const asciiSpaces = '\\t-\\r\\x20';
const asciiOutside: Escapes = { ...anywhere, s: `[${asciiSpaces}]`, S: `[^${asciiSpaces}]` };
const asciiInside: Escapes = { a: '\\x07', b: '\\x08', s: asciiSpaces };

const outside = (flags: string): Escapes => (flags.includes('a') ? asciiOutside : unicodeOutside);
const inside = (flags: string): Escapes => (flags.includes('a') ? asciiInside : unicodeInside);

const verboseBlank = /[\s]|#[^\n]*/y;

const translate = (source: string, flags: string): string => {
  const isVerbose = flags.includes('x');
  let out = '';
  let at = 0;
  while (at < source.length) {
    verboseBlank.lastIndex = at;
    const blank = isVerbose ? verboseBlank.exec(source)?.[0].length : undefined;
    const [text, next] = blank === undefined ? part(source, at, flags) : ['', at + blank];
    out += text;
    at = next;
  }
  return out;
};

/** Translates one part of a pattern; returns it with the start of the next one. */
const part = (source: string, at: number, flags: string): [string, number] => {
  const char = source.charAt(at);
  const isMultiline = flags.includes('m');
  switch (char) {
    case '\\':
      return escaped(source, at, outside(flags));
    case '[':
      return charClass(source, at, inside(flags));
    case '(':
      return source.startsWith('(?', at) ? group(source, at) : [char, at + 1];
    case '^':
      return [isMultiline ? '(?<![^\\n])' : start, at + 1];
    case '$':
      return [isMultiline ? '(?![^\\n])' : `(?=\\n?${end})`, at + 1];
    case '.':
      return [flags.includes('s') ? '[\\s\\S]' : '[^\\n]', at + 1];
    case '{': {
      const quantifier = /^\{(\d*)(?:(,)(\d*))?\}/.exec(source.slice(at));
      if (!quantifier || !(quantifier[1] || quantifier[3])) return ['\\{', at + 1];
      const [whole, from, comma = '', to = ''] = quantifier;
      return [`{${from || '0'}${comma}${to}}`, at + whole.length];
    }
    case '}':
    case ']':
      return [`\\${char}`, at + 1];
    default:
      return [char, at + 1];
  }
};

const escaped = (source: string, at: number, table: Escapes): [string, number] => {
  const char = source.charAt(at + 1);
  if (char === '') throw new SyntaxError('it ends in a lone backslash');
  const own = Object.hasOwn(table, char) ? table[char] : undefined;
  if (own !== undefined) return [own, at + 2];
  const octal = /^\\(0[0-7]{0,2}|[1-3][0-7]{2})/.exec(source.slice(at));
  if (octal) return [hex(Number.parseInt(octal[1] ?? '', 8)), at + octal[0].length];
  const long = /^\\U([\da-fA-F]{8})/.exec(source.slice(at));
  if (long) return [`\\u{${long[1]}}`, at + long[0].length];
  if (/[A-Za-z0-9]/.test(char)) return [`\\${char}`, at + 2];
  const code = source.codePointAt(at + 1) ?? 0;
  return [code < 0x80 ? hex(code) : String.fromCodePoint(code), at + (code > 0xffff ? 3 : 2)];
};

const hex = (code: number): string => `\\x${code.toString(16).padStart(2, '0')}`;

const charClass = (source: string, begin: number, escapes: Escapes): [string, number] => {
  let at = begin + 1;
  let out = '[';
  if (source[at] === '^') {
    out += '^';
    at += 1;
  }
  for (let isFirst = true; ; isFirst = false) {
    const char = source[at];
    if (char === undefined) throw new SyntaxError(`the "[" at position ${begin} is never closed`);
    if (char === ']' && !isFirst) return [`${out}]`, at + 1];
    const isSet = /[dDsSwW]/.test(source.charAt(at + 1)) && char === '\\';
    const [text, next] =
      char === '\\'
        ? escaped(source, at, escapes)
        : [char === ']' || char === '[' ? `\\${char}` : char, at + 1];
    out += text;
    at = next;
    // `[\w-.]`: a hyphen after a set is not a range; in Unicode mode JavaScript would refuse it.
    if (isSet && source[at] === '-') {
      out += '\\-';
      at += 1;
    }
  }
};

const group = (source: string, at: number): [string, number] => {
  const rest = source.slice(at);
  const named = /^\(\?P<([A-Za-z_]\w*)>/.exec(rest);
  if (named) return [`(?<${named[1]}>`, at + named[0].length];
  const reference = /^\(\?P=([A-Za-z_]\w*)\)/.exec(rest);
  if (reference) return [`\\k<${reference[1]}>`, at + reference[0].length];
  const comment = /^\(\?#[^)]*\)/.exec(rest);
  if (comment) return ['', at + comment[0].length];
  const plain = /^\(\?(?::|=|!|<=|<!)/.exec(rest);
  if (plain) return [plain[0], at + plain[0].length];
  throw new SyntaxError(`"${rest.slice(0, 4)}" at position ${at} is not supported`);
};
