import { newReturn } from '../../../_shared/states/returns.ts';
import type { StateReturn } from '../../../api.ts';
import { wrongArguments } from '../../command-state.ts';
import type { RunArguments } from './run.ts';

/**
 * Runs a command only when something it watches has changed. `cmd.run` with `onchanges` is the
 * newer way to say so.
 *
 * @param name the command line, run by the shell
 * @param cwd the folder to run in
 * @param root run it inside this root folder (chroot)
 * @param runas the account to run as
 * @param shell the shell
 * @param env variables to add, a dict or a list of dicts
 * @param stateful as in `cmd.run`
 * @param umask octal mask for new files
 * @param output_loglevel level at which the output is logged
 * @param hide_output true: the output is not in the result
 * @param timeout seconds after which the command is killed
 * @param success_retcodes exit statuses that count as 0
 * @unknown ignored
 * @example
 * newaliases:
 *   cmd.wait:
 *     - watch:
 *       - file: /etc/aliases
 */
export const wait = async (name: string, { ...options }: RunArguments = {}): Promise<StateReturn> =>
  wrongArguments(name, options) ?? newReturn(name);

/**
 * Old name of `cmd.wait`.
 *
 * @unknown ignored
 */
export const watch = wait;
