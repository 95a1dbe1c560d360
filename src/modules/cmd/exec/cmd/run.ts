/**
 * Runs commands and scripts.
 *
 * @platform all
 */
import { CommandExecutionError } from '../../../api.ts';
import { execute } from '../../cmd-execute.ts';
import type { RunOptions, RunResult } from '../../cmd-options.ts';

/** After the common ones, so that a second word of the command line is `cwd` as in Salt. */
type Redirect = {
  /** whether stderr goes into stdout; so it does by default in `cmd.run` */
  redirect_stderr?: boolean;
};

/**
 * Runs a command and gives its output, stdout and stderr together.
 *
 * A text is run by the shell; a list of words is run as it is, without any shell
 * (`python_shell=False` splits a text into words instead). Of each stream 48 MB are kept; a line at
 * the end says how much more there was.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh 'web*' cmd.run 'ls -l | head' runas=www-data
 */
export const run = async (
  cmd: string | string[],
  options: RunOptions & Redirect = {},
): Promise<string> => {
  const { redirect_stderr = true } = options;
  const { merged, stdout, retcode } = await execute(cmd, options);
  const output = options.hide_output ? '' : redirect_stderr ? merged : stdout;
  if (options.raise_err && retcode !== 0) throw new CommandExecutionError(output);
  return output;
};

/**
 * Runs a command line by a shell whatever `python_shell` says; otherwise as `cmd.run`.
 *
 * @param cmd the command line
 * @example tsalt-ssh '*' cmd.shell 'ls /etc/*.conf'
 */
export const shell = async (cmd: string, options: RunOptions = {}): Promise<string> =>
  run(cmd, { ...options, python_shell: true });

/**
 * Runs a command and gives its stdout. Arguments as `cmd.run`.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh '*' cmd.run_stdout 'ls -l'
 */
export const run_stdout = async (
  cmd: string | string[],
  options: RunOptions = {},
): Promise<string> => (await run_all(cmd, options)).stdout;

/**
 * Runs a command and gives its stderr. Arguments as `cmd.run`.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh '*' cmd.run_stderr 'ls /no/such'
 */
export const run_stderr = async (
  cmd: string | string[],
  options: RunOptions = {},
): Promise<string> => (await run_all(cmd, options)).stderr;

/**
 * Runs a command and gives pid, retcode, stdout and stderr. Arguments as `cmd.run`.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh '*' cmd.run_all 'ls -l' cwd=/tmp
 */
export const run_all = async (
  cmd: string | string[],
  options: RunOptions & Redirect = {},
): Promise<RunResult> => {
  const { redirect_stderr = false } = options;
  const { pid, retcode, stdout, stderr, merged } = await execute(cmd, options);
  if (options.hide_output) return { pid, retcode, stdout: '', stderr: '' };
  return redirect_stderr
    ? { pid, retcode, stdout: merged, stderr: '' }
    : { pid, retcode, stdout, stderr };
};

/**
 * Runs a command and gives its exit status. Arguments as `cmd.run`.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh '*' cmd.retcode 'test -e /etc/motd'
 */
export const retcode = async (cmd: string | string[], options: RunOptions = {}): Promise<number> =>
  (await execute(cmd, options)).retcode;

/**
 * Starts a command in the background and gives its pid. Arguments as `cmd.run`.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh '*' cmd.run_bg 'sleep 60'
 */
export const run_bg = async (
  cmd: string | string[],
  options: RunOptions = {},
): Promise<{ pid: number }> => ({ pid: (await execute(cmd, { ...options, bg: true })).pid });
