import type { TsaltError } from '../protocol/error.ts';
import { code } from './characters.ts';
import type { Source } from './fault.ts';

/** What libyaml was about when it found a fault, and where that begins. */
export type Context = { readonly doing: string; readonly since: number };

/**
 * A fault of the scanner. Salt tells of it by its sentence alone, which says little: the hint
 * says what is meant.
 */
export const scannerFault = (
  source: Source,
  problem: string,
  at: number,
  context?: Context,
): TsaltError =>
  source.fault('yaml-syntax', problem, at, scannerHint(source, problem, at, context));

const scannerHint = (
  source: Source,
  problem: string,
  at: number,
  context: Context | undefined,
): string | undefined => {
  const character = source.text.charAt(at);
  switch (problem) {
    case 'found character that cannot start any token':
      return source.text.charCodeAt(at) === code.tab
        ? 'Illegal tab character: YAML is indented with spaces only.'
        : `Quote text that starts with ${character}.`;
    case 'mapping values are not allowed in this context':
      return withoutColon(source, at) ?? 'Quote a value that contains a colon followed by a space.';
    case 'found unexpected end of stream':
      return `The quote opened on ${source.lineName(context?.since ?? at)} is never closed.`;
    case "could not find expected ':'":
      return `What begins on ${source.lineName(context?.since ?? at, true)} has to be a key with a colon, or be indented further.`;
    default:
      return (
        context && `It was found ${context.doing} that begins on ${source.lineName(context.since)}.`
      );
  }
};

/**
 * A colon ends its line, and the line before it, which is indented less, has none: it was to be
 * a key, and the text went on as if it were a value.
 */
const withoutColon = (source: Source, at: number): string | undefined => {
  const { text } = source;
  const end = text.indexOf('\n', at);
  if (text.slice(at, end < 0 ? text.length : end).trim() !== ':') return undefined;
  const start = text.lastIndexOf('\n', at) + 1;
  const above = text.slice(0, start).trimEnd();
  const first = above.lastIndexOf('\n') + 1;
  const line = above.slice(first);
  if (line.trim() === '' || indent(line) >= indent(text.slice(start, at))) return undefined;
  return `${capital(source.lineName(first))} needs a colon at its end: ${line.trim()}:`;
};

const indent = (line: string): number => line.length - line.trimStart().length;

const capital = (sentence: string): string => sentence.charAt(0).toUpperCase() + sentence.slice(1);

/** A fault of the parser, in PyYAML's words with the places it names. */
export const parserFault = (
  source: Source,
  problem: string,
  at: number,
  context?: Context,
): TsaltError => {
  if (!context)
    return source.fault('yaml-syntax', problem, at, undefined, source.saltText([problem, at]));
  const { doing, since } = context;
  const saltText = source.saltText([doing, since], [problem, at]);
  return source.fault(
    'yaml-syntax',
    problem,
    at,
    `It was found ${doing} that begins on ${source.lineName(since)}.`,
    saltText,
  );
};
