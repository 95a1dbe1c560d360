import { openBlock } from './script/block.ts';
import { expressionEnd, splitFilters } from './script/expression.ts';
import { Program, runProgram, syntaxFault } from './script/program.ts';
import type { Stage } from './types.ts';

/**
 * Mako's syntax with JavaScript expressions: `${…}` (awaited; `| h, trim` behind), `% for x in
 * list:` … `% endfor`, `##` and `<%doc>` comments, `<% code %>`, `<%text>`, `<%include
 * file="…"/>`, a backslash at a line's end joins lines.
 */
export const renderMako = (text: string, stage: Stage): Promise<string> =>
  runProgram('Mako', text, stage, compileMako);

const ends: Readonly<Record<string, string>> = {
  endif: 'if',
  endfor: 'for',
  endwhile: 'while',
  endtry: 'try',
};

const compileMako = (source: string): Program => {
  const program = new Program();
  const open: { word: string; line: number }[] = [];
  let at = 0;
  let line = 1;

  const advance = (length: number): string => {
    const part = source.slice(at, at + length);
    at += length;
    line += part.split('\n').length - 1;
    return part;
  };
  const until = (end: string, what: string): string => {
    const found = source.indexOf(end, at);
    if (found < 0) throw syntaxFault(`${what} is not closed: ${end} is missing`, line);
    const body = advance(found - at);
    advance(end.length);
    return body;
  };
  const control = (code: string, start: number): void => {
    const word = /^\w+/.exec(code)?.[0] ?? '';
    if (word in ends) {
      const last = open.pop();
      if (last?.word !== ends[word])
        throw syntaxFault(`% ${word} closes no % ${ends[word]}`, start);
      program.glue('}');
      return;
    }
    const block = openBlock(code, start);
    if (!block) throw syntaxFault(`'% ${code}' is no control line`, start);
    if (!block.close) open.push({ word, line: start });
    if (block.close && open.length === 0) throw syntaxFault(`% ${word} stands in no block`, start);
    if (block.close) program.glue(block.open);
    else program.code(block.open, start);
  };

  while (at < source.length) {
    const rest = source.slice(at);
    const lineStart = at === 0 || source.charAt(at - 1) === '\n';
    const own = lineStart ? /^[ \t]*(%(?!%)|##)([^\n]*(?:\\\n[^\n]*)*)(?:\n|$)/.exec(rest) : null;
    if (own) {
      const start = line;
      advance(own[0].length);
      if (own[1] === '%') control((own[2] ?? '').replaceAll('\\\n', ' ').trim(), start);
      continue;
    }
    const start = line;
    const tag = /^<%(doc|text)>/.exec(rest)?.[1];
    if (tag) {
      advance(tag.length + 3);
      const body = until(`</%${tag}>`, `<%${tag}>`);
      if (tag === 'text') program.text(body);
      continue;
    }
    const include = /^<%include\s+file=(["'])(.*?)\1\s*\/>/.exec(rest);
    if (include) {
      advance(include[0].length);
      program.code(`await $include(${JSON.stringify(include[2])});`, start);
      continue;
    }
    const other = /^<%(\w+)/.exec(rest);
    if (other) throw syntaxFault(`the tag <%${other[1]}> is not supported`, start);
    if (rest.startsWith('<%')) {
      advance(rest.startsWith('<%!') ? 3 : 2);
      program.code(until('%>', '<%'), start);
      continue;
    }
    if (rest.startsWith('${')) {
      advance(2);
      const [expression, filters] = splitFilters(
        advance(expressionEnd(source, at, '}', line) - at),
      );
      advance(1);
      program.print(expression, start, filters);
      continue;
    }
    const join = /^\\\r?\n/.exec(rest)?.[0];
    if (join !== undefined) {
      advance(join.length);
      continue;
    }
    const text = /^(?:[^$<\\\n]|\$(?!\{)|<(?!%)|\\(?!\r?\n))*\n?/.exec(rest)?.[0] ?? '';
    advance(text.length);
    program.text(lineStart ? text.replace(/^([ \t]*)%%/, '$1%') : text);
  }
  const unclosed = open.at(-1);
  if (unclosed)
    throw syntaxFault(
      `% ${unclosed.word} is not closed: % end${unclosed.word} is missing`,
      unclosed.line,
    );
  return program;
};
