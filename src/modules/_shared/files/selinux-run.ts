import { CommandExecutionError, SaltInvocationError } from '../../api.ts';
import { type CommandResult, runCommand } from '../commands/run-command.ts';

export const runPlain = (argv: readonly [string, ...string[]]): Promise<CommandResult> =>
  runCommand(argv, { plainLocale: true, cwd: '/' });

/** The lines that `semanage KIND --list` prints, without the heading. */
export const semanageLines = async (kind: string): Promise<string[]> => {
  const { code, stdout, stderr } = await runPlain(['semanage', kind, '--list', '--noheading']);
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  return stdout.split('\n').filter(line => line.trim() !== '');
};

/** Adds a rule to the policy; one that is there already, in another form, is changed. */
export const semanageAdd = async (
  kind: string,
  words: readonly string[],
): Promise<CommandResult> => {
  const added = await runPlain(['semanage', kind, '--add', ...words]);
  return added.code !== 0 && /already defined/.test(added.stderr)
    ? runPlain(['semanage', kind, '--modify', ...words])
    : added;
};

/** The result of functions that change the policy. */
export type SelinuxResult = { retcode: number; stdout: string; stderr: string };

export const selinuxResult = ({ code, stdout, stderr }: CommandResult): SelinuxResult => ({
  retcode: code,
  stdout,
  stderr,
});

/** `user:role:type:level` by its parts. */
export const parseContext = (text: string): { [part: string]: string } => {
  const match = /^([^:]+):([^:]+):([^:]+):(.+)$/.exec(text.trim());
  if (!match)
    throw new SaltInvocationError(
      `Invalid SELinux context string: ${text}. Expected "sel_user:sel_role:sel_type:sel_level"`,
    );
  const [, sel_user = '', sel_role = '', sel_type = '', sel_level = ''] = match;
  return { sel_user, sel_role, sel_type, sel_level };
};
