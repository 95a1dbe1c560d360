/** Manages Docker volumes. */
import { messageOf } from '../../../protocol/error.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, inPlan, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('docker.create_volume') || [false, 'docker is not installed.'];

/**
 * Makes sure that a volume exists. A volume with another driver is replaced only with `force`; its
 * data is lost.
 *
 * @param name the volume
 * @param driver its driver; by default, any driver is accepted
 * @param driver_opts options of the driver
 * @param force remove and recreate a volume with another driver
 * @example
 * data:
 *   docker_volume.present:
 *     - driver: local
 *     - driver_opts:
 *       - type: tmpfs
 *       - device: tmpfs
 */
export const present = async (
  name: string,
  {
    driver = null,
    driver_opts = null,
    force = false,
  }: { driver?: string | null; driver_opts?: Plain; force?: boolean } = {},
): Promise<StateReturn> => {
  try {
    const found: PlainDict | null = await salt('docker.inspect_volume')(name);
    const isOther = found !== null && driver !== null && found.Driver !== driver;
    if (found && !isOther) return unchanged(name, `Volume '${name}' already exists.`);
    if (isOther && !force)
      return failed(
        name,
        `Driver for existing volume '${name}' ('${found.Driver}') does not match specified driver ('${driver}') and force is False`,
      );
    if (__opts__.test)
      return would(
        name,
        isOther
          ? `The volume '${name}' will be replaced with a new one using the driver '${driver}'`
          : `The volume '${name}' will be created`,
        inPlan({ ...(isOther ? { removed: true } : {}), created: name }),
      );
    if (isOther) await salt('docker.remove_volume')(name);
    const created = await salt('docker.create_volume')(name, { driver, driver_opts });
    return changed(name, `Volume '${name}' was created`, {
      ...(isOther ? { removed: true } : {}),
      created,
    });
  } catch (error) {
    return failed(name, `Failed to create volume '${name}': ${messageOf(error)}`);
  }
};

/**
 * Makes sure that a volume does not exist. Its data is lost.
 *
 * @param name the volume
 * @param driver accepted, but has no effect: a volume is known by its name
 * @example
 * data:
 *   docker_volume.absent
 */
export const absent = async (
  name: string,
  { driver: _ = null }: { driver?: string | null } = {},
): Promise<StateReturn> => {
  try {
    if (!(await salt('docker.inspect_volume')(name)))
      return unchanged(name, `Volume '${name}' already absent`);
    if (__opts__.test)
      return would(name, `The volume '${name}' will be removed`, inPlan({ removed: true }));
    await salt('docker.remove_volume')(name);
    return changed(name, `Removed volume '${name}'`, { removed: true });
  } catch (error) {
    return failed(name, `Failed to remove volume '${name}': ${messageOf(error)}`);
  }
};
