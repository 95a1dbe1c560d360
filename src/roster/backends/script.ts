import { parseRosterJson } from '../json.ts';
import { runRosterProgram } from '../program.ts';
import type { BackendHosts } from '../roster.ts';
import { entriesOf } from './flat.ts';

/** A program of the user's that prints a flat roster as JSON: `{"web1": {"host": "10.0.0.1"}}`. */
export const script = async (file: string): Promise<BackendHosts> => {
  const text = await runRosterProgram({ file, args: [], source: file });
  return { entries: entriesOf(parseRosterJson(text, file), file) };
};
