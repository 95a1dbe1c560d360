import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, CommandExecutionError, type StateReturn } from '../../../api.ts';

/**
 * A unit is masked: nothing can start it (systemd).
 *
 * @param name the unit
 * @param runtime true: for this boot only
 * @example
 * cups:
 *   service.masked
 */
export const masked = async (
  name: string,
  { runtime = false }: { runtime?: boolean } = {},
): Promise<StateReturn> => changeMask(name, runtime, true);

/**
 * A unit is not masked (systemd).
 *
 * @param name the unit
 * @param runtime true: the mask of this boot
 * @example
 * cups:
 *   service.unmasked
 */
export const unmasked = async (
  name: string,
  { runtime = false }: { runtime?: boolean } = {},
): Promise<StateReturn> => changeMask(name, runtime, false);

const changeMask = async (
  name: string,
  runtime: boolean,
  masking: boolean,
): Promise<StateReturn> => {
  if (!hasFunction('service.masked'))
    return failed(name, 'Service masking not available on this minion');
  const kind = runtime ? 'runtime masked' : 'masked';
  const done = masking ? kind : runtime ? 'runtime unmasked' : 'unmasked';
  const changes = { [kind]: { old: !masking, new: masking } };
  try {
    if ((await salt('service.masked')(name, { runtime })) === masking)
      return unchanged(name, `Service ${name} ${masking ? 'is' : 'was'} already ${done}`);
    if (__opts__.test) return would(name, `Service ${name} would be ${done}`, changes);
    await salt(masking ? 'service.mask' : 'service.unmask')(name, { runtime });
    return (await salt('service.masked')(name, { runtime })) === masking
      ? changed(name, `Service ${name} was ${done}`, changes)
      : failed(name, `Failed to ${masking ? 'mask' : 'unmask'} service ${name}`);
  } catch (error) {
    if (error instanceof CommandExecutionError) return failed(name, error.message);
    throw error;
  }
};
