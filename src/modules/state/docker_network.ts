/** Docker networks. */
import { __opts__, type PlainDict, type StateReturn } from '../api.ts';
import { hasFunction, messageOf, salt } from '../lib/call.ts';
import { changed, failed, unchanged, would } from '../lib/returns.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('docker.create_network') || [false, 'docker is not installed.'];

/**
 * A network is there and has these containers. One that differs is not made anew: that is an error.
 *
 * @param name the network
 * @param containers containers to connect with it
 * @param driver its driver
 * @param subnet its addresses
 * @param gateway its gateway
 * @param ip_range the range containers get theirs from
 * @param internal true: without a way out
 * @param attachable true: single containers may join a swarm's network
 * @param enable_ipv6 true: with IPv6
 * @param labels labels
 * @param driver_opts options of the driver
 * @example
 * front:
 *   docker_network.present:
 *     - subnet: 10.1.0.0/24
 *     - containers: [web]
 */
export const present = async (
  name: string,
  {
    containers = null,
    driver = null,
    subnet = null,
    ...options
  }: {
    containers?: string[] | null;
    driver?: string | null;
    subnet?: string | null;
    gateway?: string | null;
    ip_range?: string | null;
    internal?: boolean;
    attachable?: boolean;
    enable_ipv6?: boolean;
    labels?: PlainDict | null;
    driver_opts?: PlainDict | null;
  } = {},
): Promise<StateReturn> => {
  try {
    const found: PlainDict | null = await salt('docker.inspect_network')(name);
    const differs = found ? differences(found, { driver, subnet }) : [];
    if (differs.length > 0)
      return failed(
        name,
        `Network '${name}' exists with another ${differs.join(' and ')}; remove it first`,
      );
    const have = found
      ? Object.values((found.Containers ?? {}) as { [id: string]: { Name: string } }).map(
          ({ Name }) => Name,
        )
      : [];
    const missing = (containers ?? []).filter(container => !have.includes(container));
    if (found && missing.length === 0)
      return unchanged(name, `Network '${name}' already exists, and is configured as specified`);
    const changes: PlainDict = {
      ...(found ? {} : { created: true }),
      ...(missing.length > 0 ? { connected: missing } : {}),
    };
    if (__opts__.test)
      return would(
        name,
        found ? `Network '${name}' would be updated` : 'Network will be created',
        changes,
      );
    if (!found) await salt('docker.create_network')(name, { driver, subnet, ...options });
    for (const container of missing)
      await salt('docker.connect_container_to_network')(container, name);
    return changed(
      name,
      found ? `Network '${name}' was updated` : `Network '${name}' created`,
      changes,
    );
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

const differences = (
  found: PlainDict,
  { driver, subnet }: { driver: string | null; subnet: string | null },
): string[] => {
  const { Config } = (found.IPAM ?? {}) as { Config?: { Subnet?: string }[] | null };
  return [
    ...(driver && found.Driver !== driver ? ['driver'] : []),
    ...(subnet && !(Config ?? []).some(({ Subnet }) => Subnet === subnet) ? ['subnet'] : []),
  ];
};

/**
 * A network is not there; containers are taken off it first.
 *
 * @param name the network
 * @example
 * front:
 *   docker_network.absent
 */
export const absent = async (name: string): Promise<StateReturn> => {
  try {
    const found: PlainDict | null = await salt('docker.inspect_network')(name);
    if (!found) return unchanged(name, `Network '${name}' already absent`);
    if (__opts__.test) return would(name, `Network '${name}' will be removed`);
    const containers = Object.values(
      (found.Containers ?? {}) as { [id: string]: { Name: string } },
    );
    for (const { Name } of containers)
      await salt('docker.disconnect_container_from_network')(Name, name);
    await salt('docker.remove_network')(name);
    return changed(name, `Removed network '${name}'`, {
      removed: true,
      ...(containers.length > 0 ? { disconnected: containers.map(({ Name }) => Name) } : {}),
    });
  } catch (error) {
    return failed(name, messageOf(error));
  }
};
