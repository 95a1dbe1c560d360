import type { PlainDict } from '../../api.ts';
import { docker, inspect } from '../../lib/docker-run.ts';

/**
 * What docker knows of a network; null when it is not there.
 *
 * @param name the network
 * @example tsalt-ssh '*' docker.inspect_network front
 */
export const inspect_network = async (name: string): Promise<PlainDict | null> =>
  (await inspect('network', name)) ?? null;

/**
 * Makes a network.
 *
 * @param name the network
 * @param driver its driver
 * @param subnet its addresses
 * @param gateway its gateway
 * @param ip_range the range containers get theirs from
 * @param internal true: without a way out
 * @param attachable true: single containers may join a swarm's network
 * @param enable_ipv6 true: with IPv6
 * @param labels labels
 * @param driver_opts options of the driver
 * @example tsalt-ssh '*' docker.create_network front subnet=10.1.0.0/24
 */
export const create_network = async (
  name: string,
  {
    driver = 'bridge',
    subnet = null,
    gateway = null,
    ip_range = null,
    internal = false,
    attachable = false,
    enable_ipv6 = false,
    labels = null,
    driver_opts = null,
  }: {
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
): Promise<{ Id: string }> => {
  const pairs = (flag: string, dict: PlainDict | null): string[] =>
    Object.entries(dict ?? {}).map(([key, value]) => `--${flag}=${key}=${String(value)}`);
  const Id = await docker(
    ...['network', 'create', `--driver=${driver ?? 'bridge'}`],
    ...(subnet ? [`--subnet=${subnet}`] : []),
    ...(gateway ? [`--gateway=${gateway}`] : []),
    ...(ip_range ? [`--ip-range=${ip_range}`] : []),
    ...(internal ? ['--internal'] : []),
    ...(attachable ? ['--attachable'] : []),
    ...(enable_ipv6 ? ['--ipv6'] : []),
    ...pairs('label', labels),
    ...pairs('opt', driver_opts),
    ...['--', name],
  );
  return { Id: Id.trim() };
};

/**
 * Removes a network.
 *
 * @param name the network
 * @example tsalt-ssh '*' docker.remove_network front
 */
export const remove_network = async (name: string): Promise<true> => {
  await docker('network', 'rm', '--', name);
  return true;
};

/**
 * Connects a container with a network.
 *
 * @param container the container
 * @param network the network
 * @example tsalt-ssh '*' docker.connect_container_to_network web front
 */
export const connect_container_to_network = async (
  container: string,
  network: string,
): Promise<true> => {
  await docker('network', 'connect', '--', network, container);
  return true;
};

/**
 * Takes a container off a network.
 *
 * @param container the container
 * @param network the network
 * @example tsalt-ssh '*' docker.disconnect_container_from_network web front
 */
export const disconnect_container_from_network = async (
  container: string,
  network: string,
): Promise<true> => {
  await docker('network', 'disconnect', '--', network, container);
  return true;
};
