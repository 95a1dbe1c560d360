import type { Outline } from '../text/outline.ts';
import type { TextSpan } from '../text/scan-lines.ts';

/** An entry of a document's outline. */
export type OutlineSymbol = {
  readonly name: string;
  readonly kind: 'id' | 'state' | 'macro' | 'variable';
  readonly detail: string;
  readonly span: TextSpan;
  /** The last line that belongs to it. */
  readonly end: number;
  readonly children: readonly OutlineSymbol[];
};

/** IDs with their states, then macros and variables of the template. */
export const documentSymbols = (outline: Outline, lines: readonly string[]): OutlineSymbol[] => [
  ...outline.ids.map(({ id, span, end, states, isExtend }): OutlineSymbol => {
    const names = states.map(({ name }) => name).join(', ');
    return {
      name: id,
      kind: 'id',
      detail: isExtend ? `extend ${names}` : names,
      span,
      end,
      children: states
        .filter(state => state.span.line !== span.line)
        .map(state => ({
          name: state.name,
          kind: 'state',
          detail: '',
          span: state.span,
          end: state.span.line,
          children: [],
        })),
    };
  }),
  ...lines.flatMap((text, line) => templateSymbol(text, line) ?? []),
];

const templateSymbol = (text: string, line: number): OutlineSymbol | undefined => {
  const match = /\{%[-+]?\s*(macro|set|assign)\s+(\w+)/.exec(text);
  const name = match?.[2];
  if (!match || name === undefined) return undefined;
  const from = match.index + match[0].length - name.length;
  return {
    name,
    kind: match[1] === 'macro' ? 'macro' : 'variable',
    detail: '',
    span: { line, from, to: from + name.length },
    end: line,
    children: [],
  };
};
