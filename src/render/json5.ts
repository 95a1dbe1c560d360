import json5 from 'json5';
import type { Data } from '../data/value.ts';
import { renderFault } from './fault.ts';
import { fromJs } from './js-value.ts';
import { withoutShebang } from './pipe.ts';
import type { Stage } from './types.ts';

/** JSON5: comments, trailing commas, unquoted keys. */
export const renderJson5 = (text: string, { request }: Stage): Data => {
  const body = withoutShebang(text);
  if (body.trim() === '') return new Map();
  try {
    return fromJs(json5.parse(body));
  } catch (error) {
    const { message, lineNumber, columnNumber } = error as SyntaxError & {
      lineNumber?: number;
      columnNumber?: number;
    };
    throw renderFault('json5-syntax', message, {
      file: request.file,
      text,
      line: lineNumber,
      column: columnNumber,
    });
  }
};
