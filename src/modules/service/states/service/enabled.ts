import { failed, unchanged, would } from '../../../_shared/states/returns.ts';
import { __context__, __opts__, type StateReturn } from '../../../api.ts';
import { withBoot } from '../../service-boot.ts';
import { isServiceAvailable, type ServiceOptions, startsAtBoot } from '../../service-checks.ts';

/**
 * A service starts at boot. Whether it runs now does not matter.
 *
 * @param name the service
 * @param unmask true: lift its mask first (systemd)
 * @param runlevels the runlevels that count (OpenRC)
 * @unknown ignored
 * @example
 * nginx:
 *   service.enabled
 */
export const enabled = async (name: string, options: ServiceOptions = {}): Promise<StateReturn> => {
  __context__['service.state'] = 'enabled';
  if (!(await isServiceAvailable(name)))
    return __opts__.test
      ? would(
          name,
          `Service ${name} not present; if created in this state run, it would have been enabled`,
        )
      : failed(name, `The named service ${name} is not available`);
  return withBoot(
    unchanged(name, ''),
    true,
    await startsAtBoot(name, options),
    null,
    options,
    true,
  );
};

/**
 * A service does not start at boot. Whether it runs now does not matter.
 *
 * @param name the service
 * @param runlevels the runlevels that count (OpenRC)
 * @unknown ignored
 * @example
 * cups:
 *   service.disabled
 */
export const disabled = async (
  name: string,
  options: ServiceOptions = {},
): Promise<StateReturn> => {
  __context__['service.state'] = 'disabled';
  if (!(await isServiceAvailable(name)))
    return unchanged(name, `The named service ${name} is not available`);
  return withBoot(
    unchanged(name, ''),
    false,
    await startsAtBoot(name, options),
    null,
    options,
    true,
  );
};
