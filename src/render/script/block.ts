import { scriptSyntaxError } from './program.ts';

/**
 * Converts a control line of Mako or Wempy to JavaScript: `if EXPR:`, `elif EXPR:`, `else:`, `for
 * NAME in EXPR:`, `while EXPR:`, `try:`, `except:`. A `for` may have several names: `for key, value
 * in pillar.items():`. Returns `undefined` for any other line.
 *
 * @param loop `$loop` if the body has a variable `loop`.
 */
export const openBlock = (
  code: string,
  line: number,
  loop: '$iter' | '$loop' = '$iter',
): { open: string; close: boolean } | undefined => {
  const [, word = '', rest = ''] =
    /^(if|elif|else|for|while|try|except)\b\s*(.*?)\s*:?\s*$/s.exec(code) ?? [];
  switch (word) {
    case 'if':
      return { open: `if (${need(rest, code, line)}) {`, close: false };
    case 'elif':
      return { open: `} else if (${need(rest, code, line)}) {`, close: true };
    case 'else':
      return { open: '} else {', close: true };
    case 'while':
      return { open: `while (${need(rest, code, line)}) {`, close: false };
    case 'try':
      return { open: 'try {', close: false };
    case 'except':
      return { open: '} catch {', close: true };
    case 'for': {
      const [, names, list] = /^([\w\s,()]+?)\s+(?:in|of)\s+(.+)$/s.exec(rest) ?? [];
      if (!names || !list)
        throw scriptSyntaxError(`'${code}' is not a loop: write for NAME in EXPRESSION:`, line);
      const list_ = names.replace(/[()\s]/g, '').split(',');
      const target = list_.length > 1 ? `[${list_.join(', ')}]` : list_[0];
      const each = loop === '$loop' && !list_.includes('loop') ? `[loop, ${target}]` : target;
      const over = each === target ? '$iter' : loop;
      return { open: `for (const ${each} of ${over}(await (${list}\n))) {`, close: false };
    }
    default:
      return undefined;
  }
};

const need = (expression: string, code: string, line: number): string => {
  if (expression === '') throw scriptSyntaxError(`'${code}' has no condition`, line);
  return `await (${expression}\n)`;
};
