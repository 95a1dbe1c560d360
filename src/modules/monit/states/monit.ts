/** Manages the services that monit watches. */
import { messageOf } from '../../../protocol/error.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('monit.summary') || [false, 'monit is not installed.'];

type Summary = { [kind: string]: { [name: string]: string } | string };

/** Returns monit's status of a service, or an error message. */
const statusOf = async (name: string): Promise<{ status: string } | { fault: string }> => {
  const found: Summary = await salt('monit.summary')(name);
  if (typeof found.monit === 'string') return { fault: `The monit ${found.monit}.` };
  for (const services of Object.values(found)) {
    const status = typeof services === 'object' ? services[name] : undefined;
    if (status !== undefined) return { status };
  }
  return { fault: `${name} not found in configuration.` };
};

const isWatched = (status: string): boolean =>
  /unmonitor pending/i.test(status)
    ? false
    : /monitor pending/i.test(status) || !/not monitored/i.test(status);

const watch = async (name: string, wanted: boolean): Promise<StateReturn> => {
  try {
    const found = await statusOf(name);
    if ('fault' in found) return failed(name, found.fault);
    if (isWatched(found.status) === wanted)
      return unchanged(name, `${name} is ${wanted ? 'being being' : 'not being'} monitored.`);
    const word = wanted ? 'monitor' : 'unmonitor';
    const changes = { [name]: wanted ? 'Running' : 'Not monitored' };
    if (__opts__.test) return would(name, `Service ${name} is set to be ${word}ed.`, changes);
    if (!(await salt(`monit.${word}`)(name)))
      return failed(name, `monit could not ${word} ${name}.`);
    const comment = `${name} ${wanted ? 'started to be' : 'stopped being'} monitored.`;
    return changed(name, comment, changes);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/**
 * Makes sure that monit watches a service.
 *
 * @param name the service, as monit's configuration names it
 * @example
 * nginx:
 *   monit.monitor
 */
export const monitor = async (name: string): Promise<StateReturn> => watch(name, true);

/**
 * Makes sure that monit does not watch a service.
 *
 * @param name the service, as monit's configuration names it
 * @example
 * nginx:
 *   monit.unmonitor
 */
export const unmonitor = async (name: string): Promise<StateReturn> => watch(name, false);
