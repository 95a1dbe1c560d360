import { type Data, type Dict, isDict } from '../../../data/values/value.ts';

/** The syntax of templates: `jinja_env`, `jinja_sls_env` in Salt's configuration. */
export type SyntaxOptions = {
  readonly blockStart: string;
  readonly blockEnd: string;
  readonly variableStart: string;
  readonly variableEnd: string;
  readonly commentStart: string;
  readonly commentEnd: string;
  readonly lineStatement: string | undefined;
  readonly lineComment: string | undefined;
  readonly trimBlocks: boolean;
  readonly lstripBlocks: boolean;
  readonly newline: string;
  readonly keepTrailingNewline: boolean;
};

export const usualSyntax: SyntaxOptions = {
  blockStart: '{%',
  blockEnd: '%}',
  variableStart: '{{',
  variableEnd: '}}',
  commentStart: '{#',
  commentEnd: '#}',
  lineStatement: undefined,
  lineComment: undefined,
  trimBlocks: false,
  lstripBlocks: false,
  newline: '\n',
  keepTrailingNewline: false,
};

/**
 * Reads the syntax of an SLS (`jinja_sls_env`) or of any other template (`jinja_env`), with the old
 * options `jinja_trim_blocks` and `jinja_lstrip_blocks`.
 */
export const syntaxFrom = (opts: Dict, isSls: boolean): SyntaxOptions => {
  const given = opts.get(isSls ? 'jinja_sls_env' : 'jinja_env');
  const env: Dict = isDict(given) ? new Map(given) : new Map();
  for (const name of ['trim_blocks', 'lstrip_blocks'])
    if (isSet(opts.get(`jinja_${name}`))) env.set(name, true);
  if (env.size === 0) return usualSyntax;
  const option = (name: string): Data | undefined => env.get(name) ?? env.get(name.toUpperCase());
  const text = (name: string, otherwise: string): string => {
    const value = option(name);
    return typeof value === 'string' && value !== '' ? value : otherwise;
  };
  return {
    blockStart: text('block_start_string', '{%'),
    blockEnd: text('block_end_string', '%}'),
    variableStart: text('variable_start_string', '{{'),
    variableEnd: text('variable_end_string', '}}'),
    commentStart: text('comment_start_string', '{#'),
    commentEnd: text('comment_end_string', '#}'),
    lineStatement: text('line_statement_prefix', '') || undefined,
    lineComment: text('line_comment_prefix', '') || undefined,
    trimBlocks: isSet(option('trim_blocks')),
    lstripBlocks: isSet(option('lstrip_blocks')),
    newline: text('newline_sequence', '\n'),
    keepTrailingNewline: isSet(option('keep_trailing_newline')),
  };
};

const isSet = (value: Data | undefined): boolean => Boolean(value);
