import { salt } from '../../../_shared/states/call.ts';
import { failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __context__, __opts__, CommandExecutionError, type StateReturn } from '../../../api.ts';
import { withBoot } from '../../service-boot.ts';
import {
  blockingOption,
  checkFirst,
  delay,
  isMisuse,
  isUp,
  type ServiceOptions,
  startsAtBoot,
  toBoolean,
} from '../../service-checks.ts';

/**
 * A service does not run.
 *
 * @param name the service
 * @param enable true: it starts at boot; false: it does not; not given: as it is
 * @param sig text by which its process is found (init systems without a status command)
 * @param init_delay seconds to wait before looking whether it is down
 * @param no_block true: do not wait until it is down (systemd)
 * @param runlevels the runlevels that count (OpenRC)
 * @unknown ignored
 * @example
 * cups:
 *   service.dead:
 *     - enable: false
 */
export const dead = async (name: string, options: ServiceOptions = {}): Promise<StateReturn> => {
  __context__['service.state'] = 'dead';
  const early = await checkFirst(name, options, 'stopped');
  if (early)
    return early.result === false && !isMisuse(options) ? { ...early, result: true } : early;
  const enable = toBoolean(options.enable);
  const bootBefore = await startsAtBoot(name, options);
  if (!(await isUp(name, options)))
    return withBoot(
      unchanged(name, `The service ${name} is already dead`),
      enable,
      bootBefore,
      null,
      options,
    );
  if (__opts__.test)
    return would(name, `Service ${name} is set to be killed`, inPlan({ [name]: true }));
  const refusal = await refusalToStop(name, options);
  if (refusal !== undefined)
    return withBoot(
      failed(name, `Service ${name} failed to die${refusal}`),
      enable,
      bootBefore,
      true,
      options,
    );
  await delay(options.init_delay);
  const up = await isUp(name, options);
  return withBoot(
    {
      name,
      changes: up ? {} : { [name]: false },
      result: !up,
      comment: up ? `Service ${name} failed to die` : `Service ${name} was killed`,
    },
    enable,
    bootBefore,
    up,
    options,
  );
};

/** The comment on a service that could not be stopped; undefined when it was. */
const refusalToStop = async (
  name: string,
  options: ServiceOptions,
): Promise<string | undefined> => {
  try {
    const stopped: unknown = await salt('service.stop')(name, { ...blockingOption(options) });
    return stopped === false ? '' : undefined;
  } catch (error) {
    if (error instanceof CommandExecutionError) return `: ${error.message}`;
    throw error;
  }
};
