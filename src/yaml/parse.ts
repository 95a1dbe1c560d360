import { type Event, parseEvents, YAMLException } from 'js-yaml';
import type { TsaltError } from '../protocol/error.ts';
import type { Source } from './fault.ts';

/** Nobody writes this deep by hand; it keeps the parser's recursion and its time in bounds. */
const maxDepth = 100;

const unprintable = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** The text's events. Throws `yaml-syntax` with libyaml's wording where there is one. */
export const parse = (source: Source): Event[] => {
  const { text } = source;
  const bad = unprintable.exec(text);
  if (bad) {
    const code = (bad[0].codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    throw source.fault(
      'yaml-character',
      `unacceptable character #x${code}: control characters are not allowed`,
      source.position(bad.index),
      'Write it as an escape in a double-quoted string, or remove it.',
    );
  }
  for (let work = text.length; ; work += source.text.length) {
    try {
      return parseEvents(source.text, { maxDepth });
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error;
      if (error.reason !== 'deficient indentation' || work > maxWork)
        throw syntaxFault(source, error);
      const offset = error.mark?.position ?? 0;
      if (!source.untab(offset)) source.indent(offset, indentation(source.text) + 1);
    }
  }
};

/**
 * libyaml lets quoted text and brackets go on at any column, the parser here wants them
 * indented: such lines are, one by one, within this many characters of work.
 */
const maxWork = 50_000_000;

const indentation = (text: string): number => {
  let longest = 0;
  for (const [spaces] of text.matchAll(/^ +/gm)) longest = Math.max(longest, spaces.length);
  return longest;
};

const syntaxFault = (source: Source, { reason, mark }: YAMLException): TsaltError => {
  const offset = Math.min(mark?.position ?? 0, source.text.length);
  const [message, hint] = reword(reason, source.text, offset);
  return source.fault('yaml-syntax', message, source.position(offset), hint);
};

const reword = (reason: string, text: string, offset: number): [string, string?] => {
  const next = text.charAt(offset);
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1).split('\n', 1)[0] ?? '';
  if (reason.startsWith('nesting exceeded') || /depth/.test(reason))
    return [
      `the document nests deeper than ${maxDepth} levels`,
      'Split it, or check its brackets.',
    ];
  if (/tab char/.test(reason) || (next === '\t' && /^\s*\t/.test(line)) || /^ *\t/.test(line))
    return [
      'found character that cannot start any token',
      'Illegal tab character: YAML is indented with spaces only.',
    ];
  if (next === '@' || next === '`' || next === '%')
    return ['found character that cannot start any token', `Quote text that starts with ${next}.`];
  if (/unexpected end of the stream within a (?:single|double) quoted/.test(reason))
    return ['found unexpected end of stream', 'A quote is opened and never closed.'];
  if (next === ':' || (reason === 'bad indentation of a mapping entry' && /:\s.*:\s/.test(line)))
    return [
      'mapping values are not allowed in this context',
      'Quote a value that contains a colon followed by a space.',
    ];
  if (/missed comma|unexpected end of the stream within a flow/.test(reason))
    return ["did not find expected ',' or ']' or '}'", `${sentence(reason)}.`];
  if (/bad indentation|end of the stream or a document separator/.test(reason))
    return ['did not find expected key', `${sentence(reason)}.`];
  return [reason];
};

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
