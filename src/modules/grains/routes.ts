/**
 * Returns the IPv4 default gateway from /proc/net/route (little-endian hex): its address, true for
 * one without an address, false for none.
 */
export const gateway4 = (table: string): string | boolean => {
  for (const line of table.split('\n').slice(1)) {
    const [, destination, gateway, , , , , mask] = line.split(/\s+/);
    if (destination !== '00000000' || mask !== '00000000' || !gateway) continue;
    if (gateway === '00000000') return true;
    const bytes = gateway.match(/../g)?.reverse() ?? [];
    return bytes.map(byte => Number.parseInt(byte, 16)).join('.');
  }
  return false;
};

const zeros = '0'.repeat(32);
const unreachable = 'ffffffff';

/** Returns the IPv6 default gateway from /proc/net/ipv6_route. */
export const gateway6 = (table: string): string | boolean => {
  for (const line of table.split('\n')) {
    const [destination, length, , , gateway, metric, , , , device] = line.trim().split(/\s+/);
    if (destination !== zeros || length !== '00' || device === 'lo' || metric === unreachable)
      continue;
    if (!gateway || gateway === zeros) return true;
    const groups = (gateway.match(/.{4}/g) ?? []).join(':');
    return new URL(`http://[${groups}]`).hostname.slice(1, -1);
  }
  return false;
};
