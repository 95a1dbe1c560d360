import { runCommand } from '../../modules/_shared/commands/run-command.ts';
import { which } from '../../modules/_shared/commands/which.ts';

export type Argv = readonly [string, ...string[]];

/** No program that shows or sets a network takes so many seconds. */
const timeout = 30;

/** What a program prints; undefined where it is not there or fails. */
export const outputOf = async (argv: Argv): Promise<string | undefined> => {
  if (!which(argv[0])) return undefined;
  const { code, stdout } = await runCommand(argv, { plainLocale: true, timeout });
  return code === 0 ? stdout : undefined;
};

/** @throws Error with what the program says where it fails */
export const runGuardProgram = async (argv: Argv, stdin?: string): Promise<void> => {
  const options = { plainLocale: true, timeout, ...(stdin === undefined ? {} : { stdin }) };
  const { code, stdout, stderr } = await runCommand(argv, options);
  if (code === 0) return;
  throw new Error((stderr || stdout).trim().slice(0, 500) || `${argv[0]} failed`);
};
