import { newReturn } from '../../../_shared/states/returns.ts';
import type { StateReturn } from '../../../api.ts';
import { wrongArguments } from '../../command-state.ts';
import type { RunArguments } from './run.ts';

/**
 * Runs a command only when something it watches has changed. `cmd.run` with `onchanges` is the
 * newer way to say so.
 *
 * @param name the command line, run by the shell
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
