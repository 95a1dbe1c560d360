/**
 * Runs commands and scripts.
 *
 * @platform all
 */
import { CommandExecutionError } from '../../../api.ts';
import { execute } from '../../cmd-execute.ts';
import type { CommandRunOptions, RunAllResult } from '../../cmd-options.ts';

/** Follows the common options, so that the second positional argument is `cwd`, as in Salt. */
type Redirect = {
  /** whether stderr goes into stdout; the default of `cmd.run` */
  redirect_stderr?: boolean;
};

/**
 * Runs a command and returns its output, stdout and stderr together.
 *
 * A string is run by the shell; a list of words is run directly, without a shell
 * (`python_shell=False` splits a string into words instead). At most 48 MB of each stream are kept, or 60 MB of both as JSON;
 * a line at the end reports how much more there was.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh 'web*' cmd.run 'ls -l | head' runas=www-data
 */
export const run = async (
  cmd: string | string[],
  options: CommandRunOptions & Redirect = {},
): Promise<string> => {
  const { redirect_stderr = true } = options;
  const { merged, stdout, retcode } = await execute(cmd, options);
  const output = options.hide_output ? '' : redirect_stderr ? merged() : stdout;
  if (options.raise_err && retcode !== 0) throw new CommandExecutionError(output);
  return output;
};

/**
 * Runs a command line by a shell whatever `python_shell` says; otherwise as `cmd.run`.
 *
 * @param cmd the command line
 * @example tsalt-ssh '*' cmd.shell 'ls /etc/*.conf'
 */
export const shell = async (cmd: string, options: CommandRunOptions = {}): Promise<string> =>
  run(cmd, { ...options, python_shell: true });

/**
 * Runs a command and returns its stdout. Takes the arguments of `cmd.run`.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh '*' cmd.run_stdout 'ls -l'
 */
export const run_stdout = async (
  cmd: string | string[],
  options: CommandRunOptions = {},
): Promise<string> => (await run_all(cmd, options)).stdout;

/**
 * Runs a command and returns its stderr. Takes the arguments of `cmd.run`.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh '*' cmd.run_stderr 'ls /no/such'
 */
export const run_stderr = async (
  cmd: string | string[],
  options: CommandRunOptions = {},
): Promise<string> => (await run_all(cmd, options)).stderr;

/**
 * Runs a command and returns pid, retcode, stdout and stderr. Takes the arguments of `cmd.run`.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh '*' cmd.run_all 'ls -l' cwd=/tmp
 */
export const run_all = async (
  cmd: string | string[],
  options: CommandRunOptions & Redirect = {},
): Promise<RunAllResult> => {
  const { redirect_stderr = false } = options;
  const { pid, retcode, stdout, stderr, merged } = await execute(cmd, options);
  if (options.hide_output) return { pid, retcode, stdout: '', stderr: '' };
  return redirect_stderr
    ? { pid, retcode, stdout: merged(), stderr: '' }
    : { pid, retcode, stdout, stderr };
};

/**
 * Runs a command and returns its exit status. Takes the arguments of `cmd.run`.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh '*' cmd.retcode 'test -e /etc/motd'
 */
export const retcode = async (
  cmd: string | string[],
  options: CommandRunOptions = {},
): Promise<number> => (await execute(cmd, options)).retcode;

/**
 * Starts a command in the background and returns its pid. Takes the arguments of `cmd.run`.
 *
 * @param cmd the command line, or a list of words
 * @example tsalt-ssh '*' cmd.run_bg 'sleep 60'
 */
export const run_bg = async (
  cmd: string | string[],
  options: CommandRunOptions = {},
): Promise<{ pid: number }> => ({ pid: (await execute(cmd, { ...options, bg: true })).pid });
