import json5 from 'json5';
import type { Data } from '../data/values/value.ts';
import { fromJs } from './js-value.ts';
import { renderError } from './render-error.ts';
import { parseBody } from './taint/parse-body.ts';
import type { Stage } from './types.ts';

/** JSON5: comments, trailing commas, unquoted keys. */
export const renderJson5 = (text: string, stage: Stage): Data =>
  parseBody(text, stage, body => readJson5(body, text, stage));

const readJson5 = (body: string, text: string, { request }: Stage): Data => {
  if (body.trim() === '') return new Map();
  try {
    return fromJs(json5.parse(body));
  } catch (error) {
    const { message, lineNumber, columnNumber } = error as SyntaxError & {
      lineNumber?: number;
      columnNumber?: number;
    };
    throw renderError('json5-syntax', message, {
      file: request.file,
      text,
      line: lineNumber,
      column: columnNumber,
    });
  }
};
