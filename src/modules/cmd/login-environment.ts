import { randomUUID } from 'node:crypto';
import { runCommand } from '../_shared/commands/run-command.ts';
import { which } from '../_shared/commands/which.ts';
import { getLogger } from '../api.ts';

const log = getLogger('cmd');
/** A profile that waits for input must not block the run forever. */
const patience = 60;

/**
 * Returns the variables of an account after its login: those of PAM and of its shell's profile. Salt
 * uses them to run commands with `runas`. Empty if they cannot be read: only root can.
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
  // A profile may print text too.
  const mark = `<<<${randomUUID()}>>>`;
  const { stdout, stderr } = await runCommand(
    [su, '-s', shell, '-', name, '-c', `printf '%s' '${mark}'; env -0; printf '%s' '${mark}'`],
    // A profile may print endlessly.
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
