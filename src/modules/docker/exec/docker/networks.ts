import { toList } from '../../../_shared/states/values.ts';
import type { Plain, PlainDict } from '../../../api.ts';
import { askEngine } from '../../docker-engine.ts';
import { type NetworkOptions, networkBody } from '../../docker-network-body.ts';
import { connectArgs } from '../../docker-networks.ts';
import { docker, inspect } from '../../docker-run.ts';

/**
 * Returns docker's information about a network; null if it does not exist.
 *
 * @param network_id the network, by name or id
 * @example tsalt-ssh '*' docker.inspect_network front
 */
export const inspect_network = async (network_id: string): Promise<PlainDict | null> =>
  (await inspect('network', network_id)) ?? null;

/**
 * Returns docker's information about all networks.
 *
 * @param names only these
 * @param ids only networks with these ids, which may be abbreviated
 * @example tsalt-ssh '*' docker.networks
 */
export const networks = async (
  names: string | string[] | null = null,
  ids: string | string[] | null = null,
): Promise<PlainDict[]> => {
  const all = (await docker('network', 'ls', '--format={{.Name}}')).split('\n');
  const wanted = names === null ? undefined : toList(names);
  const begins = ids === null ? undefined : toList(ids);
  const found: PlainDict[] = [];
  for (const name of all.filter(one => one !== '' && (wanted?.includes(one) ?? true))) {
    const network = await inspect('network', name);
    if (network && (begins?.some(id => String(network.Id).startsWith(id)) ?? true))
      found.push(network);
  }
  return found;
};

/**
 * Creates a network.
 *
 * @param name the network
 * @example tsalt-ssh '*' docker.create_network front subnet=10.1.0.0/24
 */
export const create_network = async (
  name: string,
  options: NetworkOptions = {},
): Promise<{ Id: string }> => {
  const { Id } = await askEngine('POST', '/networks/create', {
    ...networkBody(options),
    Name: name,
    CheckDuplicate: true,
  });
  return { Id: String(Id) };
};

/**
 * Removes a network.
 *
 * @param network_id the network, by name or id
 * @example tsalt-ssh '*' docker.remove_network front
 */
export const remove_network = async (network_id: string): Promise<true> => {
  await docker('network', 'rm', '--', network_id);
  return true;
};

/**
 * Connects a container to a network.
 *
 * @param container the container
 * @param net_id the network, by name or id
 * @param ipv4_address its address there; also `ipv6_address` and `link_local_ips`
 * @param aliases further names of it there
 * @param links containers that it is to know by another name
 * @param driver_opt options of the network's driver
 * @example tsalt-ssh '*' docker.connect_container_to_network web front ipv4_address=10.1.0.9
 */
export const connect_container_to_network = async (
  container: string,
  net_id: string,
  settings: { [setting: string]: Plain } = {},
): Promise<true> => {
  await docker('network', 'connect', ...connectArgs(settings), '--', net_id, container);
  return true;
};

/**
 * Disconnects a container from a network.
 *
 * @param container the container
 * @param network_id the network, by name or id
 * @example tsalt-ssh '*' docker.disconnect_container_from_network web front
 */
export const disconnect_container_from_network = async (
  container: string,
  network_id: string,
): Promise<true> => {
  await docker('network', 'disconnect', '--', network_id, container);
  return true;
};
