import { type CommandResult, runCommand } from '../_shared/commands/run-command.ts';
import { CommandExecutionError, type Plain } from '../api.ts';

export type DockerInput = {
  readonly stdin?: string;
  /** Variables for the docker program itself; null removes one. */
  readonly env?: Readonly<Record<string, string | null>>;
};

/** Runs `docker` and returns the whole result. Throws with its error output. */
export const dockerWith = async (input: DockerInput, ...args: string[]): Promise<CommandResult> => {
  const result = await runCommand(['docker', ...args], {
    plainLocale: true,
    cwd: '/',
    live: ['pull', 'push', 'build', 'compose', 'image'].includes(args[0] ?? ''),
    ...input,
  });
  if (result.code === 0) return result;
  throw new CommandExecutionError(
    result.stderr.trim().replace(/^Error response from daemon: /, '') || `docker ${args[0]} failed`,
  );
};

/** Runs `docker` and returns its output. Throws with its error output. */
export const docker = async (...args: string[]): Promise<string> =>
  (await dockerWith({}, ...args)).stdout;

export type Inspected = { readonly [key: string]: Plain };

/** Returns docker's information about an object; undefined if none of that name exists. */
export const inspect = async (
  kind: 'container' | 'image' | 'network' | 'volume',
  name: string,
): Promise<Inspected | undefined> => {
  const { code, stdout, stderr } = await runCommand(['docker', kind, 'inspect', '--', name], {
    plainLocale: true,
    cwd: '/',
  });
  if (code === 0) return (JSON.parse(stdout) as Inspected[])[0];
  if (/no such|not found/i.test(stderr)) return undefined;
  throw new CommandExecutionError(stderr.trim() || `docker ${kind} inspect failed`);
};
