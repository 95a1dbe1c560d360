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
      const events = parseEvents(source.text, { maxDepth });
      if (!splitNames(source, events)) return events;
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error;
      const offset = error.mark?.position ?? 0;
      if (work > maxWork) throw syntaxFault(source, error);
      if (splitNames(source, eventsBefore(source.text, offset)) || splitLine(source, offset))
        continue;
      if (error.reason !== 'deficient indentation') throw syntaxFault(source, error);
      if (!source.untab(offset)) source.indent(offset, indentation(source.text) + 1);
    }
  }
};

const colonName = /[&*][\w-]+:(?=\s|$)/;

/**
 * In YAML 1.1 `&name: x` is an empty key with an anchor, and `*name: x` a key that is an alias;
 * the parser here takes the colon for a part of the name. A space before it makes it plain.
 *
 * @returns whether there was such a name
 */
const splitNames = (source: Source, events: readonly Event[]): boolean => {
  if (!colonName.test(source.text)) return false;
  const ends = events.flatMap(event => {
    const end = 'anchorEnd' in event && event.anchorStart >= 0 ? event.anchorEnd - 1 : -1;
    return source.text.charAt(end) === ':' ? [end] : [];
  });
  for (const end of ends.reverse()) source.space(end);
  return ends.length > 0;
};

/** The same where a fault stands on the line of such a name, or on the next. */
const splitLine = (source: Source, offset: number): boolean => {
  const { text } = source;
  const line = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.lastIndexOf('\n', line - 2) + 1;
  const name = [line, before]
    .map(start => ({
      start,
      found: /^[ ]*(?:- +)*[&*][\w-]+(?=:(?:\s|$))/.exec(text.slice(start)),
    }))
    .find(({ found }) => found);
  if (!name?.found) return false;
  source.space(name.start + name.found[0].length);
  return true;
};

/** What stands before the line of a fault, where that alone can be parsed. */
const eventsBefore = (text: string, offset: number): readonly Event[] => {
  if (!colonName.test(text)) return [];
  try {
    return parseEvents(text.slice(0, text.lastIndexOf('\n', offset - 1) + 1), { maxDepth });
  } catch {
    return [];
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
