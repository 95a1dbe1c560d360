/** Checks the status of a host, as a condition for other states. Changes nothing. */

import { salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { failed, unchanged } from '../../_shared/states/returns.ts';
import type { PlainDict, StateReturn } from '../../api.ts';

type Limit = string | number | null;

/**
 * The load is within limits. `data` of the result has it.
 *
 * @param name `1-min`, `5-min` or `15-min`
 * @param maximum no more than this
 * @param minimum no less than this
 * @example
 * 5-min:
 *   status.loadavg:
 *     - maximum: 4.0
 */
export const loadavg = async (
  name: string,
  { maximum = null, minimum = null }: { maximum?: Limit; minimum?: Limit } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const found: PlainDict = await salt('status.loadavg')();
    if (!Object.hasOwn(found, name))
      return failed(name, `Requested load average ${name} not available `);
    const load = Number(found[name]);
    const data = found[name] ?? null;
    if (minimum && maximum && Number(minimum) >= Number(maximum))
      return failed(name, 'Min must be less than max');
    if (minimum && load < Number(minimum))
      return { ...failed(name, `Load avg is below minimum of ${minimum} at ${load}`), data };
    if (maximum && load > Number(maximum))
      return { ...failed(name, `Load avg above maximum of ${maximum} at ${load}`), data };
    return { ...unchanged(name, 'Load avg in acceptable range'), data };
  });

/**
 * A process runs. `data` of the result has the pids, one per line.
 *
 * @param name a regular expression for its command line
 * @example
 * /usr/sbin/cron:
 *   status.process
 */
export const process = async (name: string): Promise<StateReturn> =>
  failOnError(name, async () => {
    const data: string = await salt('status.pid')(name);
    return data === ''
      ? failed(name, `Process signature "${name}" not found `)
      : { ...unchanged(name, `Process signature "${name}" was found `), data };
  });
