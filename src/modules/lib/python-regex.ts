import { CommandExecutionError } from '../api.ts';

/** Python's `re` flags by their numbers, names and letters. */
const flagBits: Readonly<Record<string, number>> = {
  IGNORECASE: 2,
  I: 2,
  LOCALE: 4,
  L: 4,
  MULTILINE: 8,
  M: 8,
  DOTALL: 16,
  S: 16,
  UNICODE: 32,
  U: 32,
  VERBOSE: 64,
  X: 64,
  ASCII: 256,
  A: 256,
};

export const MULTILINE = 8;
export const DOTALL = 16;

/** Flags as SLS gives them: a number, a name, or a list of names. Throws for an unknown name. */
export const regexFlags = (flags: unknown): number => {
  if (typeof flags === 'number') return flags;
  const names = typeof flags === 'string' ? [flags] : flags;
  if (!Array.isArray(names))
    throw new CommandExecutionError(
      `Invalid re flags: "${String(flags)}", must be given either as a single flag string, a list of strings, as an integer, or as an re flag`,
    );
  return names.reduce((bits: number, name: unknown) => {
    const key = String(name).toUpperCase();
    if (!Object.hasOwn(flagBits, key))
      throw new CommandExecutionError(`Invalid re flag given: ${String(name)}`);
    return bits | (flagBits[key] ?? 0);
  }, 0);
};

/**
 * A Python regular expression as JavaScript's. Throws `CommandExecutionError` for a pattern
 * that is broken or that JavaScript cannot express.
 */
export const pythonRegex = (pattern: string, flags = 0, extra = ''): RegExp => {
  const { source, bits } = leadingFlags(pattern, flags);
  const js = translate(source, bits);
  const jsFlags = `${extra}u${bits & 2 ? 'i' : ''}`;
  try {
    return new RegExp(js, jsFlags);
  } catch {
    try {
      return new RegExp(js, jsFlags.replace('u', ''));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CommandExecutionError(`Invalid regular expression "${pattern}": ${reason}`);
    }
  }
};

/** A replacement text of Python's `re.sub` as a function for `String.replace`. */
export const pythonReplacement = (repl: string): ((...match: unknown[]) => string) => {
  const parts = repl.match(/\\g<[^>]+>|\\[1-9]\d?|\\[\s\S]|[^\\]+|\\$/g) ?? [];
  return (...match) => {
    const named = match.at(-1);
    const groups =
      typeof named === 'object' && named !== null ? (named as Record<string, string>) : {};
    return parts.map(part => expand(part, match, groups)).join('');
  };
};

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  '0': '\0',
};

const expand = (part: string, match: unknown[], groups: Record<string, string>): string => {
  const name = part.match(/^\\g<(.+)>$/)?.[1] ?? part.match(/^\\([1-9]\d?)$/)?.[1];
  if (name !== undefined)
    return String((/^\d+$/.test(name) ? match[Number(name)] : groups[name]) ?? '');
  if (part.length === 2 && part.startsWith('\\')) return escapes[part.slice(1)] ?? part;
  return part;
};

/** `re.escape`. */
export const escapeRegex = (text: string): string =>
  text.replace(/[\\^$.|?*+()[\]{}\-#&~\s]/g, '\\$&');

const letters: Readonly<Record<string, number>> = { i: 2, m: 8, s: 16, x: 64, a: 256, u: 32, L: 4 };

const leadingFlags = (pattern: string, flags: number): { source: string; bits: number } => {
  const found = pattern.match(/^\(\?([aiLmsux]+)\)/);
  if (!found) return { source: pattern, bits: flags };
  const bits = [...(found[1] ?? '')].reduce((sum, letter) => sum | (letters[letter] ?? 0), flags);
  return { source: pattern.slice(found[0].length), bits };
};

/** One token at a time: an escape, a class, a group's start, or a single character. */
const token =
  /\\[\s\S]|\{\d+(?:,\d*)?\}|\{,\d+\}|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|\(\?P<|\(\?P=\w+\)|\(\?#[^)]*\)|[\s\S]/g;

const translate = (pattern: string, bits: number): string =>
  pattern.replace(token, part => translateToken(part, bits));

const translateToken = (part: string, bits: number): string => {
  const multiline = (bits & 8) !== 0;
  if (part === '^') return multiline ? '(?<=\\n|(?<![\\s\\S]))' : '(?<![\\s\\S])';
  if (part === '$') return multiline ? '(?=\\n|(?![\\s\\S]))' : '(?=\\n?(?![\\s\\S]))';
  if (part === '.') return bits & 16 ? '[\\s\\S]' : '[^\\n]';
  if (/^\{.+\}$/.test(part)) return part.replace('{,', '{0,');
  if (part === '\\A') return '(?<![\\s\\S])';
  if (part === '\\Z') return '(?![\\s\\S])';
  if (part === '(?P<') return '(?<';
  if (part.startsWith('(?P=')) return `\\k<${part.slice(4, -1)}>`;
  if (part.startsWith('(?#')) return '';
  if (part.startsWith('[')) return translateClass(part);
  if (bits & 64 && /^\s$/.test(part)) return '';
  if (/^\\[^\w\s]$/.test(part)) return escapeOnly(part.slice(1));
  if (/^\\\s$/.test(part)) return part.slice(1);
  return part === '\\a'
    ? '\\x07'
    : part === ']' || part === '{' || part === '}'
      ? `\\${part}`
      : part;
};

/** Unicode mode refuses needless escapes, which Python allows. */
const escapeOnly = (character: string): string =>
  /[\\^$.|?*+()[\]{}/]/.test(character) ? `\\${character}` : character;

const translateClass = (part: string): string => {
  const negated = part.startsWith('[^');
  const inner = part.slice(negated ? 2 : 1, -1);
  const body = inner.replace(/\\[\s\S]|[\s\S]/g, item => {
    if (item === '[' || item === ']') return `\\${item}`;
    if (/^\\[^\w]$/.test(item))
      return /[\\\]^-]/.test(item.slice(1)) ? item : escapeOnly(item.slice(1));
    return item;
  });
  return `[${negated ? '^' : ''}${body}]`;
};
