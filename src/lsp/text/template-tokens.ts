import { templateParts } from '../../validate/template-parts.ts';

/** A coloured part of a template, on one line. */
export type TemplateToken = {
  readonly line: number;
  readonly from: number;
  readonly length: number;
  readonly type: TemplateTokenType;
};

/** The types of tokens in the order in which the server announces them. */
export const templateTokenTypes = [
  'comment',
  'keyword',
  'string',
  'number',
  'variable',
  'function',
  'operator',
  'property',
  'macro',
] as const;

export type TemplateTokenType = (typeof templateTokenTypes)[number];

const keywords: ReadonlySet<string> = new Set(
  (
    'if elif else endif for in endfor set endset macro endmacro call endcall filter endfilter block ' +
    'endblock extends include import from as with without context ignore missing not and or is raw ' +
    'endraw do break continue load_yaml endload load_json load_text import_yaml import_json import_text ' +
    'true false none True False None recursive assign capture endcapture case when endcase unless ' +
    'endunless elsif tablerow endtablerow cycle increment decrement render comment endcomment liquid ' +
    'echo contains nil null empty blank endwith'
  ).split(' '),
);

/** The tokens of all templates of a text, in order. Tokens that span lines are split. */
export const templateTokens = (text: string): TemplateToken[] => {
  const found: { from: number; to: number; type: TemplateTokenType }[] = [];
  for (const part of templateParts(text)) {
    if (part.kind === 'comment') {
      found.push({ from: part.start, to: part.end, type: 'comment' });
      continue;
    }
    const head = /^\{[{%][-+]?/.exec(text.slice(part.start))?.[0].length ?? 2;
    found.push({ from: part.start, to: part.start + head, type: 'macro' });
    const tail = part.isClosed ? (/[-+]/.test(text[part.end - 3] ?? '') ? 3 : 2) : 0;
    const stop = Math.max(part.start + head, part.end - tail);
    found.push(...expressionTokens(text, part.start + head, stop));
    if (tail > 0) found.push({ from: stop, to: part.end, type: 'macro' });
  }
  return byLine(text, found);
};

const lexer =
  /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\d+(?:\.\d+)?|[\p{L}_][\p{L}\p{N}_]*|[-+*/%~|=!<>:]+/gu;

const expressionTokens = (
  text: string,
  from: number,
  to: number,
): { from: number; to: number; type: TemplateTokenType }[] => {
  const body = text.slice(from, to);
  return [...body.matchAll(lexer)].map(match => {
    const word = match[0];
    const start = from + match.index;
    return { from: start, to: start + word.length, type: typeOf(word, body, match.index) };
  });
};

const typeOf = (word: string, body: string, at: number): TemplateTokenType => {
  if (/^['"]/.test(word)) return 'string';
  if (/^\d/.test(word)) return 'number';
  if (!/^[\p{L}_]/u.test(word)) return 'operator';
  const before = body.slice(Math.max(0, at - 20), at).trimEnd();
  if (before.endsWith('.')) return 'property';
  if (keywords.has(word) && !before.endsWith('|')) return 'keyword';
  if (before.endsWith('|') || /^\s*\(/.test(body.slice(at + word.length))) return 'function';
  return 'variable';
};

const byLine = (
  text: string,
  found: readonly { from: number; to: number; type: TemplateTokenType }[],
): TemplateToken[] => {
  const tokens: TemplateToken[] = [];
  let line = 0;
  let start = 0;
  for (const { from, to, type } of found) {
    for (let next = text.indexOf('\n', start); next >= 0 && next < from; ) {
      line += 1;
      start = next + 1;
      next = text.indexOf('\n', start);
    }
    let at = from;
    for (let next = text.indexOf('\n', at); next >= 0 && next < to; ) {
      if (next > at) tokens.push({ line, from: at - start, length: next - at, type });
      line += 1;
      start = next + 1;
      at = start;
      next = text.indexOf('\n', at);
    }
    if (to > at) tokens.push({ line, from: at - start, length: to - at, type });
  }
  return tokens;
};
