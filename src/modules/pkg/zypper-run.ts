import { xmlElements, xmlText } from '../_shared/text/xml-elements.ts';
import { CommandExecutionError } from '../api.ts';
import { runManager } from './package-manager.ts';

type Root = string | null | undefined;

/** Returns a zypper command line that neither asks questions nor fetches data. */
export const zypperLine = (root: Root, ...args: string[]): [string, ...string[]] => [
  'zypper',
  '--non-interactive',
  '--no-refresh',
  ...(root ? ['--root', root] : []),
  ...args,
];

export const zypperLocked = /System management is locked by the application/;

/**
 * zypper's exit codes of success: patches or a restart are needed, a repository was skipped, or a
 * script of an installed package failed.
 */
export const zypperGood = [0, 100, 101, 102, 103, 106, 107];

/** Reads something from zypper as XML. */
export const readZypper = async (root: Root, ...args: string[]): Promise<string> => {
  const [program, ...words] = zypperLine(root, ...args);
  const { stdout } = await runManager([program, '--xmlout', ...words], zypperLocked);
  return stdout;
};

/** Changes something with zypper; throws with zypper's message if it fails. */
export const changeByZypper = async (
  { root = null, before = [] }: { root?: Root; before?: readonly string[] },
  ...args: string[]
): Promise<string> => {
  const [program, ...words] = zypperLine(root, ...args);
  const line: [string, ...string[]] = [program, '--xmlout', ...before, ...words];
  const { code, stdout, stderr } = await runManager(line, zypperLocked);
  if (zypperGood.includes(code)) return stdout;
  const errors = xmlElements(stdout, 'message')
    .filter(({ attributes }) => attributes.type === 'error')
    .map(({ inner }) => xmlText(inner));
  throw new CommandExecutionError(
    `Zypper command failure: ${errors.join('\n') || stderr.trim() || "Check Zypper's logs."}`,
  );
};
