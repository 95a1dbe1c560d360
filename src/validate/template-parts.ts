/** A part of a text that belongs to its template: `{{ … }}`, `{% … %}` or `{# … #}`. */
export type TemplatePart = {
  readonly start: number;
  /** Exclusive; the end of the text where it is not closed. */
  readonly end: number;
  readonly kind: 'output' | 'statement' | 'comment';
  readonly isClosed: boolean;
};

const closers = { '{{': '}}', '{%': '%}', '{#': '#}' } as const;
const kinds = { '{{': 'output', '{%': 'statement', '{#': 'comment' } as const;

/** Finds the parts of a text that belong to its template. `{% raw %}` ends with `{% endraw %}`. */
export const templateParts = (text: string): TemplatePart[] => {
  const parts: TemplatePart[] = [];
  const opener = /\{[{%#]/g;
  for (let match = opener.exec(text); match; match = opener.exec(text)) {
    const open = match[0] as keyof typeof closers;
    const start = match.index;
    const closed = closeOf(text, start + 2, closers[open]);
    const end = closed < 0 ? text.length : closed + 2;
    parts.push({ start, end, kind: kinds[open], isClosed: closed >= 0 });
    opener.lastIndex = end;
    if (open === '{%' && /^\{%[-+]?\s*raw\b/.test(text.slice(start, end))) {
      const raw = /\{%[-+]?\s*endraw\b/g;
      raw.lastIndex = end;
      opener.lastIndex = raw.exec(text)?.index ?? text.length;
    }
  }
  return parts;
};

/** Finds the end of a part; the text of a string does not end it. A line of YAML ends what is not closed. */
const closeOf = (text: string, from: number, close: string): number => {
  if (close === '#}') return text.indexOf(close, from);
  const token = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|[}%]\}|\{[{%]/g;
  token.lastIndex = from;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    if (match[0] === close) return match.index;
    if (/^\{[{%]$/.test(match[0])) return -1;
  }
  return -1;
};
