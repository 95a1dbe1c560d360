import { type Data, toData } from '../data/values/value.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import type { Plain } from '../protocol/plain.ts';

/** Parses JSON from a roster. Throws `roster-json` naming the source. */
export const parseRosterJson = (text: string, source: string): Data => {
  try {
    return toData(JSON.parse(text) as Plain);
  } catch (cause) {
    // V8's message quotes a part of the text, which may be a password.
    const reason = messageOf(cause).replace(/, (?:\.{3})?"[\s\S]*$/, '');
    throw new TsaltError('roster-json', `The roster ${source} is not JSON: ${reason}.`);
  }
};
