import { runCommand } from '../_shared/commands/run-command.ts';
import { redactPasswords, splitLogin } from '../_shared/sources/url-login.ts';
import { CommandExecutionError } from '../api.ts';

/** Where svn runs, as whom, and as whom it asks the server. */
export type SvnWhere = {
  readonly cwd: string;
  readonly user?: string | null | undefined;
  readonly username?: string | null | undefined;
  readonly password?: string | null | undefined;
};

/**
 * Runs svn and returns its output. Passwords, also those in URLs, go to it through a pipe.
 *
 * @throws CommandExecutionError when it fails
 */
export const runSvn = async (
  command: string,
  { cwd, user, ...login }: SvnWhere,
  given: readonly string[],
): Promise<string> => {
  const split = given.map(splitLogin);
  const own = split.find(({ https_pass }) => https_pass !== undefined);
  const username = login.username || own?.https_user;
  const password = login.password || own?.https_pass;
  const args = split.map(({ url }) => url);
  const { code, stdout, stderr } = await runCommand(
    [
      ...(['svn', '--non-interactive', command] as const),
      ...(username ? ['--username', username] : []),
      ...(password ? ['--password-from-stdin'] : []),
      ...args,
    ],
    {
      cwd,
      // UTF-8 for names of files: svn refuses those that its locale cannot say.
      env: { LC_ALL: 'C.UTF-8', LANGUAGE: 'C' },
      ...(user ? { runas: user } : {}),
      ...(password ? { stdin: `${password}\n` } : {}),
    },
  );
  if (code === 0) return stdout.trimEnd();
  throw new CommandExecutionError(
    redactPasswords(`${stderr.trimEnd()}\n\nsvn --non-interactive ${[command, ...args].join(' ')}`),
  );
};

/** The facts of `svn info`, in order, of each of what was asked for. */
export const svnFacts = (text: string): [key: string, value: string][][] =>
  text
    .split('\n\n')
    .map(part =>
      [...part.matchAll(/^([^:\n]+):\s+(\S.*)$/gm)].map(
        ([, key = '', value = '']): [string, string] => [key, value],
      ),
    );

/** The revision of a working copy or an address; undefined when it is neither. */
export const svnRevision = async (
  where: SvnWhere,
  args: readonly string[],
): Promise<string | undefined> => {
  try {
    const [facts = []] = svnFacts(await runSvn('info', where, args));
    return facts.find(([key]) => key === 'Revision')?.[1];
  } catch {
    return undefined;
  }
};
