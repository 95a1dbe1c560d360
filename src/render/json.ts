import type { Data } from '../data/values/value.ts';
import { messageOf } from '../protocol/error.ts';
import { JsonReader } from './json-reader.ts';
import { renderError } from './render-error.ts';
import { parseBody } from './taint/parse-body.ts';
import type { Stage } from './types.ts';

/** Renders JSON, without the shebang line. An empty text is an empty dict. */
export const renderJson = (text: string, stage: Stage): Data =>
  parseBody(text, stage, body =>
    body.trim() === '' ? new Map() : parsePythonJson(body, stage.request.file),
  );

/**
 * Parses JSON as Python's `json.loads` does: ints of any size, `1.0` stays a float, `NaN` and
 * `Infinity` are allowed, and of equal keys the last one wins.
 *
 * @throws TsaltError `json-syntax`
 */
export const parsePythonJson = (text: string, file: string, firstLine = 1): Data => {
  try {
    return new JsonReader(text).read();
  } catch (error) {
    const offset = error instanceof SyntaxError ? Number(error.cause) : 0;
    const before = text.slice(0, offset).split('\n');
    throw renderError('json-syntax', `JSON: ${messageOf(error)}`, {
      file,
      text: '\n'.repeat(firstLine - 1) + text,
      line: before.length + firstLine - 1,
      column: (before.at(-1)?.length ?? 0) + 1,
    });
  }
};
