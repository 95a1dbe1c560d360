import type { Statement } from './ast.ts';
import {
  autoescapeTag,
  blockTag,
  callTag,
  filterTag,
  forTag,
  ifTag,
  loadDataTag,
  macroTag,
  profileTag,
  setTag,
  withTag,
} from './block-tags.ts';
import { parseExpression, parseTuple } from './expressions.ts';
import { StatementParser, type TagParser } from './statement-parser.ts';
import { extendsTag, fromTag, importDataTag, importTag, includeTag } from './template-tags.ts';
import type { TokenStream } from './token-stream.ts';

/** The statements of a whole template. */
export const parseTemplate = (stream: TokenStream): Statement[] =>
  new StatementParser(stream, tags).all();

const printTag: TagParser = ({ stream }) => {
  const prints: Statement[] = [];
  while (!stream.is('block end')) {
    if (prints.length > 0) stream.expect('operator', ',');
    const { line, column } = stream.current;
    prints.push({ type: 'Print', value: parseExpression(stream), line, column });
  }
  return prints;
};

const doTag: TagParser = ({ stream }, line) => ({ type: 'Do', value: parseTuple(stream), line });

const loopTag =
  (type: 'Break' | 'Continue'): TagParser =>
  (parser, line) => {
    parser.needLoop(type.toLowerCase(), line);
    return { type, line };
  };

const tags: ReadonlyMap<string, TagParser> = new Map<string, TagParser>([
  ['for', forTag],
  ['if', ifTag],
  ['with', withTag],
  ['set', setTag],
  ['macro', macroTag],
  ['call', callTag],
  ['filter', filterTag],
  ['autoescape', autoescapeTag],
  ['block', blockTag],
  ['extends', extendsTag],
  ['include', includeTag],
  ['import', importTag],
  ['from', fromTag],
  ['print', printTag],
  ['do', doTag],
  ['break', loopTag('Break')],
  ['continue', loopTag('Continue')],
  ['import_yaml', importDataTag('yaml')],
  ['import_json', importDataTag('json')],
  ['import_text', importDataTag('text')],
  ['load_yaml', loadDataTag('yaml')],
  ['load_json', loadDataTag('json')],
  ['load_text', loadDataTag('text')],
  ['profile', profileTag],
]);
