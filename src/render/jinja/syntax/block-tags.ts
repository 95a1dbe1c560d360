import { quoted } from '../values/text.ts';
import type { DataFormat, JinjaExpression, Statement, Target } from './ast.ts';
import { parseExpression, parseFilterChain, parseTuple } from './expressions.ts';
import type { TagParser } from './statement-parser.ts';
import { assignable, parsePartTarget, parseSignature, parseTarget } from './targets.ts';

export const forTag: TagParser = (parser, line) => {
  const { stream } = parser;
  const target = parseTarget(stream);
  stream.expect('name', 'in');
  const items = parseTuple(stream, { withIf: false, stop: 'recursive' });
  const test = stream.skipName('if') ? parseExpression(stream) : undefined;
  const isRecursive = stream.skipName('recursive');
  const { body, end } = parser.loopBody('endfor', 'else');
  const otherwise = end === 'else' ? parser.body('endfor').body : [];
  return { type: 'For', target, items, test, isRecursive, body, otherwise, line };
};

export const ifTag: TagParser = (parser, line) => {
  const { stream } = parser;
  const branches: { test: JinjaExpression; body: Statement[] }[] = [];
  for (;;) {
    const test = parseTuple(stream, { withIf: false });
    const { body, end } = parser.body('elif', 'else', 'endif');
    branches.push({ test, body });
    if (end === 'elif') continue;
    const otherwise = end === 'else' ? parser.body('endif').body : [];
    return { type: 'Choose', branches, otherwise, line };
  }
};

export const withTag: TagParser = (parser, line) => {
  const { stream } = parser;
  const pairs: [Target, JinjaExpression][] = [];
  while (!stream.is('block end')) {
    if (pairs.length > 0) stream.expect('operator', ',');
    const target = parsePartTarget(stream, false);
    stream.expect('operator', '=');
    pairs.push([target, parseExpression(stream)]);
  }
  return { type: 'With', pairs, body: parser.body('endwith').body, line };
};

export const setTag: TagParser = (parser, line) => {
  const { stream } = parser;
  const target = parseTarget(stream, true);
  if (stream.skipOperator('=')) return { type: 'Set', target, value: parseTuple(stream), line };
  const filter = stream.skipOperator('|') ? parseFilterChain(stream) : undefined;
  return { type: 'SetBlock', target, filter, body: parser.body('endset').body, line };
};

export const macroTag: TagParser = (parser, line) => {
  const name = assignable(parser.stream);
  const signature = parseSignature(parser.stream);
  return { type: 'Macro', name, signature, body: parser.closedBody('endmacro'), line };
};

export const callTag: TagParser = (parser, line) => {
  const { stream } = parser;
  const signature = stream.isOperator('(') ? parseSignature(stream) : { params: [], defaults: [] };
  const call = parseExpression(stream);
  if (call.type !== 'Call') return stream.fail('expected call', line);
  return { type: 'CallBlock', call, signature, body: parser.closedBody('endcall'), line };
};

export const filterTag: TagParser = (parser, line) => {
  const filter = parseFilterChain(parser.stream);
  return { type: 'FilterBlock', filter, body: parser.body('endfilter').body, line };
};

export const autoescapeTag: TagParser = (parser, line) => {
  parseExpression(parser.stream);
  return { type: 'Scope', body: parser.body('endautoescape').body, line };
};

export const blockTag: TagParser = (parser, line) => {
  const { stream } = parser;
  const name = stream.expectName();
  if (parser.blockNames.has(name)) stream.fail(`block ${quoted(name)} defined twice`, line);
  parser.blockNames.add(name);
  const isScoped = stream.skipName('scoped');
  const isRequired = stream.skipName('required');
  if (stream.isOperator('-'))
    stream.fail(
      'Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.',
    );
  const body = parser.closedBody('endblock');
  if (isRequired && !body.every(node => node.type === 'Text' && node.text.trim() === ''))
    stream.fail('Required blocks can only contain comments or whitespace', line);
  stream.skipName(name);
  return { type: 'Block', name, isScoped, isRequired, body, line };
};

export const loadDataTag =
  (format: DataFormat): TagParser =>
  (parser, line) => {
    parser.stream.expect('name', 'as');
    const target = parseTarget(parser.stream);
    return { type: 'LoadData', format, target, body: parser.body('endload').body, line };
  };

export const profileTag: TagParser = (parser, line) => {
  parser.stream.expect('name', 'as');
  parseExpression(parser.stream);
  return { type: 'Group', body: parser.body('endprofile').body, line };
};
