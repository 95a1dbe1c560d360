import { pyItem, pyTypeAt } from '../_shared/text/python-text.ts';

export type KeyValueArguments = {
  readonly values: Readonly<Record<string, unknown>>;
  readonly separator: string;
  readonly count: number;
  readonly append: boolean;
  readonly prepend: boolean;
  /** Characters that comment a line out; null: white space, so that an indented key matches too. */
  readonly uncomment: string | null;
  readonly keyIgnoreCase: boolean;
  readonly valueIgnoreCase: boolean;
};

export type KeyValueResult = {
  readonly lines: string[];
  readonly diff: string[];
  readonly changes: number;
};

/** Applies `file.keyvalue` to the lines of a file; returns the lines and Salt's special kind of diff. */
export const setKeyValues = (
  lines: readonly string[],
  options: KeyValueArguments,
): KeyValueResult => {
  const left = new Map(Object.keys(options.values).map(key => [key, options.count]));
  const diff: string[] = [];
  const result: string[] = [];
  let changes = 0;
  for (const line of lines) {
    const { edited, type = 'str' } = editLine(line, options, left);
    if (edited !== line) {
      changes++;
      diff.push(`- ${line}`);
      if (edited !== '')
        diff.push(type === 'str' ? `+ ${edited}` : `+ ${edited.trimEnd()} (from ${type} type)\n`);
    }
    result.push(edited);
  }
  const missing = Object.keys(options.values).filter(key => (left.get(key) ?? 0) > 0);
  const additions = missing.map(
    key => `${key}${options.separator}${pyItem(options.values, key)}\n`,
  );
  if (additions.length === 0 || !(options.append || options.prepend))
    return { lines: result, diff, changes };
  const shown = additions.map(line => `+ ${line}`);
  const last = result.at(-1);
  const closed = last && !last.endsWith('\n') ? result.with(-1, `${last}\n`) : result;
  return options.append
    ? {
        lines: [...closed, ...additions],
        diff: [...diff, '- <EOF>\n', ...shown, '+ <EOF>\n'],
        changes: changes + additions.length,
      }
    : {
        lines: [...additions.toReversed(), ...result],
        diff: ['  <SOF>\n', ...shown.toReversed(), ...diff],
        changes: changes + additions.length,
      };
};

/** The edited line, and the Python type of the value it got. */
type Edited = { readonly edited: string; readonly type?: string };

const editLine = (line: string, options: KeyValueArguments, left: Map<string, number>): Edited => {
  const { values, separator, uncomment, keyIgnoreCase, valueIgnoreCase } = options;
  const bare = uncomment === null ? line.trimStart() : stripLead(line, uncomment);
  const wasComment = bare.length < line.length;
  const working = wasComment ? bare : line;
  const at = working.indexOf(separator);
  if (at < 0) return { edited: line };
  const fold = (text: string, ignore: boolean): string => (ignore ? text.toLowerCase() : text);
  const lineKey = working.slice(0, at);
  const key = Object.keys(values).find(
    name => fold(name, keyIgnoreCase) === fold(lineKey, keyIgnoreCase),
  );
  if (key === undefined) return { edited: line };
  const remaining = left.get(key) ?? 0;
  const same =
    fold(working.slice(at + separator.length).trim(), valueIgnoreCase) ===
    fold(pyItem(values, key).trim(), valueIgnoreCase);
  if (wasComment && remaining === 0) return { edited: line };
  if (remaining > 0) left.set(key, remaining - 1);
  if (same && !wasComment && remaining !== 0) return { edited: line };
  return remaining === 0
    ? { edited: '' }
    : { edited: `${lineKey}${separator}${pyItem(values, key)}\n`, type: pyTypeAt(values, key) };
};

const stripLead = (line: string, characters: string): string => {
  let at = 0;
  while (at < line.length && characters.includes(line[at] ?? '')) at++;
  return line.slice(at);
};
