import { showDefault } from '../../data/signatures/module-docs.ts';
import type { FunctionMeta } from '../../protocol/meta.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import { commonSchemas } from '../../validate/schemas/common-arguments.ts';

/** The documentation of an argument: type, default and text. */
export const argumentDoc = (fun: FunctionMeta | undefined, name: string): string | undefined => {
  const { positional = [], keywords = [] } = fun?.signature ?? {};
  const param = [...positional, ...keywords].find(one => one.name === name);
  if (!param) {
    const common = Object.hasOwn(commonSchemas, name) ? commonSchemas[name] : undefined;
    const text = isPlainDict(common) ? common.description : undefined;
    return typeof text === 'string' ? `\`${name}\`\n\n${text}` : undefined;
  }
  const { type, optional, default: value, doc } = param;
  const fallback =
    optional && value !== undefined && value !== null ? ` = ${showDefault(value)}` : '';
  const head = `\`${name}${type === undefined ? '' : `: ${type}`}${fallback}\``;
  return [head, doc].filter(text => text !== undefined).join('\n\n');
};
