import { TextCache } from '../../text-cache.ts';
import type { TemplateSource } from '../jinja-error.ts';
import type { Statement } from '../syntax/ast.ts';
import { tokenize } from '../syntax/lexer.ts';
import type { SyntaxOptions } from '../syntax/options.ts';
import { parseTemplate } from '../syntax/statements.ts';
import { TokenStream } from '../syntax/token-stream.ts';
import type { BlockBody, JinjaTemplate } from './program.ts';
import { compileStatements } from './statements.ts';

const templates = new TextCache<JinjaTemplate>(32_000_000);

/**
 * Compiles a template; the same text of the same file is parsed once for all hosts.
 *
 * @throws JinjaFault for wrong syntax.
 */
export const compileSource = (source: TemplateSource, options: SyntaxOptions): JinjaTemplate => {
  if (
    last?.template.source.text === source.text &&
    last.template.source.file === source.file &&
    last.options === options
  )
    return last.template;
  const key = [source.file, JSON.stringify(options), source.text].join('\0');
  const template = templates.get(key) ?? compile(source, options);
  templates.set(key, template);
  last = { template, options };
  return template;
};

/** States often render one template in a row: it is found without its whole text as a key. */
let last: { readonly template: JinjaTemplate; readonly options: SyntaxOptions } | undefined;

const compile = (source: TemplateSource, options: SyntaxOptions): JinjaTemplate => {
  const body = parseTemplate(new TokenStream(source, tokenize(source, options)));
  const blocks: BlockBody[] = [];
  const template = { source, execute: compileStatements(body, source), blocks };
  for (const block of blocksIn(body))
    blocks.push({
      template,
      name: block.name,
      isRequired: block.isRequired,
      execute: compileStatements(block.body, source),
    });
  return template;
};

type Block = Extract<Statement, { type: 'Block' }>;

/** Returns all blocks of a template, also those inside other statements. */
const blocksIn = (body: readonly Statement[]): Block[] =>
  body.flatMap(node => {
    const own = node.type === 'Block' ? [node] : [];
    if (node.type === 'Choose')
      return [
        ...node.branches.flatMap(branch => blocksIn(branch.body)),
        ...blocksIn(node.otherwise),
      ];
    if (node.type === 'For') return [...blocksIn(node.body), ...blocksIn(node.otherwise)];
    return 'body' in node ? [...own, ...blocksIn(node.body)] : own;
  });
