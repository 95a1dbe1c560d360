import { openBlock } from './script/block.ts';
import { expressionEnd } from './script/expression.ts';
import { ScriptProgram, scriptSyntaxError } from './script/program.ts';

/**
 * Wempy's syntax (web2py's) with JavaScript: `{{=expression}}`, `{{if a:}}` … `{{elif b:}}` …
 * `{{else:}}` … `{{pass}}`, `{{for x in list:}}` … `{{pass}}`, `{{include 'file'}}`; anything else
 * between the braces is a statement.
 */
export const compileWempy = (source: string): ScriptProgram => {
  const program = new ScriptProgram();
  const open: { code: string; line: number }[] = [];
  let line = 1;
  for (let at = 0; at < source.length; ) {
    const start = source.indexOf('{{', at);
    const text = source.slice(at, start < 0 ? undefined : start);
    program.text(text);
    line += text.split('\n').length - 1;
    if (start < 0) break;
    const end = expressionEnd(source, start + 2, '}}', line);
    const code = source.slice(start + 2, end);
    tag(code.trim(), line);
    line += code.split('\n').length - 1;
    at = end + 2;
  }
  const unclosed = open.at(-1);
  if (unclosed)
    throw scriptSyntaxError(
      `{{${unclosed.code}}} is not closed: {{pass}} is missing`,
      unclosed.line,
    );
  return program;

  function tag(code: string, at: number): void {
    const include = /^include\s+(['"])(.*)\1$/.exec(code);
    const block = openBlock(code, at);
    if (code.startsWith('=')) program.print(code.slice(1), at);
    else if (code.startsWith('#')) return;
    else if (include) program.code(`$out(await $include(${JSON.stringify(include[2])}));`, at);
    else if (code === 'pass') {
      if (!open.pop()) throw scriptSyntaxError('{{pass}} closes nothing', at);
      program.glue('}');
    } else if (block?.close) {
      if (open.length === 0) throw scriptSyntaxError(`{{${code}}} is outside of a block`, at);
      program.glue(block.open);
    } else if (block) {
      open.push({ code, line: at });
      program.code(block.open, at);
    } else program.code(`${code};`, at);
  }
};
