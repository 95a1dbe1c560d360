/**
 * Addresses, names, routes and connections of the host.
 *
 * @platform linux
 */
import { log } from '../../../api.ts';
import { type Address4, type Interface, readInterfaces } from '../../network-interfaces.ts';

/**
 * The network interfaces: `up`, `hwaddr`, and their addresses under `inet` and `inet6`.
 *
 * @example tsalt-ssh '*' network.interfaces
 */
export const interfaces = async (): Promise<Record<string, Interface>> => readInterfaces();

/** An interface, or the sentence that Salt returns when there is none. */
const found = async (iface: string): Promise<Interface | string> => {
  const all = await readInterfaces();
  const one = all[iface];
  if (one) return one;
  const message = `Interface "${iface}" not in available interfaces: "${Object.keys(all).join('", "')}"`;
  log.error(message);
  return message;
};

/**
 * The IPv4 addresses of an interface: `address`, `netmask`, `broadcast`, `label`.
 *
 * @param iface its name
 * @example tsalt-ssh '*' network.interface eth0
 */
export const interface_ = async (iface: string): Promise<Address4[] | string> => {
  const one = await found(iface);
  return typeof one === 'string' ? one : (one.inet ?? '');
};

export const __func_alias__ = { interface_: 'interface' };

/**
 * The first IPv4 address of an interface; '' when it has none.
 *
 * @param iface its name
 * @example tsalt-ssh '*' network.interface_ip eth0
 */
export const interface_ip = async (iface: string): Promise<string> => {
  const one = await found(iface);
  return typeof one === 'string' ? one : (one.inet?.[0]?.address ?? '');
};

/**
 * The hardware address of an interface.
 *
 * @param iface its name
 * @example tsalt-ssh '*' network.hw_addr eth0
 */
export const hw_addr = async (iface: string): Promise<string> => {
  const one = await found(iface);
  return typeof one === 'string' ? one : (one.hwaddr ?? '');
};

/** Salt's other name of `network.hw_addr`. */
export const hwaddr = hw_addr;

/**
 * The interfaces with an IPv4 address that begins so, by the address's label.
 *
 * @param cidr how it begins
 * @example tsalt-ssh '*' network.ifacestartswith 10.0
 */
export const ifacestartswith = async (cidr: string): Promise<string[]> =>
  Object.values(await readInterfaces())
    .flatMap(({ inet = [] }) => inet)
    .filter(({ address }) => address.startsWith(String(cidr)))
    .map(({ label }) => label);
