import { parseJson } from '../json.ts';
import { runProgram } from '../program.ts';
import type { Found } from '../roster.ts';
import { entriesOf } from './flat.ts';

/** A program of the user's that prints a flat roster as JSON: `{"web1": {"host": "10.0.0.1"}}`. */
export const script = async (file: string): Promise<Found> => {
  const text = await runProgram({ file, args: [], source: file });
  return { entries: entriesOf(parseJson(text, file), file) };
};
