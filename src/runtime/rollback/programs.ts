import { runCommand } from '../../modules/_shared/commands/run-command.ts';
import { which } from '../../modules/_shared/commands/which.ts';

export type Argv = readonly [string, ...string[]];

/** Seconds; far more than any program takes that shows or changes the network. */
const timeout = 30;

/** Returns a program's output; undefined if it is not installed or fails. */
export const outputOf = async (argv: Argv): Promise<string | undefined> => {
  if (!which(argv[0])) return undefined;
  const { code, stdout } = await runCommand(argv, { plainLocale: true, timeout });
  return code === 0 ? stdout : undefined;
};

/** @throws Error with the program's message if it fails */
export const runRollbackProgram = async (argv: Argv, stdin?: string): Promise<void> => {
  const options = { plainLocale: true, timeout, ...(stdin === undefined ? {} : { stdin }) };
  const { code, stdout, stderr } = await runCommand(argv, options);
  if (code === 0) return;
  throw new Error((stderr || stdout).trim().slice(0, 500) || `${argv[0]} failed`);
};
