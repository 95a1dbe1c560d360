import { DOTALL, pythonRegex } from '../_shared/text/python-regex.ts';
import { CommandExecutionError } from '../api.ts';

export type LineOptions = {
  readonly content?: string | null;
  readonly match?: string | null;
  readonly mode: string;
  readonly location?: string | null;
  readonly before?: string | null;
  readonly after?: string | null;
  readonly indent?: boolean;
};

/**
 * Applies `file.line` to lines, which include their line ends. Throws if a pattern that marks the
 * position does not match exactly one line.
 */
export const placedLines = (lines: readonly string[], options: LineOptions): string[] => {
  const { content = null, before = null, after = null, mode } = options;
  const match = !options.match && before === null && after === null ? content : options.match;
  const find = (pattern: string | null | undefined): string[] =>
    pattern ? lines.filter(line => line.includes(pattern) || matches(line, pattern)) : [];
  for (const pattern of [after, before, match]) if (pattern) pythonRegex(pattern, DOTALL);
  const places: Places = { before: find(before), after: find(after) };
  if (mode === 'delete') return lines.filter(line => line !== find(match)[0]);
  const text = content ?? '';
  if (mode === 'replace') return replaceLine(lines, find(match)[0], text, options);
  return mode === 'insert'
    ? insertLine(lines, text, places, options)
    : ensureLine(lines, text, places, options);
};

type Places = { readonly before: string[]; readonly after: string[] };

const matches = (line: string, pattern: string): boolean => pythonRegex(pattern, DOTALL).test(line);

const replaceLine = (
  lines: readonly string[],
  old: string | undefined,
  content: string,
  { indent = true }: LineOptions,
): string[] => {
  if (old === undefined) return [...lines];
  const at = lines.indexOf(old);
  return lines.with(at, like(old, content, indent));
};

const insertLine = (
  lines: readonly string[],
  content: string,
  places: Places,
  { location, before, after, indent = true }: LineOptions,
): string[] => {
  if (!before && !after && !location)
    throw new CommandExecutionError(
      'On insert either "location" or "before/after" conditions are required.',
    );
  if (location === 'end')
    return isSame(lines.at(-1), content)
      ? [...lines]
      : insertAt(lines, lines.length, content, lines.at(-1), indent);
  if (location === 'start')
    return isSame(lines[0], content) ? [...lines] : insertAt(lines, 0, content, lines[0], false);
  if (location)
    throw new CommandExecutionError(`Location "${location}" is not known; use "start" or "end"`);
  if (places.before.length + places.after.length === 0)
    throw new CommandExecutionError('Neither before or after was found in file');
  if (before && after) {
    only(places.before, 'before');
    only(places.after, 'after');
  }
  const at = before
    ? lines.indexOf(only(places.before, 'before'))
    : lines.indexOf(only(places.after, 'after')) + 1;
  const neighbour = before ? lines[at - 1] : lines[at];
  if (isSame(neighbour, content)) return [...lines];
  return insertAt(lines, at, content, before ? lines[at] : lines[at - 1], indent);
};

const nowhereToPut =
  'Wrong conditions? Unable to ensure line without knowing where to put it before and/or after.';

const ensureLine = (
  lines: readonly string[],
  content: string,
  places: Places,
  { before, after, indent = true }: LineOptions,
): string[] => {
  if (places.before.length + places.after.length === 0)
    throw new CommandExecutionError(nowhereToPut);
  if (before && after) return ensureBetween(lines, content, places, indent);
  if (before) {
    const at = lines.indexOf(only(places.before, 'before'));
    if (isSame(lines[at - 1], content)) return [...lines];
    return insertAt(lines, at, content, lines[at - 1] ?? lines[at], indent);
  }
  const at = lines.indexOf(only(places.after, 'after'));
  if (isSame(lines[at + 1], content)) return [...lines];
  return insertAt(lines, at + 1, content, lines[at], indent);
};

const ensureBetween = (
  lines: readonly string[],
  content: string,
  places: Places,
  indent: boolean,
): string[] => {
  const start = lines.indexOf(only(places.after, 'after'));
  const end = lines.indexOf(only(places.before, 'before'));
  if (lines.some(line => withoutEnd(line).trimStart() === content)) return [...lines];
  if (end === start + 1) return insertAt(lines, end, content, lines[start], indent);
  if (end === start + 2) return lines.with(start + 1, like(lines[start] ?? '', content, indent));
  throw new CommandExecutionError(
    'Found more than one line between boundaries "before" and "after".',
  );
};

const only = (found: string[], what: string): string => {
  const [line] = found;
  if (line !== undefined && found.length === 1) return line;
  const amount = found.length > 1 ? 'more than' : 'less than';
  throw new CommandExecutionError(`Found ${amount} expected occurrences in "${what}" expression`);
};

const insertAt = (
  lines: readonly string[],
  at: number,
  content: string,
  model: string | undefined,
  indent: boolean,
): string[] => {
  const ended = at === lines.length && at > 0 ? lines.with(-1, closed(lines.at(-1) ?? '')) : lines;
  return ended.toSpliced(at, 0, like(model ?? '', content, indent));
};

/** Returns the content with the indent and the line end of another line. */
const like = (model: string, content: string, indent: boolean): string => {
  const lead = indent ? (model.match(/^[ \t]*/)?.[0] ?? '') : '';
  const text = indent && lead ? lead + content.trimStart() : content;
  return /[\r\n]$/.test(text) ? text : text.trimEnd() + endOf(model);
};

const closed = (line: string): string => (/[\r\n]$/.test(line) ? line : `${line}\n`);
const endOf = (line: string): string => line.match(/\r\n$|\n$|\r$/)?.[0] ?? '\n';
const withoutEnd = (line: string): string => line.replace(/[\r\n]+$/, '');
const isSame = (line: string | undefined, content: string): boolean =>
  line !== undefined && withoutEnd(line).trimStart() === withoutEnd(content).trimStart();
