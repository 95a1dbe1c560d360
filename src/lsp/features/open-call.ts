import { saltCall } from './word-at.ts';

/** The call of a function that a text ends in, and the argument that is being written. */
export type OpenCall = {
  /** `cmd.run` */
  readonly name: string;
  /** The number of the argument, from 0. */
  readonly index: number;
  /** The name before its `=` or, in Liquid, `:`. */
  readonly keyword?: string;
};

/**
 * Finds the innermost call of a module's function that an expression of a template ends in:
 * `salt['cmd.run'](` in Jinja; `'cmd.run' | salt: ` and `{% salt x = cmd.run ` in Liquid.
 *
 * @param before the template's part from its `{{` or `{%` to the cursor
 */
export const openCall = (before: string): OpenCall | undefined => {
  const text = before.replace(/^\{[{%][-+]?/, '');
  for (const { open, start, commas } of openGroups(text).reverse()) {
    const name = open === '(' ? named(jinjaCall.exec(text.slice(0, start))) : undefined;
    if (name !== undefined)
      return callOf(name, text.slice(start), commas, start, /^\s*(\w+)\s*=(?!=)/);
  }
  const liquid = liquidCall.exec(text);
  const name = named(liquid);
  if (!liquid || name === undefined) return undefined;
  const rest = `(${text.slice(liquid[0].length)}`;
  const [args] = openGroups(rest);
  // Another filter gets the result, not these arguments.
  return args?.start === 0 && !args.hasFilter
    ? callOf(name, rest, args.commas, 0, /^\s*(\w+)\s*:/)
    : undefined;
};

const jinjaCall = new RegExp(`${saltCall.source}\\s*$`);
const liquidCall = /^\s*salt\s+(?:\w+\s*=\s*)?([\w.]+)\s|^.*['"]([\w.]+)['"]\s*\|\s*salt\s*:/s;

const named = (match: RegExpExecArray | null): string | undefined =>
  match?.slice(1).find(group => group !== undefined);

/** @param args the text from the bracket on, which is at `start` */
const callOf = (
  name: string,
  args: string,
  commas: readonly number[],
  start: number,
  pattern: RegExp,
): OpenCall => {
  const last = args.slice((commas.at(-1) ?? start) - start + 1);
  const keyword = pattern.exec(last)?.[1];
  return { name, index: commas.length, ...(keyword === undefined ? {} : { keyword }) };
};

type Group = { open: string; start: number; commas: number[]; hasFilter: boolean };

const tokens = /'(?:\\.|[^'\\])*(?:'|$)|"(?:\\.|[^"\\])*(?:"|$)|[()[\]{},|]/gs;

/** The brackets that a text leaves open, outermost first, with what is directly in them. */
const openGroups = (text: string): Group[] => {
  const groups: Group[] = [];
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const group = groups.at(-1);
    if (/^[([{]$/.test(token))
      groups.push({ open: token, start: index, commas: [], hasFilter: false });
    else if (/^[)\]}]$/.test(token)) groups.pop();
    else if (token === ',') group?.commas.push(index);
    else if (token === '|' && group) group.hasFilter = true;
  }
  return groups;
};
