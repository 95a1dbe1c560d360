const special = /[*?[]/;

export const isGlob = (pattern: string): boolean => special.test(pattern);

/** Python's `fnmatch`: `*`, `?`, `[seq]`, `[!seq]`, anchored, case-sensitive, no escapes. */
export const globMatches = (pattern: string): ((text: string) => boolean) => {
  if (!isGlob(pattern)) return text => text === pattern;
  const regex = new RegExp(`^(?:${translate(pattern)})$`, 'su');
  return text => regex.test(text);
};

const translate = (pattern: string): string => {
  let out = '';
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] ?? '';
    if (char === '*') {
      while (pattern[at + 1] === '*') at++;
      out += '.*';
    } else if (char === '?') out += '.';
    else if (char === '[') {
      const end = closing(pattern, at);
      if (end < 0) out += '\\[';
      else {
        out += charClass(pattern.slice(at + 1, end));
        at = end;
      }
    } else out += escapeRegex(char);
  }
  return out;
};

const closing = (pattern: string, open: number): number => {
  let at = open + 1;
  if (pattern[at] === '!') at++;
  if (pattern[at] === ']') at++;
  return pattern.indexOf(']', at);
};

const charClass = (body: string): string => {
  const negated = body.startsWith('!');
  const items = negated ? body.slice(1) : body;
  let out = '';
  for (let at = 0; at < items.length; at++) {
    const from = items[at] ?? '';
    const to = items[at + 2];
    if (items[at + 1] === '-' && to !== undefined) {
      if (from <= to) out += `${escapeClass(from)}-${escapeClass(to)}`;
      at += 2;
    } else out += escapeClass(from);
  }
  if (out === '') return negated ? '.' : '(?!)';
  return `[${negated ? '^' : ''}${out}]`;
};

const escapeRegex = (char: string): string => char.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
const escapeClass = (char: string): string => char.replace(/[\\\]^[-]/g, '\\$&');
