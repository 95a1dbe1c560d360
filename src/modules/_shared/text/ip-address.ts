import { ipText, parseIpAddress, widthOf } from '../../../data/python/ip-address.ts';
import { SaltInvocationError } from '../../api.ts';

/** An address as a number of 32 or 128 bits. */
export type IpAddress = { readonly bits: 32 | 128; readonly value: bigint };

/** Reads an IPv4 or IPv6 address; undefined when the text is neither. */
export const parseAddress = (text: string): IpAddress | undefined => {
  const address = parseIpAddress(text);
  return address && { bits: widthOf(address.version), value: address.value };
};

/** Writes an address in its usual form. */
export const formatAddress = ({ bits, value }: IpAddress): string =>
  ipText({ version: bits === 32 ? 4 : 6, value });

const parseNetwork = (cidr: string): { start: IpAddress; prefix: number } => {
  const [text = '', mask] = cidr.split('/');
  const address = parseAddress(text);
  if (!address) throw new SaltInvocationError(`Not an IP address or network: ${cidr}`);
  const prefix = mask === undefined ? address.bits : prefixOf(mask, address.bits);
  if (prefix === undefined) throw new SaltInvocationError(`Not a netmask: ${mask}`);
  const shift = BigInt(address.bits - prefix);
  return { start: { bits: address.bits, value: (address.value >> shift) << shift }, prefix };
};

const prefixOf = (mask: string, bits: number): number | undefined => {
  if (/^\d{1,3}$/.test(mask)) return Number(mask) <= bits ? Number(mask) : undefined;
  const address = parseAddress(mask);
  if (!address || address.bits !== bits) return undefined;
  const binary = address.value.toString(2).padStart(bits, '0');
  return /^1*0*$/.test(binary)
    ? binary.indexOf('0') === -1
      ? bits
      : binary.indexOf('0')
    : undefined;
};

/** Whether this is a network, as its address has no bits for one of its hosts. */
export const isNetwork = (cidr: string): boolean => {
  const [text = '', ...masks] = cidr.split('/');
  if (masks.length > 1) return false;
  try {
    return parseNetwork(cidr).start.value === parseAddress(text)?.value;
  } catch {
    return false;
  }
};

/** The network that an address with a prefix or netmask is in: `172.17.0.0/16`. */
export const networkOf = (cidr: string): string => {
  const { start, prefix } = parseNetwork(cidr);
  return `${formatAddress(start)}/${prefix}`;
};

/** The netmask of a prefix: `255.255.0.0` of 16. */
export const netmaskOf = (bits: IpAddress['bits'], prefix: number): string => {
  const hostBits = BigInt(bits - prefix);
  return formatAddress({ bits, value: (((1n << BigInt(bits)) - 1n) >> hostBits) << hostBits });
};

/** Whether an address is in a network. Addresses of the other kind are not. */
export const isInNetwork = (address: string, cidr: string): boolean => {
  const one = parseAddress(address);
  const { start, prefix } = parseNetwork(cidr);
  if (!one || one.bits !== start.bits) return false;
  const shift = BigInt(one.bits - prefix);
  return one.value >> shift === start.value >> shift;
};
