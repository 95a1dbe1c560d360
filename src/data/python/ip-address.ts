/** An IP address, with the prefix of its network if one was written (`10.0.0.5/24`). */
export type IpInterface = {
  readonly version: 4 | 6;
  readonly value: bigint;
  readonly prefix?: number;
  /** The part after `%` of an IPv6 address. */
  readonly scope?: string;
};

export type IpNetwork = {
  readonly version: 4 | 6;
  readonly value: bigint;
  readonly prefix: number;
};

export const widthOf = (version: 4 | 6): 32 | 128 => (version === 4 ? 32 : 128);

/**
 * Reads `1.2.3.4`, `fe80::1%eth0`, with an optional `/24` or `/255.255.255.0`. Undefined for
 * anything else.
 */
export const parseIp = (text: string): IpInterface | undefined => {
  const [host = '', mask, ...rest] = text.split('/');
  if (rest.length > 0) return undefined;
  const address = parseV4(host) ?? parseV6(host);
  if (!address || mask === undefined) return address;
  const prefix = parsePrefix(mask, address.version);
  return prefix === undefined ? undefined : { ...address, prefix };
};

/** Reads an address without a prefix. Undefined: it is none. */
export const parseIpAddress = (text: string): IpInterface | undefined =>
  text.includes('/') ? undefined : parseIp(text);

/** Reads a network as Python's `ip_network`. Undefined: it is none, or has bits of a host. */
export const parseIpNetwork = (text: string): IpNetwork | undefined => {
  const address = parseIp(text);
  const network = address && ipNetworkOf(address);
  return network?.value === address?.value ? network : undefined;
};

/** Python takes a number as an address too. */
export const ipOfNumber = (value: bigint): IpInterface | undefined => {
  if (value < 0n || value >= 1n << 128n) return undefined;
  return { version: value < 1n << 32n ? 4 : 6, value };
};

const parseV4 = (text: string): IpInterface | undefined => {
  const value = v4Number(text);
  return value === undefined ? undefined : { version: 4, value };
};

const v4Number = (text: string): bigint | undefined => {
  const octets = text.split('.');
  if (octets.length !== 4) return undefined;
  let value = 0n;
  for (const octet of octets) {
    if (!/^(?:0|[1-9]\d{0,2})$/.test(octet) || Number(octet) > 255) return undefined;
    value = value * 256n + BigInt(octet);
  }
  return value;
};

const parseV6 = (text: string): IpInterface | undefined => {
  const [, address = '', scope] = /^([^%]*)(?:%([^%]+))?$/s.exec(text) ?? [];
  const value = v6Number(address);
  if (value === undefined) return undefined;
  return { version: 6, value, ...(scope === undefined ? {} : { scope }) };
};

const v6Number = (text: string): bigint | undefined => {
  const [, head = text, v4] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text) ?? [];
  const low = v4 === undefined ? undefined : v4Number(v4);
  if (v4 !== undefined && low === undefined) return undefined;
  const whole =
    low === undefined
      ? text
      : `${head}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`;
  const halves = whole.split('::');
  const [left = [], right = []] = halves.map(half => (half === '' ? [] : half.split(':')));
  const missing = 8 - left.length - right.length;
  if (halves.length > 2 || (halves.length === 2 ? missing < 1 : missing !== 0)) return undefined;
  const groups = [...left, ...Array<string>(missing).fill('0'), ...right];
  if (!groups.every(group => /^[\da-fA-F]{1,4}$/.test(group))) return undefined;
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
};

/** `24`, and for IPv4 a netmask (`255.255.255.0`) or host mask (`0.0.0.255`). */
const parsePrefix = (text: string, version: 4 | 6): number | undefined => {
  const width = widthOf(version);
  if (/^\d+$/.test(text)) return Number(text) <= width ? Number(text) : undefined;
  const mask = version === 4 ? v4Number(text) : undefined;
  if (mask === undefined) return undefined;
  for (let prefix = 0; prefix <= width; prefix += 1)
    if (mask === netmask({ version, prefix })) return prefix;
  for (let prefix = 0; prefix <= width; prefix += 1)
    if (mask === hostMask({ version, prefix })) return prefix;
  return undefined;
};

const hostMask = ({ version, prefix }: Pick<IpNetwork, 'version' | 'prefix'>): bigint =>
  (1n << BigInt(widthOf(version) - prefix)) - 1n;

const netmask = (network: Pick<IpNetwork, 'version' | 'prefix'>): bigint =>
  ((1n << BigInt(widthOf(network.version))) - 1n) ^ hostMask(network);

/** Returns the network of an address; without a prefix, a network of one. */
export const ipNetworkOf = ({ version, value, prefix }: IpInterface): IpNetwork => {
  const whole = { version, prefix: prefix ?? widthOf(version) };
  return { ...whole, value: value & netmask(whole) };
};

export const networkSize = (network: IpNetwork): bigint => hostMask(network) + 1n;

export const isInside = ({ version, value }: IpInterface, network: IpNetwork): boolean =>
  version === network.version && (value & netmask(network)) === network.value;

/** Formats an address as Python's `str()` does, in its shortest usual form. */
export const ipText = ({ version, value, prefix, scope }: IpInterface): string => {
  const text = version === 4 ? v4Text(value) : v6Text(value);
  return `${text}${scope === undefined ? '' : `%${scope}`}${prefix === undefined ? '' : `/${prefix}`}`;
};

const v4Text = (value: bigint): string =>
  [24n, 16n, 8n, 0n].map(shift => String((value >> shift) & 255n)).join('.');

const v6Text = (value: bigint): string => {
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  );
  let [start, length] = [0, 0];
  for (let at = 0; at < 8; at += 1) {
    let end = at;
    while (groups[end] === '0') end += 1;
    if (end - at > length) [start, length] = [at, end - at];
  }
  if (length < 2) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`;
};
