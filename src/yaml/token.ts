/** What the scanner makes of the text, in the words of libyaml. */
export type TokenKind =
  | 'directive'
  | 'tag-directive'
  | 'document-start'
  | 'document-end'
  | 'stream-end'
  | 'block-sequence-start'
  | 'block-mapping-start'
  | 'block-end'
  | 'flow-sequence-start'
  | 'flow-sequence-end'
  | 'flow-mapping-start'
  | 'flow-mapping-end'
  | 'flow-entry'
  | 'block-entry'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'plain'
  | 'quoted'
  | 'block-scalar';

export type Token = {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
  /** The text of a scalar, the name of an anchor, what stands after a tag's handle. */
  readonly value: string;
  /** A tag's handle: `!`, `!!`, `!name!`, or empty where the tag is written in full. */
  readonly handle: string;
};

export const tokenOf = (
  kind: TokenKind,
  start: number,
  end: number,
  value = '',
  handle = '',
): Token => ({ kind, start, end, value, handle });
