import { TsaltError } from '../protocol/error.ts';

/**
 * A regular expression in Python's syntax as a JavaScript one: named groups `(?P<n>…)` and
 * `(?P=n)`, `\A`, `\Z`, inline flags at the start, comments, verbose mode, literal braces.
 *
 * @throws TsaltError `bad-regex` with what is wrong, for what neither side understands and for
 *   the few constructs JavaScript lacks (conditionals, flags for a part, atomic groups).
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
  return regExp.test(text);
};

const cache = new Map<string, RegExp>();

const compile = (source: string): RegExp => {
  const { flags, rest } = inlineFlags(source);
  try {
    // Sticky at index 0 is what `re.match` means by "at the start".
    return new RegExp(translate(rest, flags), `yu${jsFlags(flags)}`);
  } catch (error) {
    if (error instanceof TsaltError) throw error;
    throw bad(source, reason(error));
  }
};

const reason = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return message.slice(message.lastIndexOf(': ') + 2).toLowerCase();
};

const bad = (source: string, why: string): TsaltError =>
  new TsaltError('bad-regex', `Regular expression ${JSON.stringify(source)} is not valid: ${why}`, {
    hint: 'Regular expressions are written as in Python: parentheses and brackets in pairs, a literal dot as \\.',
  });

const inlineFlags = (source: string): { flags: string; rest: string } => {
  const found = /^\(\?([aiLmsux]+)\)/.exec(source);
  return found
    ? { flags: found[1] as string, rest: source.slice(found[0].length) }
    : { flags: '', rest: source };
};

const jsFlags = (flags: string): string => [...'ims'].filter(flag => flags.includes(flag)).join('');

const escapesOutside: Record<string, string> = {
  A: '(?<![\\s\\S])',
  Z: '(?![\\s\\S])',
  a: '\\x07',
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  w: '[\\p{L}\\p{N}_]',
  W: '[^\\p{L}\\p{N}_]',
};
const escapesInside: Record<string, string> = {
  a: '\\x07',
  b: '\\x08',
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  w: '\\p{L}\\p{N}_',
};

const translate = (source: string, flags: string): string => {
  const verbose = flags.includes('x');
  let out = '';
  let at = 0;
  while (at < source.length) {
    const char = source[at] as string;
    if (char === '\\') {
      out += escaped(source, at, escapesOutside);
      at += 2;
    } else if (char === '[') {
      const [text, end] = charClass(source, at);
      out += text;
      at = end;
    } else if (source.startsWith('(?', at)) {
      const [text, end] = group(source, at);
      out += text;
      at = end;
    } else if (char === '$') {
      out += flags.includes('m') ? '$' : '(?=\\n?(?![\\s\\S]))';
      at += 1;
    } else if (char === '{') {
      const quantifier = /^\{(\d*)(,?)(\d*)\}/.exec(source.slice(at));
      if (quantifier && (quantifier[1] || quantifier[3])) {
        out += `{${quantifier[1] || '0'}${quantifier[2]}${quantifier[3]}}`;
        at += quantifier[0].length;
      } else {
        out += '\\{';
        at += 1;
      }
    } else if (char === '}' || char === ']') {
      out += `\\${char}`;
      at += 1;
    } else if (verbose && /\s/.test(char)) at += 1;
    else if (verbose && char === '#') {
      const end = source.indexOf('\n', at);
      at = end === -1 ? source.length : end + 1;
    } else {
      out += char;
      at += 1;
    }
  }
  return out;
};

const escaped = (source: string, at: number, table: Record<string, string>): string => {
  const char = source[at + 1];
  if (char === undefined) throw bad(source, 'it ends in a lone backslash');
  const own = Object.hasOwn(table, char) ? table[char] : undefined;
  if (own !== undefined) return own;
  return /[A-Za-z0-9]/.test(char) ? `\\${char}` : quoted(char);
};

const quoted = (char: string): string =>
  char.charCodeAt(0) < 0x80 ? `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}` : char;

const charClass = (source: string, start: number): [string, number] => {
  let at = start + 1;
  let out = '[';
  if (source[at] === '^') {
    out += '^';
    at += 1;
  }
  for (let first = true; ; first = false) {
    const char = source[at];
    if (char === undefined) throw bad(source, `the "[" at position ${start} is never closed`);
    if (char === ']' && !first) return [`${out}]`, at + 1];
    if (char === '\\') {
      out += escaped(source, at, escapesInside);
      at += 2;
    } else {
      out += char === ']' || char === '[' ? `\\${char}` : char;
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
  throw bad(source, `"${rest.slice(0, 4)}" at position ${at} is not supported`);
};
