/** Processes that should not run. */

import { salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, inPlan, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../api.ts';

/**
 * No process has this text in its command line; those that do get a signal.
 *
 * @param name the text
 * @param user of this user only
 * @param signal number or name of the signal, 15 when not given
 * @example
 * /opt/old/bin/daemon:
 *   process.absent:
 *     - user: daemon
 */
export const absent = async (
  name: string,
  {
    user = null,
    signal = null,
  }: { user?: string | number | null; signal?: string | number | null } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const none = 'No matching processes running';
    if (__opts__.test) {
      const running: number[] | null = await salt('ps.pgrep')(name, { user, full: true });
      return running
        ? would(
            name,
            `${running.length} processes will be killed`,
            inPlan({ killed: running.length }),
          )
        : unchanged(name, none);
    }
    const done: { killed: number[] } | null = await salt('ps.pkill')(name, {
      user,
      full: true,
      ...(signal === null ? {} : { signal }),
    });
    return done
      ? changed(name, `Killed ${done.killed.length} processes`, { ...done })
      : unchanged(name, none);
  });
