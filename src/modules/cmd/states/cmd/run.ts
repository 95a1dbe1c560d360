/** Runs commands and scripts, always or when another state made changes. */
import { messageOf } from '../../../../protocol/error.ts';
import { failed } from '../../../_shared/states/returns.ts';
import { __grains__, __opts__, __salt__, type PlainDict, type StateReturn } from '../../../api.ts';
import {
  type CommandArguments,
  commandIn,
  finish,
  isExistingFolder,
  testNameOf,
  wouldRun,
  wrongArguments,
} from '../../command-state.ts';

export type RunArguments = CommandArguments & {
  /** run it inside this root folder (chroot) */
  root?: string | null;
  ignore_timeout?: boolean;
  python_shell?: boolean;
  redirect_stderr?: boolean;
  template?: string | null;
};

/**
 * Runs a command. It runs every time, unless `creates`, `unless`, `onlyif` or `onchanges` is used.
 *
 * @param name the command line, run by the shell
 * @param runas the account to run as, in the environment of its login
 * @param group the group to run with
 * @param shell the shell, by default the one of the grain `shell`
 * @param prepend_path folders to prepend to PATH
 * @param stateful true: the last line of the command's output reports its result, `changed=yes comment='…'`, or
 *   as JSON; `- test_name: …` names the command to run in test mode
 * @param output_loglevel level at which the output is logged, `quiet` for not at all
 * @param ignore_timeout true: a command killed by `timeout` counts as a success
 * @param use_vt accepted, but has no effect: output is read through pipes
 * @param rstrip false: keep empty lines at the end of the output
 * @param ignore_retcode true: a failure is not logged as one
 * @param python_shell false: the words are run as they are, without a shell
 * @param redirect_stderr true: redirect stderr to stdout
 * @param reset_system_locale false: the command keeps the locale of the login
 * @param template refused: an SLS is a template itself
 * @unknown ignored
 * @example
 * make install:
 *   cmd.run:
 *     - cwd: /usr/src/tool
 *     - creates: /usr/local/bin/tool
 */
export const run = async (
  name: string,
  {
    cwd = null,
    root = null,
    runas = null,
    group = null,
    shell = null,
    env = null,
    prepend_path = null,
    stateful = false,
    umask = null,
    output_loglevel = 'debug',
    hide_output = false,
    timeout = null,
    ignore_timeout = false,
    use_vt = false,
    success_retcodes = null,
    success_stdout = null,
    success_stderr = null,
    stdin = null,
    clean_env = false,
    rstrip = true,
    ignore_retcode = false,
    python_shell = true,
    redirect_stderr = false,
    reset_system_locale = true,
    output_encoding = null,
    password: _password = null,
    template = null,
    bg = false,
  }: RunArguments = {},
): Promise<StateReturn> => {
  const line = commandIn(name, stateful);
  const refused = wrongArguments(name, { env, output_encoding });
  if (refused) return refused;
  if (__opts__.test && !testNameOf(stateful))
    return wouldRun(name, `Command "${line}" would have been executed`, stateful, { cmd: name });
  if (cwd && !isExistingFolder(cwd))
    return failed(name, `Desired working directory "${cwd}" is not available`);
  const options = {
    cwd,
    runas,
    group,
    shell: shell ?? __grains__.shell ?? '/bin/sh',
    env: env as PlainDict | PlainDict[] | null,
    prepend_path,
    umask,
    output_loglevel,
    hide_output,
    timeout,
    use_vt,
    success_retcodes,
    success_stdout,
    success_stderr,
    stdin,
    clean_env,
    rstrip,
    ignore_retcode,
    python_shell,
    redirect_stderr,
    reset_system_locale,
    template,
    bg,
  };
  let outcome: PlainDict;
  try {
    outcome = root
      ? await __salt__['cmd.run_chroot'](root, line, options)
      : await __salt__['cmd.run_all'](line, options);
  } catch (error) {
    return failed(name, messageOf(error));
  }
  const timedOut = outcome.retcode === 1 && String(outcome.stdout).includes('Timed out after');
  const changes = ignore_timeout && timedOut ? { ...outcome, retcode: 0 } : outcome;
  return finish(name, changes, `Command "${line}" run`, stateful);
};
