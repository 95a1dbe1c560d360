import type { Data } from '../../data/values/value.ts';
import { withoutShebang } from '../pipe.ts';
import type { Stage } from '../types.ts';
import { parseTainted } from './format-check.ts';

/**
 * Parses the text after a shebang, for a format whose parser does not report offsets. Host-supplied
 * parts must not change its structure (`parseTainted`).
 */
export const parseBody = (
  text: string,
  { request, tainted }: Stage,
  parse: (body: string) => Data,
): Data => {
  const { taint } = request.context;
  const read = (whole: string): Data => parse(withoutShebang(whole));
  if (!tainted || !taint) return read(text);
  return parseTainted(text, { ranges: tainted, source: taint, file: request.file }, read);
};
