/** Manages Docker networks. */
import { messageOf } from '../../../protocol/error.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, inPlan, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../api.ts';
import { type NetworkOptions, networkBody } from '../docker-network-body.ts';
import { networksOf } from '../docker-networks.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('docker.create_network') || [false, 'docker is not installed.'];

/**
 * Makes sure that a network exists with these settings and containers. If its settings differ, it is
 * recreated and its containers are connected again.
 *
 * @param name the network
 * @param containers containers to connect with it; with settings of each: `- web: {ipv4_address: 10.1.0.9}`
 * @param reconnect false: do not reconnect the containers when the network is recreated
 * @param skip_translate accepted, but has no effect: the engine validates the settings
 * @param ignore_collisions accepted, but has no effect
 * @param validate_ip_addrs accepted, but has no effect: the engine checks addresses
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
    reconnect = true,
    skip_translate: _skip = null,
    ignore_collisions: _ignore = false,
    validate_ip_addrs: _validate = true,
    ...options
  }: NetworkOptions & {
    containers?: Plain;
    reconnect?: boolean;
    skip_translate?: Plain;
    ignore_collisions?: boolean;
    validate_ip_addrs?: boolean;
  } = {},
): Promise<StateReturn> => {
  try {
    const wanted = networksOf(containers);
    const found: PlainDict | null = await salt('docker.inspect_network')(name);
    const differs = found ? differences(found, networkBody(options)) : {};
    const anew = Object.keys(differs).length > 0;
    const have = containersOf(found);
    const again = anew && containers === null && reconnect ? have : [];
    const missing = Object.keys(wanted).filter(one => anew || !have.includes(one));
    const lost = anew ? have.filter(one => !again.includes(one) && !missing.includes(one)) : [];
    if (found && !anew && missing.length === 0)
      return unchanged(name, `Network '${name}' already exists, and is configured as specified`);
    const changes: PlainDict = {
      ...(anew ? { [name]: differs, recreated: true } : found ? {} : { created: true }),
      ...list('reconnected', [...again, ...missing.filter(one => anew && have.includes(one))]),
      ...list(
        'connected',
        missing.filter(one => !anew || !have.includes(one)),
      ),
      ...list('disconnected', lost),
    };
    if (__opts__.test) return would(name, toDo(name, found !== null, anew), changes);
    if (anew) {
      for (const one of have) await salt('docker.disconnect_container_from_network')(one, name);
      await salt('docker.remove_network')(name);
    }
    if (!found || anew) await salt('docker.create_network')(name, options);
    for (const one of again) await salt('docker.connect_container_to_network')(one, name);
    for (const one of missing)
      await salt('docker.connect_container_to_network')(one, name, wanted[one] ?? {});
    const done = anew ? 'was replaced with updated config' : found ? 'was updated' : 'created';
    return changed(name, `Network '${name}' ${done}`, changes);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

const toDo = (name: string, isThere: boolean, anew: boolean): string => {
  if (anew) return 'Network would be recreated with new config';
  return isThere ? `Network '${name}' would be updated` : 'Network will be created';
};

const list = (key: string, names: string[]): PlainDict =>
  names.length > 0 ? { [key]: names } : {};

const containersOf = (network: PlainDict | null): string[] =>
  Object.values((network?.Containers ?? {}) as { [id: string]: { Name: string } }).map(
    ({ Name }) => Name,
  );

/**
 * Returns the settings that differ from the desired ones. Settings that only the engine added are
 * ignored.
 */
const differences = (found: PlainDict, body: PlainDict): PlainDict => {
  const all: PlainDict = {};
  const compare = (key: string, old: Plain, wanted: Plain): void => {
    if (text(old) !== text(wanted)) all[key] = { old, new: wanted };
  };
  compare('Driver', found.Driver ?? null, body.Driver ?? null);
  for (const key of ['Internal', 'Attachable', 'Ingress', 'EnableIPv6'])
    compare(key, found[key] ?? false, body[key] ?? false);
  compare('Labels', found.Labels ?? {}, body.Labels ?? {});
  if (body.Scope) compare('Scope', found.Scope ?? null, body.Scope);
  const options = (found.Options ?? {}) as PlainDict;
  for (const [key, value] of Object.entries((body.Options ?? {}) as PlainDict))
    compare(`Options.${key}`, options[key] ?? null, value);
  const ipam = (found.IPAM ?? {}) as PlainDict;
  const { Driver, Config, Options } = (body.IPAM ?? {}) as PlainDict;
  if (Driver) compare('IPAM.Driver', ipam.Driver ?? null, Driver);
  if (Options) compare('IPAM.Options', ipam.Options ?? {}, Options);
  if (Config) compare('IPAM.Config', poolsLike(ipam.Config, Config as PlainDict[]), Config);
  return all;
};

/** Returns a network's pools without gateways that the engine chose itself. */
const poolsLike = (pools: Plain | undefined, wanted: PlainDict[]): PlainDict[] =>
  ((pools ?? []) as PlainDict[]).map((one, at) =>
    Object.fromEntries(
      Object.entries(one).filter(([key]) => key !== 'Gateway' || wanted[at]?.Gateway !== undefined),
    ),
  );

const text = (value: Plain): string =>
  JSON.stringify(value, (_, item) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );

/**
 * Makes sure that a network does not exist; its containers are disconnected first.
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
    const containers = containersOf(found);
    if (__opts__.test)
      return would(
        name,
        `Network '${name}' will be removed`,
        inPlan({ removed: true, ...list('disconnected', containers) }),
      );
    for (const one of containers) await salt('docker.disconnect_container_from_network')(one, name);
    await salt('docker.remove_network')(name);
    return changed(name, `Removed network '${name}'`, {
      removed: true,
      ...list('disconnected', containers),
    });
  } catch (error) {
    return failed(name, messageOf(error));
  }
};
