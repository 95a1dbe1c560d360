/** A piece of a template: text, the brackets of a tag, or a word of an expression. */
export type JinjaToken = {
  readonly type: TokenType;
  /** Its content: the text, the name, the operator, the literal's value. */
  readonly value: string;
  readonly line: number;
  /** In UTF-16 units, from 1. */
  readonly column: number;
};

export type TokenType =
  | 'text'
  | 'block begin'
  | 'block end'
  | 'print begin'
  | 'print end'
  | 'name'
  | 'string'
  | 'int'
  | 'float'
  | 'operator'
  | 'eof';

/** Returns Jinja's name of a token, for messages. */
export const describeToken = ({ type, value }: Pick<JinjaToken, 'type' | 'value'>): string => {
  switch (type) {
    case 'text':
      return 'template data / text';
    case 'block begin':
      return 'begin of statement block';
    case 'block end':
      return 'end of statement block';
    case 'print begin':
      return 'begin of print statement';
    case 'print end':
      return 'end of print statement';
    case 'eof':
      return 'end of template';
    case 'int':
      return 'integer';
    case 'float':
      return 'float';
    case 'string':
      return 'string';
    default:
      return value;
  }
};
