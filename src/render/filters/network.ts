import {
  type IpInterface,
  ipNetworkOf,
  ipOfNumber,
  ipText,
  isInside,
  networkSize,
  parseIp,
  widthOf,
} from '../../data/python/ip-address.ts';
import { type Data, Float, isDict } from '../../data/values/value.ts';
import { type FilterTable, toFilterString } from './filter.ts';
import { ipKinds } from './ip-kind.ts';

type Version = 4 | 6;

/** A list of more hosts would be a mistake or an attack. */
const mostHosts = 1 << 20;

/** Salt's filters on addresses and networks. */
export const networkFilters: FilterTable = {
  is_ip: {
    params: ['options?'],
    run: (value, options) => pick(value, [4, 6], options) !== undefined,
  },
  is_ipv4: {
    params: ['options?'],
    run: (value, options) => pick(value, [4], options) !== undefined,
  },
  is_ipv6: {
    params: ['options?'],
    run: (value, options) => pick(value, [6], options) !== undefined,
  },
  ipv4: { params: ['options?'], run: (value, options) => pickAll(value, 4, options) },
  ipv6: { params: ['options?'], run: (value, options) => pickAll(value, 6, options) },
  ipaddr: { params: ['options?'], run: (value, options) => pickAny(value, options) },
  ip_host: networkFilter(address =>
    ipText({ ...address, prefix: address.prefix ?? widthOf(address.version) }),
  ),
  network_hosts: networkFilter((address, most) => hostsOf(address, most)),
  network_size: networkFilter(address => wholeNumber(networkSize(ipNetworkOf(address)))),
  filter_by_networks: { params: ['networks'], run: filterByNetworks },
  ipwrap: {
    params: [],
    run: value => (Array.isArray(value) ? value.map(wrapAddress) : wrapAddress(value)),
  },
};

/** Returns the address of a value, if it has the version and all requested kinds. */
const pick = (
  value: Data,
  versions: readonly Version[],
  options: Data | undefined,
): IpInterface | undefined => {
  const address = addressOf(value);
  if (!address || !versions.includes(address.version)) return undefined;
  const kinds = toFilterString(options)
    .split(',')
    .map(kind => kind.trim());
  return kinds.every(kind => ipKinds.get(kind)?.(address) ?? true) ? address : undefined;
};

const addressOf = (value: Data): IpInterface | undefined => {
  if (typeof value === 'string') return parseIp(value);
  if (typeof value === 'boolean') return ipOfNumber(value ? 1n : 0n);
  if (typeof value === 'bigint') return ipOfNumber(value);
  return typeof value === 'number' && Number.isInteger(value)
    ? ipOfNumber(BigInt(value))
    : undefined;
};

/** Returns the addresses of a version in a list; for a string, the string or null. */
const pickAll = (value: Data, version: Version, options: Data | undefined): Data => {
  const one = (item: Data): string[] => {
    const address = pick(item, [version], options);
    return address ? [ipText(address)] : [];
  };
  if (Array.isArray(value)) return value.flatMap(one);
  return typeof value === 'string' ? (one(value)[0] ?? null) : null;
};

const pickAny = (value: Data, options: Data | undefined): Data => {
  const [four, six] = [pickAll(value, 4, options), pickAll(value, 6, options)];
  return Array.isArray(four) && Array.isArray(six) ? [...four, ...six] : (four ?? six);
};

/** Makes a filter for each address of a list, or for a single one. */
function networkFilter(make: (address: IpInterface, most: number) => Data): FilterTable[string] {
  return {
    params: ['options?', 'version?'],
    run: (value, options, version) => {
      const found =
        version === 4 || version === 6 ? pickAll(value, version, options) : pickAny(value, options);
      let count = 0;
      const addresses = (Array.isArray(found) ? found : [found]).flatMap(item => {
        const address = typeof item === 'string' ? parseIp(item) : undefined;
        if (!address) return [];
        const made = make(address, mostHosts - count);
        count += Array.isArray(made) ? made.length : 1;
        return [made];
      });
      if (addresses.length === 0) return null;
      return Array.isArray(value) ? addresses : (addresses[0] ?? null);
    },
  };
}

/** Returns the addresses for hosts: without the network's own, if it has more than two. */
const hostsOf = (address: IpInterface, most: number): Data => {
  const { version, value, prefix } = ipNetworkOf(address);
  const size = networkSize({ version, value, prefix });
  if (size > BigInt(most))
    throw new TypeError(`${ipText({ version, value, prefix })} has too many hosts for a list`);
  const first = size > 2n ? 1n : 0n;
  const end = size > 2n && version === 4 ? size - 1n : size;
  return Array.from({ length: Number(end - first) }, (_, index) =>
    ipText({ version, value: value + first + BigInt(index) }),
  );
};

const wholeNumber = (value: bigint): Data =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;

function filterByNetworks(value: Data, list: Data | undefined): Data {
  if (list === null || list === undefined) return value;
  const networks = (Array.isArray(list) ? list : [list]).map(item => {
    const address = addressOf(item);
    if (!address) throw new TypeError(`'${toFilterString(item)}' is no network`);
    const network = ipNetworkOf(address);
    if (network.value !== address.value)
      throw new TypeError(`${toFilterString(item)} has host bits set`);
    return network;
  });
  const inside = (items: Data): Data => {
    if (!Array.isArray(items)) throw new TypeError('filter_by_networks takes lists of addresses');
    return items.flatMap(item => {
      const address = addressOf(item);
      if (!address || address.prefix !== undefined)
        throw new TypeError(`'${toFilterString(item)}' is no address`);
      return networks.filter(network => isInside(address, network)).map(() => item);
    });
  };
  if (!isDict(value)) return inside(value);
  return new Map([...value].map(([key, items]) => [key, inside(items)]));
}

const wrapAddress = (value: Data): Data => {
  if (value instanceof Float) return value;
  const address = pick(value, [6], null);
  if (!address) return value;
  if (address.prefix !== undefined)
    throw new TypeError(`'${toFilterString(value)}' is a network, not an address`);
  return `[${ipText(address)}]`;
};
