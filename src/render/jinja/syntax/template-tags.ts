import type { DataFormat } from './ast.ts';
import { parseExpression } from './expressions.ts';
import type { TagParser } from './statement-parser.ts';
import { assignable } from './targets.ts';
import type { TokenStream } from './token-stream.ts';

export const extendsTag: TagParser = ({ stream }, line) => ({
  type: 'Extends',
  template: parseExpression(stream),
  line,
});

export const includeTag: TagParser = ({ stream }, line) => {
  const template = parseExpression(stream);
  const ignoreMissing = stream.isName('ignore') && stream.ahead.value === 'missing';
  if (ignoreMissing) {
    stream.next();
    stream.next();
  }
  const withContext = parseContext(stream) ?? true;
  return { type: 'Include', template, ignoreMissing, withContext, line };
};

export const importTag: TagParser = ({ stream }, line) => {
  const template = parseExpression(stream);
  stream.expect('name', 'as');
  const name = assignable(stream);
  return { type: 'Import', template, name, withContext: parseContext(stream) ?? false, line };
};

export const fromTag: TagParser = ({ stream }, line) => {
  const template = parseExpression(stream);
  stream.expect('name', 'import');
  const names: [string, string][] = [];
  let withContext = parseContext(stream);
  while (withContext === undefined && stream.is('name')) {
    const name = stream.expectName();
    if (name.startsWith('_'))
      stream.fail('names starting with an underline can not be imported', line);
    names.push([name, stream.skipName('as') ? assignable(stream) : name]);
    withContext = parseContext(stream);
    if (withContext !== undefined || !stream.skipOperator(',')) break;
    withContext = parseContext(stream);
  }
  if (names.length === 0) stream.expect('name');
  return { type: 'FromImport', template, names, withContext: withContext ?? false, line };
};

export const importDataTag =
  (format: DataFormat): TagParser =>
  ({ stream }, line) => {
    const template = parseExpression(stream);
    stream.expect('name', 'as');
    const name = assignable(stream);
    const withContext = parseContext(stream) ?? false;
    return { type: 'ImportData', template, format, name, withContext, line };
  };

/** Parses `with context`, `without context`; undefined selects the tag's default. */
const parseContext = (stream: TokenStream): boolean | undefined => {
  const { value } = stream.current;
  const isModifier = stream.is('name') && (value === 'with' || value === 'without');
  if (!isModifier || stream.ahead.type !== 'name' || stream.ahead.value !== 'context')
    return undefined;
  stream.next();
  stream.next();
  return value === 'with';
};
