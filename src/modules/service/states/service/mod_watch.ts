import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { changed, failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, CommandExecutionError, type StateReturn } from '../../../api.ts';
import {
  actionOptions,
  blockingOption,
  delay,
  isUp,
  type ServiceOptions,
} from '../../service-checks.ts';

/** Called by the engine when something that a service watches has changed. */
export const mod_watch = async (
  name: string,
  {
    sfun,
    reload = false,
    full_restart = false,
    force = false,
    init_delay = null,
    ...options
  }: ServiceOptions & { sfun: string },
): Promise<StateReturn> => {
  if (sfun !== 'dead' && sfun !== 'running')
    return failed(name, `Unable to trigger watch for service.${sfun}`);
  const up = await isUp(name, options);
  if (sfun === 'dead' && !up) return unchanged(name, 'Service is already stopped');
  const action = sfun === 'dead' ? stopping : up ? reaction(reload, full_restart, force) : starting;
  if (__opts__.test)
    return would(name, `Service is set to be ${action.done}`, inPlan({ [name]: true }));
  let result: unknown;
  try {
    if (action === starting) await salt('service.stop')(name).catch(() => false);
    result = await salt(action.fun)(
      name,
      action === stopping ? blockingOption(options) : actionOptions(options),
    );
  } catch (error) {
    if (!(error instanceof CommandExecutionError)) throw error;
    return action === stopping
      ? failed(name, `Failed to stop the service: ${error.message}`, { [name]: false })
      : failed(name, error.message);
  }
  await delay(init_delay);
  return result
    ? changed(name, `Service ${action.done}`, { [name]: true })
    : failed(name, `Failed to ${action.verb} the service`, { [name]: false });
};

type Action = { readonly fun: string; readonly verb: string; readonly done: string };

const starting: Action = { fun: 'service.start', verb: 'start', done: 'started' };

const stopping: Action = { fun: 'service.stop', verb: 'stop', done: 'stopped' };

const reaction = (reload: boolean, fullRestart: boolean, force: boolean): Action => {
  if (reload && force && hasFunction('service.force_reload'))
    return {
      fun: 'service.force_reload',
      verb: 'forcefully reload',
      done: 'forcefully reloaded',
    };
  if (reload && hasFunction('service.reload'))
    return { fun: 'service.reload', verb: 'reload', done: 'reloaded' };
  if (fullRestart && hasFunction('service.full_restart'))
    return { fun: 'service.full_restart', verb: 'fully restart', done: 'fully restarted' };
  return { fun: 'service.restart', verb: 'restart', done: 'restarted' };
};
