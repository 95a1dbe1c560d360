import { type CheckFailed, runCheckCmd } from '../../check-cmd.ts';

/**
 * Runs a `check_cmd` on a file that is not in place yet.
 *
 * @param cmd the command
 * @param filename the file, added to the command
 *
 * @example await mod_run_check_cmd('visudo -c -f', '/tmp/sudoers.new')
 */
export const mod_run_check_cmd = async (
  cmd: string,
  filename: string,
): Promise<true | CheckFailed> => runCheckCmd(cmd, filename);
