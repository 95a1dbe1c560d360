import type { Data } from '../../data/values/value.ts';
import { withoutShebang } from '../pipe.ts';
import type { Stage } from '../types.ts';
import { parseTainted } from './format-check.ts';

/**
 * Data from a text behind its shebang, by a format that tells no offsets. What a host chose in the
 * text must not change its structure (`parseTainted`).
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
