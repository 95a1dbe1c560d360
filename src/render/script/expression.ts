import { scriptSyntaxError } from './program.ts';

const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * Returns the end of the JavaScript expression that starts at `from`: the first `end` outside of
 * quotes and brackets.
 */
export const expressionEnd = (source: string, from: number, end: string, line: number): number => {
  const open: string[] = [];
  for (let at = from; at < source.length; at += 1) {
    const char = source.charAt(at);
    if (open.length === 0 && source.startsWith(end, at)) return at;
    if (char === '"' || char === "'" || char === '`') {
      at = stringEnd(source, at);
      if (at < 0) break;
    } else if (char in closers) open.push(closers[char] ?? '');
    else if (char === open.at(-1)) open.pop();
  }
  throw scriptSyntaxError(`an expression is not closed: ${end} is missing`, line);
};

const stringEnd = (source: string, start: number): number => {
  const quote = source.charAt(start);
  for (let at = start + 1; at < source.length; at += 1) {
    if (source.charAt(at) === '\\') at += 1;
    else if (source.charAt(at) === quote) return at;
  }
  return -1;
};

/** Splits `value | h, trim` into expression and filters; `||` belongs to the expression. */
export const splitFilters = (text: string): [expression: string, filters: string[]] => {
  const [, expression, filters] =
    /^([\s\S]*[^|])\|(?!\|)\s*([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s*$/.exec(text) ?? [];
  return expression === undefined || filters === undefined
    ? [text, []]
    : [expression, filters.split(',').map(filter => filter.trim())];
};
