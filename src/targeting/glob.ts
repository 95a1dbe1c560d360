/**
 * Shell globs as Python's `fnmatch` reads them: `*`, `?`, `[seq]`, `[!seq]`; case matters,
 * a slash or dot is a character like any other, there is no escape but a class (`[*]`).
 */
export const fnmatch = (name: string, pattern: string): boolean => globRegExp(pattern).test(name);

export const fnmatchFilter = (names: Iterable<string>, pattern: string): string[] => {
  const regExp = globRegExp(pattern);
  return [...names].filter(name => regExp.test(name));
};

/** True when the text has a glob's special characters: otherwise it matches only itself. */
export const isGlob = (text: string): boolean => /[*?[]/.test(text);

const cache = new Map<string, RegExp>();
const cacheSize = 2000;

const globRegExp = (pattern: string): RegExp => {
  const known = cache.get(pattern);
  if (known) return known;
  if (cache.size >= cacheSize) cache.clear();
  const made = new RegExp(`^${translate(pattern)}$`, 'su');
  cache.set(pattern, made);
  return made;
};

const literal = (char: string): string => (/[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char);

const translate = (pattern: string): string => {
  const chars = [...pattern];
  let out = '';
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] as string;
    if (char === '*') {
      if (!out.endsWith('.*')) out += '.*';
    } else if (char === '?') out += '.';
    else if (char === '[') {
      const end = classEnd(chars, at + 1);
      if (end === -1) out += '\\[';
      else {
        out += charClass(chars.slice(at + 1, end));
        at = end;
      }
    } else out += literal(char);
  }
  return out;
};

/** A `]` that comes first, also after `!`, belongs to the class. */
const classEnd = (chars: readonly string[], start: number): number => {
  let from = chars[start] === '!' ? start + 1 : start;
  if (chars[from] === ']') from += 1;
  return chars.indexOf(']', from);
};

const charClass = (body: readonly string[]): string => {
  const negated = body[0] === '!';
  const members = negated ? body.slice(1) : body;
  const parts: string[] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = members[at] as string;
    const to = members[at + 2];
    if (members[at + 1] === '-' && to !== undefined) {
      // A range that runs backwards holds nothing.
      if ((from.codePointAt(0) as number) <= (to.codePointAt(0) as number))
        parts.push(`${member(from)}-${member(to)}`);
      at += 2;
    } else parts.push(member(from));
  }
  if (parts.length === 0) return negated ? '.' : '(?!)';
  return `[${negated ? '^' : ''}${parts.join('')}]`;
};

const member = (char: string): string => (/[\\\]^[-]/.test(char) ? `\\${char}` : char);
