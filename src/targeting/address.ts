type Version = 4 | 6;
export type NetworkAddress = { readonly version: Version; readonly value: bigint };
export type Network = NetworkAddress & { readonly prefix: number };

const bits = { 4: 32, 6: 128 } as const;

/** An IP address as Python's `ipaddress` reads it; undefined when it is none. */
export const parseNetworkAddress = (text: string): NetworkAddress | undefined => {
  const value = text.includes(':') ? parseV6(text) : parseV4(text);
  return value === undefined ? undefined : { version: text.includes(':') ? 6 : 4, value };
};

/** `192.0.2.0/24`, `192.0.2.0/255.255.255.0`; undefined where host bits are set, as in Python. */
export const parseNetwork = (text: string): Network | undefined => {
  const [host = '', mask, ...more] = text.split('/');
  const address = parseNetworkAddress(host);
  if (!address || more.length > 0) return undefined;
  const width = bits[address.version];
  const prefix = mask === undefined ? width : parsePrefix(mask, address.version);
  if (prefix === undefined) return undefined;
  const hostBits = BigInt(width - prefix);
  return (address.value >> hostBits) << hostBits === address.value
    ? { ...address, prefix }
    : undefined;
};

export const inNetwork = (address: NetworkAddress, network: Network): boolean => {
  if (address.version !== network.version) return false;
  const hostBits = BigInt(bits[network.version] - network.prefix);
  return address.value >> hostBits === network.value >> hostBits;
};

const parsePrefix = (mask: string, version: Version): number | undefined => {
  if (/^\d{1,3}$/.test(mask)) return Number(mask) <= bits[version] ? Number(mask) : undefined;
  const value = version === 4 ? parseV4(mask) : undefined;
  if (value === undefined) return undefined;
  const written = value.toString(2).padStart(32, '0');
  return /^1*0*$/.test(written) ? written.lastIndexOf('1') + 1 : undefined;
};

const parseV4 = (text: string): bigint | undefined => {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every(part => /^(0|[1-9]\d{0,2})$/.test(part))) return undefined;
  if (!parts.every(part => Number(part) <= 255)) return undefined;
  return parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
};

const parseV6 = (text: string): bigint | undefined => {
  const [plain = ''] = text.split('%');
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(plain);
  const v4 = dotted ? parseV4(dotted[2] as string) : undefined;
  if (dotted && v4 === undefined) return undefined;
  const hex =
    v4 === undefined
      ? plain
      : `${dotted?.[1]}${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`;
  const halves = hex.split('::');
  if (halves.length > 2) return undefined;
  const [left = [], right] = halves.map(half => (half === '' ? [] : half.split(':')));
  const missing = 8 - left.length - (right?.length ?? 0);
  if (right === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = right === undefined ? left : [...left, ...Array(missing).fill('0'), ...right];
  if (!groups.every(part => /^[0-9a-fA-F]{1,4}$/.test(part))) return undefined;
  return groups.reduce((sum, part) => (sum << 16n) | BigInt(`0x${part}`), 0n);
};
