import { repackDictList } from '../_shared/states/values.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import { type Plain, type PlainDict, SaltInvocationError } from '../api.ts';

/** The settings of a network, by Salt's names. */
export type NetworkOptions = {
  /** its driver */
  driver?: string | null;
  /** its addresses */
  subnet?: string | null;
  /** its gateway */
  gateway?: string | null;
  /** the range containers get theirs from; also `iprange` */
  ip_range?: string | null;
  iprange?: string | null;
  /** addresses that containers do not get, by name; also `aux_address` */
  aux_addresses?: Plain;
  aux_address?: Plain;
  /** several subnets: dicts of `subnet`, `gateway`, `iprange`, `aux_addresses` */
  ipam_pools?: PlainDict[] | null;
  /** the driver that assigns addresses */
  ipam_driver?: string | null;
  /** its options */
  ipam_opts?: Plain;
  /** `local`, `global` or `swarm` */
  scope?: string | null;
  /** true: a swarm's network that routes to all its nodes */
  ingress?: boolean;
  /** true: without a way out */
  internal?: boolean;
  /** true: single containers may join a swarm's network */
  attachable?: boolean;
  /** true: with IPv6 */
  enable_ipv6?: boolean;
  /** labels */
  labels?: Plain;
  /** options of the driver; also `driver_opt` and `options` */
  driver_opts?: Plain;
  driver_opt?: Plain;
  options?: Plain;
};

/** Converts the settings to the engine's format; settings that are not given are left out. */
export const networkBody = (options: NetworkOptions): PlainDict => {
  const { ipam_pools, scope, ingress, internal, attachable, enable_ipv6 } = options;
  const single = pool(options as PlainDict);
  if (ipam_pools && Object.keys(single).length > 0)
    throw new SaltInvocationError(
      'A network takes ipam_pools, or subnet, gateway, iprange and aux_addresses: not both.',
    );
  const pools = ipam_pools ? ipam_pools.map(one => pool(repackDictList(one))) : [single];
  const Config = pools.filter(one => Object.keys(one).length > 0);
  const ipamOptions = textDict(options.ipam_opts ?? null);
  return {
    Driver: options.driver ?? 'bridge',
    ...(internal ? { Internal: true } : {}),
    ...(attachable ? { Attachable: true } : {}),
    ...(ingress ? { Ingress: true } : {}),
    ...(enable_ipv6 ? { EnableIPv6: true } : {}),
    ...(scope ? { Scope: scope } : {}),
    ...given('Labels', textDict(options.labels ?? null)),
    ...given(
      'Options',
      textDict(options.driver_opts ?? options.driver_opt ?? options.options ?? null),
    ),
    ...(Config.length > 0 || options.ipam_driver || ipamOptions
      ? {
          IPAM: {
            Driver: options.ipam_driver ?? 'default',
            ...(Config.length > 0 ? { Config } : {}),
            ...given('Options', ipamOptions),
          },
        }
      : {}),
  };
};

const given = (key: string, value: PlainDict | undefined): PlainDict =>
  value ? { [key]: value } : {};

const pool = (from: PlainDict): PlainDict => ({
  ...(from.subnet ? { Subnet: plainStr(from.subnet) } : {}),
  ...(from.gateway ? { Gateway: plainStr(from.gateway) } : {}),
  ...(from.iprange || from.ip_range
    ? { IPRange: plainStr((from.iprange ?? from.ip_range) as Plain) }
    : {}),
  ...given('AuxiliaryAddresses', textDict(from.aux_addresses ?? from.aux_address ?? null)),
});

/** A dict of texts, from a dict, a list of dicts or a list of `a=b`. */
export const textDict = (value: Plain): PlainDict | undefined => {
  if (value === null) return undefined;
  const list = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
  const lines = list.filter(item => typeof item === 'string').map(item => String(item).trim());
  const all: PlainDict = Object.fromEntries(
    lines.map(line => {
      const cut = line.indexOf('=');
      return cut === -1 ? [line, ''] : [line.slice(0, cut), line.slice(cut + 1)];
    }),
  );
  for (const [key, item] of Object.entries(repackDictList(value)))
    all[key] = item === null ? '' : typeof item === 'boolean' ? String(item) : plainStr(item);
  return Object.keys(all).length > 0 ? all : undefined;
};
