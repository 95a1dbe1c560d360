import { type CommandResult, runCommand } from '../_shared/commands/run-command.ts';
import { redactPasswords } from '../_shared/sources/url-login.ts';
import { CommandExecutionError } from '../api.ts';

type Where = { readonly cwd?: string; readonly user: string | null };

/** Runs hg, its words in English. */
export const hg = async (args: readonly string[], { cwd, user }: Where): Promise<CommandResult> =>
  runCommand(['hg', '--noninteractive', ...args], {
    // UTF-8 for file names; HGPLAIN keeps the account's settings from changing the output.
    env: { LC_ALL: 'C.UTF-8', LANGUAGE: 'C', HGPLAIN: '1' },
    ...(cwd ? { cwd } : {}),
    ...(user ? { runas: user } : {}),
  });

/**
 * Runs hg and returns its output.
 *
 * @throws CommandExecutionError if hg fails
 */
export const hgDone = async (args: readonly string[], where: Where): Promise<string> => {
  const { code, stdout, stderr } = await hg(args, where);
  if (code !== 0)
    throw new CommandExecutionError(
      redactPasswords(`Hg command failed: ${(stderr || stdout).trimEnd()}`),
    );
  return stdout.trimEnd();
};

/** The option for a private SSH key. */
export const sshFlag = (identity: string | null): string[] =>
  identity ? ['--ssh', `ssh -i '${identity.replaceAll("'", "'\\''")}'`] : [];
