import { randomUUID } from 'node:crypto';
import { runCommand } from '../_shared/commands/run-command.ts';
import { which } from '../_shared/commands/which.ts';
import { getLogger } from '../api.ts';

const log = getLogger('cmd');
/** A profile that waits for somebody to answer must not hold up the run for good. */
const patience = 60;

/**
 * The variables that an account has after its login: those of PAM and of its shell's profile.
 * Salt runs a command with `runas` in them. Nothing where they cannot be found out: only root can.
 *
 * @param name the account
 * @param shell the shell that reads the profile
 */
export const loginEnvironment = async (
  name: string,
  shell: string,
): Promise<Readonly<Record<string, string>>> => {
  const su = which('su');
  if (process.geteuid?.() !== 0 || su === undefined) return {};
  // A profile may print, too.
  const mark = `<<<${randomUUID()}>>>`;
  const { stdout, stderr } = await runCommand(
    [su, '-s', shell, '-', name, '-c', `printf '%s' '${mark}'; env -0; printf '%s' '${mark}'`],
    // A profile may print without end.
    { cwd: '/', timeout: patience, outputLimit: 4 * 1024 * 1024 },
  );
  const text = stdout.split(mark)[1];
  if (text === undefined) {
    log.error(`The environment of user ${name} could not be retrieved: ${stderr.trim()}`);
    return {};
  }
  return Object.fromEntries(
    text
      .split('\0')
      .filter(pair => pair.includes('='))
      .map(pair => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
};
