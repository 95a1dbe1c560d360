/** Services run or do not, now and at boot, by whatever starts them there. */

import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __context__, __opts__, CommandExecutionError, type StateReturn } from '../../../api.ts';
import { withBoot } from '../../service-boot.ts';
import {
  actionOptions,
  checkFirst,
  delay,
  isUp,
  type ServiceOptions,
  startsAtBoot,
  toBoolean,
} from '../../service-checks.ts';
import { unmasked } from './masked.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('service.status') || [
    false,
    'service.status is not available: the init system of this host is not known.',
  ];

/**
 * A service runs. When something it watches changes it is restarted, or reloaded with
 * `reload: true`.
 *
 * @param name the service
 * @param enable true: it starts at boot; false: it does not; not given: as it is
 * @param sig text by which its process is found (init systems without a status command)
 * @param init_delay seconds to wait before looking whether it is up
 * @param no_block true: do not wait until it is up (systemd)
 * @param unmask true: lift its mask first (systemd)
 * @param unmask_runtime true: lift its mask of this boot first (systemd)
 * @param wait seconds for which a service that is just starting is waited for (systemd)
 * @param timeout alias of `wait`
 * @param reload true: reload it instead of restarting when something it watches changes
 * @param full_restart true: stop and start it instead (where the init system knows that)
 * @param force true: with `reload`, restart where it cannot reload
 * @param runlevels the runlevels that count (OpenRC)
 * @unknown ignored
 * @example
 * nginx:
 *   service.running:
 *     - enable: true
 *     - reload: true
 *     - watch:
 *       - file: /etc/nginx/nginx.conf
 */
export const running = async (name: string, options: ServiceOptions = {}): Promise<StateReturn> => {
  __context__['service.state'] = 'running';
  const early = await checkFirst(name, options, 'started');
  if (early) return early;
  const { enable, init_delay } = options;
  const before = await isUp(name, options);
  const bootBefore = await startsAtBoot(name, options);
  const lifted = await unmaskFirst(name, options);
  if (lifted.result === false) return lifted;
  if (before) {
    const comment = [`The service ${name} is already running`, lifted.comment]
      .filter(part => part !== '')
      .join('\n');
    return withBoot({ ...lifted, comment }, toBoolean(enable), bootBefore, null, options);
  }
  if (__opts__.test)
    return would(
      name,
      [`Service ${name} is set to start`, lifted.comment].filter(part => part !== '').join('\n'),
      { ...lifted.changes, ...inPlan({ [name]: true }) },
    );
  try {
    const started = await salt('service.start')(name, actionOptions(options));
    if (started === false)
      return withBoot(
        failed(name, `Service ${name} failed to start`),
        toBoolean(enable),
        bootBefore,
        false,
        options,
      );
  } catch (error) {
    if (error instanceof CommandExecutionError) return failed(name, error.message);
    throw error;
  }
  await delay(init_delay);
  const after = await isUp(name, options);
  const state: StateReturn = {
    name,
    changes: { ...lifted.changes, ...(after === before ? {} : { [name]: after }) },
    result: after,
    comment: after ? `Started service ${name}` : `Service ${name} failed to start`,
  };
  const done = await withBoot(state, toBoolean(enable), bootBefore, after, options);
  const comment = [
    String(done.comment),
    ...(init_delay ? [`Delayed return for ${init_delay} seconds`] : []),
    ...(lifted.comment === '' ? [] : [String(lifted.comment)]),
  ].join('\n');
  return { ...done, comment };
};

const unmaskFirst = async (name: string, options: ServiceOptions): Promise<StateReturn> =>
  options.unmask
    ? unmasked(name, { runtime: options.unmask_runtime ?? false })
    : unchanged(name, '');
