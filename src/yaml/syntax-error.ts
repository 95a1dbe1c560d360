import type { TsaltError } from '../protocol/error.ts';
import { openNodes } from './continued-nodes.ts';
import { maxDepth } from './node.ts';
import { openBlockAt } from './open-block.ts';
import type { YamlSource } from './yaml-error.ts';

const misplaced = 'mapping values are not allowed in this context';
const noToken = 'found character that cannot start any token';
const noKey = 'did not find expected key';
const noColon = "could not find expected ':'";
const noContent = 'did not find expected node content';
const noHandle = 'found undefined tag handle';
const noEnd = 'found unexpected end of stream';

/**
 * Converts a syntax error of js-yaml at an offset of the source. If libyaml, and therefore Salt,
 * reports the same error, its message is used. A hint says what to change.
 */
export const syntaxError = (source: YamlSource, reason: string, offset: number): TsaltError => {
  const at = placeOf(source.text, reason, offset);
  if (reason.startsWith('nesting exceeded'))
    return source.fault(
      'yaml-depth',
      `the document nests deeper than ${maxDepth} levels`,
      at,
      'Split it, or check its brackets.',
    );
  const problem = problemOf(source.text, reason, at);
  if (/flow collection|the node content, but/.test(problem))
    return bracketFault(source, problem, at);
  if (problem === noKey) return blockFault(source, at);
  const salt =
    problem === noHandle ? source.saltText(['while parsing a node', at], [problem, at]) : undefined;
  return source.fault('yaml-syntax', problem, at, hintOf(source, problem, at), salt);
};

/** Returns the error of a line that does not continue any block collection above it. */
const blockFault = (source: YamlSource, at: number): TsaltError => {
  const block = openBlockAt(source.text, at);
  const isList = block?.kind === 'sequence';
  const problem = isList ? "did not find expected '-' indicator" : noKey;
  if (!block)
    return source.fault('yaml-syntax', problem, at, 'Check how far the line is indented.');
  const doing = `while parsing a block ${isList ? 'collection' : 'mapping'}`;
  return found(source, problem, at, [doing, block.start]);
};

/** The error of a node that has to be between brackets and is not. */
export const flowNodeError = (source: YamlSource, at: number): TsaltError =>
  found(source, noContent, at, ['while parsing a flow node', at]);

/** An error with the context in which libyaml finds it, and where that begins. */
const found = (
  source: YamlSource,
  problem: string,
  at: number,
  [doing, since]: readonly [string, number],
): TsaltError =>
  source.fault(
    'yaml-syntax',
    problem,
    at,
    `It was found ${doing} that begins on ${source.lineName(since)}.`,
    source.saltText([doing, since], [problem, at]),
  );

/** Returns the error of a flow collection that does not continue or end correctly. */
const bracketFault = (source: YamlSource, reason: string, at: number): TsaltError => {
  const start = openNodes(source.text.slice(0, at)).at(-1);
  const bracket = start === undefined ? '' : source.text.charAt(start);
  if (start === undefined || !'[{'.includes(bracket))
    return source.fault('yaml-syntax', reason, at);
  const before = source.text.slice(0, at).trimEnd().at(-1) ?? '';
  if (at < source.text.length && ',[{:?'.includes(before)) return flowNodeError(source, at);
  const [kind, end] = bracket === '[' ? ['sequence', ']'] : ['mapping', '}'];
  const doing = `while parsing a flow ${kind}`;
  return found(source, `did not find expected ',' or '${end}'`, at, [doing, start]);
};

/** Returns libyaml's position of the error, if js-yaml reports it later. */
const placeOf = (text: string, reason: string, offset: number): number => {
  const handle = /^undeclared tag handle "(.*)"$/.exec(reason)?.[1];
  if (handle !== undefined) return Math.max(0, text.lastIndexOf(handle, offset));
  let at = offset;
  if (reason.startsWith('nesting exceeded')) {
    do at -= 1;
    while (at > 0 && /\s/.test(text.charAt(at)));
  }
  return Math.max(0, at);
};

const words: ReadonlyMap<string, string> = new Map([
  ['tab characters must not be used in indentation', noToken],
  ['unknown escape sequence', 'found unknown escape character'],
  ['expected hexadecimal character', 'did not find expected hexdecimal number'],
  ['a line break is expected', 'did not find expected comment or line break'],
  ["expected ':' after a mapping key", noColon],
  ['can not read a block mapping entry; a multiline key may not be an implicit key', noColon],
  ['unexpected end of the stream within a single quoted scalar', noEnd],
  ['unexpected end of the stream within a double quoted scalar', noEnd],
  [
    'unexpected end of the document within a single quoted scalar',
    'found unexpected document indicator',
  ],
  [
    'unexpected end of the document within a double quoted scalar',
    'found unexpected document indicator',
  ],
  ['directives end mark is expected', 'did not find expected <document start>'],
  [
    'name of an alias node must contain at least one character',
    'did not find expected alphabetic or numeric character',
  ],
  [
    'name of an anchor node must contain at least one character',
    'did not find expected alphabetic or numeric character',
  ],
]);

const problemOf = (text: string, reason: string, at: number): string => {
  if (reason.startsWith('undeclared tag handle')) return noHandle;
  const here = text.charAt(at);
  const isPlace = /^(?:bad indentation|end of the stream or)/.test(reason);
  if (isPlace || reason.startsWith('missed comma'))
    if (here !== '' && '\t@`%'.includes(here)) return noToken;
  if (!isPlace) return words.get(reason) ?? reason;
  if (here !== '' && '[]{},'.includes(here)) return noContent;
  if (/^:(?:\s|$)/.test(text.slice(at, at + 2))) return misplaced;
  const start = Math.max(text.lastIndexOf('\n', at - 1), text.lastIndexOf('\r', at - 1)) + 1;
  if (text.slice(start, at).trim() !== '') return noKey;
  const line = /^[^\r\n]*/.exec(text.slice(at))?.[0] ?? '';
  return /^-\s|:(?:\s|$)/.test(line) ? noKey : noColon;
};

const hintOf = (source: YamlSource, problem: string, at: number): string | undefined => {
  const { text } = source;
  switch (problem) {
    case noToken:
      return text[at] === '\t'
        ? 'Illegal tab character: YAML is indented with spaces only.'
        : `Quote text that starts with ${text.charAt(at)}.`;
    case misplaced:
      return withoutColon(source, at) ?? 'Quote a value that contains a colon followed by a space.';
    case noEnd: {
      const start = openNodes(text.slice(0, at)).at(-1);
      return `The quote opened${start === undefined ? '' : ` on ${source.lineName(start)}`} is never closed.`;
    }
    case noColon:
      return `What is on ${source.lineName(at)}, or the line before, has to be a key with a colon, or be indented further.`;
    case 'deficient indentation':
      return 'Indent the line further than the key of the value that it continues.';
    default:
      return undefined;
  }
};

/**
 * Detects a key without a colon: a colon ends this line, and the line before it is indented less
 * and has no colon, so that it was parsed as a value.
 */
const withoutColon = (source: YamlSource, at: number): string | undefined => {
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
