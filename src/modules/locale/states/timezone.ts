/** Manages the time zone of the host. */
import { messageOf } from '../../../protocol/error.ts';
import { failed, newReturn } from '../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../api.ts';

/**
 * Sets the time zone of the host.
 *
 * @param name the zone, as `Europe/Berlin`
 * @param utc the hardware clock shows UTC
 *
 * @example
 * Europe/Berlin:
 *   timezone.system:
 *     - utc: True
 */
export const system = async (
  name: string,
  { utc = true }: { utc?: boolean } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  let sameZone: boolean;
  try {
    sameZone = await __salt__['timezone.zone_compare']?.(name);
  } catch (error) {
    return failed(
      ret,
      `Unable to compare desired timezone '${name}' to system timezone: ${messageOf(error)}`,
    );
  }
  const isUtc = (await __salt__['timezone.get_hwclock']?.()) !== 'localtime';
  const setClock = utc && !isUtc;
  if (sameZone && !setClock) {
    const clock = utc ? `, UTC already set to ${name}` : '';
    return { ...ret, comment: `Timezone ${name} already set${clock}` };
  }
  const messages: string[] = [];
  if (__opts__.test) {
    if (!sameZone) messages.push(`Timezone ${name} needs to be set`);
    if (setClock) messages.push('UTC needs to be set to True');
    return { ...ret, result: null, comment: messages.join(', ') };
  }
  if (!sameZone) {
    if (!(await __salt__['timezone.set_zone']?.(name)))
      return failed(ret, 'Failed to set timezone');
    ret.changes.timezone = name;
    messages.push(`Set timezone ${name}`);
  }
  if (setClock) {
    if (!(await __salt__['timezone.set_hwclock']?.('UTC')))
      return failed(ret, 'Failed to set UTC to True');
    ret.changes.utc = utc;
    messages.push('Set UTC to True');
  }
  return { ...ret, comment: messages.join(', ') };
};
