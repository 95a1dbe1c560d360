import { messageOf } from '../../../../protocol/error.ts';
import { salt } from '../../../_shared/states/call.ts';
import { changed, failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../../api.ts';
import { run } from './run.ts';
import { running } from './running.ts';

/**
 * Makes sure that containers do not run.
 *
 * @param name the container
 * @param containers several of them
 * @param shutdown_timeout seconds until they are killed
 * @param unpause true: also those that are paused
 * @param error_on_absent false: a missing container counts as stopped
 * @unknown ignored
 * @example
 * web:
 *   docker_container.stopped
 */
export const stopped = async (
  name: string,
  {
    containers = null,
    shutdown_timeout = null,
    unpause = false,
    error_on_absent = true,
  }: {
    containers?: string[] | null;
    shutdown_timeout?: number | null;
    unpause?: boolean;
    error_on_absent?: boolean;
  } = {},
): Promise<StateReturn> => {
  const targets = (containers ?? [name]).map(String);
  try {
    const states = new Map<string, string[]>();
    for (const target of targets) {
      const there: boolean = await salt('docker.exists')(target);
      const state: string = there ? await salt('docker.state')(target) : 'absent';
      states.set(state, [...(states.get(state) ?? []), target]);
    }
    const { absent: gone = [], paused = [], running: live = [] } = Object.fromEntries(states);
    const errors = [
      ...(error_on_absent && gone.length > 0
        ? [`The following container(s) are absent: ${gone.join(', ')}`]
        : []),
      ...(!unpause && paused.length > 0
        ? [`The following container(s) are paused: ${paused.join(', ')}`]
        : []),
    ];
    if (errors.length > 0) return failed(name, errors.join('. '));
    const due = [...live, ...paused];
    if (due.length === 0) {
      const who =
        targets.length === 1 ? `Container '${targets[0]}' is` : 'All specified containers are';
      return unchanged(name, `${who} ${gone.length > 0 ? 'absent or ' : ''}not running`);
    }
    if (__opts__.test)
      return would(
        name,
        `The following container(s) will be stopped: ${due.join(', ')}`,
        inPlan(Object.fromEntries(due.map(each => [each, 'stopped']))),
      );
    const changes: PlainDict = {};
    for (const target of due)
      changes[target] = await salt('docker.stop')(target, { timeout: shutdown_timeout, unpause });
    return changed(name, `The following container(s) were stopped: ${due.join(', ')}`, changes);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/**
 * Makes sure that a container does not exist.
 *
 * @param name the container
 * @param force true: also if it is running
 * @example
 * web:
 *   docker_container.absent:
 *     - force: true
 */
export const absent = async (
  name: string,
  { force = false }: { force?: boolean } = {},
): Promise<StateReturn> => {
  try {
    if (!(await salt('docker.exists')(name)))
      return unchanged(name, `Container '${name}' does not exist`);
    const state: string = await salt('docker.state')(name);
    if (state !== 'stopped' && !force)
      return failed(name, 'Container is running, set force to True to forcibly remove it');
    if (__opts__.test)
      return would(name, `Container '${name}' will be removed`, inPlan({ removed: [name] }));
    const removed = await salt('docker.rm')(name, { force });
    const how = state === 'stopped' ? 'Successfully' : 'Forcibly';
    return changed(name, `${how} removed container '${name}'`, { removed });
  } catch (error) {
    return failed(name, `Failed to remove container '${name}': ${messageOf(error)}`);
  }
};

/**
 * Reacts to a change of a watched state.
 *
 * @param name the container
 */
export const mod_watch = async (
  name: string,
  { sfun = null, ...options }: { sfun?: string | null; [argument: string]: Plain | undefined } = {},
): Promise<StateReturn> => {
  if (sfun === 'running')
    return (options.watch_action ?? 'force') === 'force'
      ? running(name, { ...options, force: true })
      : running(name, { ...options, send_signal: true, force: false });
  if (sfun === 'run') return run(name, options as Parameters<typeof run>[1]);
  if (sfun === 'stopped') return stopped(name, options as Parameters<typeof stopped>[1]);
  return failed(name, `watch requisite is not implemented for ${sfun}`);
};
