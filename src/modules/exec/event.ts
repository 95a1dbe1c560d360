/**
 * Events for whoever reads the run: there is no bus without a daemon, so they arrive on the
 * control node as lines of its log, with the host they come from.
 */
import { getLogger, type Plain } from '../api.ts';

const log = getLogger('event');

/**
 * Says that something happened.
 * @param tag what, as a path: `myco/web/ready`
 * @param data details
 */
export const send = (
  tag: string,
  { data = null }: { data?: Plain; [key: string]: Plain | undefined } = {},
): boolean => fire(data, tag);

/**
 * The same with its arguments in Salt's older order.
 * @param data details
 * @param tag what, as a path
 */
export const fire = (data: Plain, tag: string): boolean => {
  log.info(`${tag} ${JSON.stringify(data)}`);
  return true;
};

/** The same: the control node is the only one that listens. */
export const fire_master = fire;
