/**
 * Matches shell globs as Python's `fnmatch` does: `*`, `?`, `[seq]`, `[!seq]`; case-sensitive,
 * slashes and dots are ordinary characters, and only a class can escape (`[*]`).
 */
export const fnmatch = (name: string, pattern: string): boolean => globTest(pattern)(name);

export const fnmatchFilter = (names: Iterable<string>, pattern: string): string[] =>
  [...names].filter(globTest(pattern));

/** True when the text has a glob's special characters: otherwise it matches only itself. */
export const isGlob = (text: string): boolean => /[*?[]/.test(text);

/** Limit of a pattern's length; V8 refuses regular expressions that are much longer. */
const longest = 10_000;

type Test = (name: string) => boolean;

const cache = new Map<string, Test>();
const cacheSize = 2000;

/** Compiles `fnmatch` for one pattern and many names. */
export const globTest = (pattern: string): Test => {
  const known = cache.get(pattern);
  if (known) return known;
  if (cache.size >= cacheSize) cache.clear();
  const made = compile(translate(pattern));
  cache.set(pattern, made);
  return made;
};

/**
 * Searches the parts between the stars from left to right, each at its first occurrence. A regular
 * expression would backtrack over all combinations, for hours if a host supplied the text.
 */
const compile = (parts: readonly (readonly string[])[]): Test => {
  const [head = [], ...others] = parts;
  const tail = others.pop();
  if (tail === undefined) {
    const whole = new RegExp(`^${head.join('')}$`, 'su');
    return name => whole.test(name);
  }
  const first = new RegExp(head.join(''), 'ysu');
  const between = others.map(part => new RegExp(part.join(''), 'gsu'));
  const last = new RegExp(tail.join(''), 'ysu');
  return name => {
    let at = 0;
    for (const part of [first, ...between]) {
      part.lastIndex = at;
      if (!part.test(name)) return false;
      at = part.lastIndex;
    }
    last.lastIndex = beforeLast(name, tail.length);
    return last.lastIndex >= at && last.test(name);
  };
};

/** Returns where the last `count` characters begin; -1 if there are fewer. */
const beforeLast = (name: string, count: number): number => {
  let at = name.length;
  for (let left = count; left > 0; left -= 1) {
    if (at === 0) return -1;
    at -= /[\ud800-\udbff][\udc00-\udfff]/.test(name.slice(Math.max(0, at - 2), at)) ? 2 : 1;
  }
  return at;
};

const literal = (char: string): string => (/[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char);

/** Splits at the stars; each part is a list of expressions for one character. */
const translate = (pattern: string): string[][] => {
  if (pattern.length > longest)
    throw new TypeError(`a glob of ${pattern.length} characters is too long`);
  const chars = [...pattern];
  const lastEnd = chars.lastIndexOf(']');
  let part: string[] = [];
  const parts = [part];
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] as string;
    if (char === '*') {
      part = [];
      parts.push(part);
    } else if (char === '?') part.push('.');
    else if (char === '[') {
      const end = at < lastEnd ? classEnd(chars, at + 1) : -1;
      if (end === -1) part.push('\\[');
      else {
        part.push(charClass(chars.slice(at + 1, end)));
        at = end;
      }
    } else part.push(literal(char));
  }
  return parts;
};

/** A `]` at the beginning, also after `!`, belongs to the class. */
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
      // A reversed range is empty.
      if ((from.codePointAt(0) as number) <= (to.codePointAt(0) as number))
        parts.push(`${member(from)}-${member(to)}`);
      at += 2;
    } else parts.push(member(from));
  }
  if (parts.length === 0) return negated ? '.' : '(?!)';
  return `[${negated ? '^' : ''}${parts.join('')}]`;
};

const member = (char: string): string => (/[\\\]^[-]/.test(char) ? `\\${char}` : char);
