import { outputLines, outputTokens, zoneCmd } from '../../firewall-cmd.ts';
import { list_all } from './zones.ts';

/**
 * Returns the open ports of a zone.
 *
 * @param zone the zone
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.list_ports public
 */
export const list_ports = async (zone: string, permanent = true): Promise<string[]> =>
  outputTokens(await zoneCmd(zone, permanent, '--list-ports'));

/**
 * Opens a port in a zone.
 *
 * @param zone the zone
 * @param port the port and its protocol, `443/tcp`
 * @param permanent false: change the running configuration instead of the permanent one
 * @param force_masquerade true: turn masquerading on for the zone as well
 * @example tsalt-ssh '*' firewalld.add_port internal 443/tcp
 */
export const add_port = async (
  zone: string,
  port: string,
  permanent = true,
  force_masquerade = false,
): Promise<string> => {
  if (force_masquerade && !(await get_masquerade(zone))) await add_masquerade(zone);
  return zoneCmd(zone, permanent, `--add-port=${port}`);
};

/**
 * Closes a port in a zone.
 *
 * @param zone the zone
 * @param port the port and its protocol, `443/tcp`
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.remove_port internal 443/tcp
 */
export const remove_port = async (zone: string, port: string, permanent = true): Promise<string> =>
  zoneCmd(zone, permanent, `--remove-port=${port}`);

/**
 * Whether what leaves through a zone carries this host's address.
 *
 * @param zone the zone, the default one when not given
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.get_masquerade public
 */
export const get_masquerade = async (
  zone: string | null = null,
  permanent = true,
): Promise<boolean> =>
  Object.values(await list_all(zone, permanent)).every(
    ({ masquerade }) => masquerade?.[0] !== 'no',
  );

/**
 * Enables masquerading: traffic that leaves through a zone gets this host's address.
 *
 * @param zone the zone, the default one when not given
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.add_masquerade dmz
 */
export const add_masquerade = async (
  zone: string | null = null,
  permanent = true,
): Promise<string> => zoneCmd(zone, permanent, '--add-masquerade');

/**
 * Disables masquerading: traffic that leaves through a zone keeps its address.
 *
 * @param zone the zone, the default one when not given
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.remove_masquerade dmz
 */
export const remove_masquerade = async (
  zone: string | null = null,
  permanent = true,
): Promise<string> => zoneCmd(zone, permanent, '--remove-masquerade');

type Forward = {
  'Source port': string;
  Protocol: string;
  'Destination port': string;
  'Destination address': string;
};

/**
 * Returns the forwarded ports of a zone.
 *
 * @param zone the zone
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.list_port_fwd public
 */
export const list_port_fwd = async (zone: string, permanent = true): Promise<Forward[]> =>
  outputLines(await zoneCmd(zone, permanent, '--list-forward-ports')).map(line => {
    const value = (key: string): string =>
      new RegExp(`(?:^|:)${key}=([^:]*)`).exec(line)?.[1] ?? '';
    return {
      'Source port': value('port'),
      Protocol: value('proto'),
      'Destination port': value('toport'),
      // An IPv6 address contains colons.
      'Destination address': /:toaddr=(.*)$/.exec(line)?.[1] ?? '',
    };
  });

/**
 * Forwards a port of a zone.
 *
 * @param zone the zone
 * @param src the port
 * @param dest the port to forward to
 * @param proto `tcp` or `udp`
 * @param dstaddr the address to forward to, this host when empty
 * @param permanent false: change the running configuration instead of the permanent one
 * @param force_masquerade true: turn masquerading on for the zone as well
 * @example tsalt-ssh '*' firewalld.add_port_fwd public 80 443 tcp
 */
export const add_port_fwd = async (
  zone: string,
  src: number | string,
  dest: number | string,
  proto = 'tcp',
  dstaddr = '',
  permanent = true,
  force_masquerade = false,
): Promise<string> => {
  if (force_masquerade && !(await get_masquerade(zone))) await add_masquerade(zone);
  return zoneCmd(
    zone,
    permanent,
    `--add-forward-port=port=${src}:proto=${proto}:toport=${dest}:toaddr=${dstaddr}`,
  );
};

/**
 * Removes a port forwarding from a zone.
 *
 * @param zone the zone
 * @param src the port
 * @param dest the port that it is forwarded to
 * @param proto `tcp` or `udp`
 * @param dstaddr the address that it is forwarded to
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.remove_port_fwd public 80 443 tcp
 */
export const remove_port_fwd = async (
  zone: string,
  src: number | string,
  dest: number | string,
  proto = 'tcp',
  dstaddr = '',
  permanent = true,
): Promise<string> =>
  zoneCmd(
    zone,
    permanent,
    `--remove-forward-port=port=${src}:proto=${proto}:toport=${dest}:toaddr=${dstaddr}`,
  );

/**
 * Returns all types of ICMP that firewalld knows.
 *
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.get_icmp_types
 */
export const get_icmp_types = async (permanent = true): Promise<string[]> =>
  outputTokens(await zoneCmd(null, permanent, '--get-icmptypes'));

/**
 * Returns the types of ICMP that a zone blocks.
 *
 * @param zone the zone
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.list_icmp_block public
 */
export const list_icmp_block = async (zone: string, permanent = true): Promise<string[]> =>
  outputTokens(await zoneCmd(zone, permanent, '--list-icmp-blocks'));

/**
 * Blocks a type of ICMP in a zone.
 *
 * @param zone the zone
 * @param icmp the type, `echo-reply`
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.block_icmp public echo-reply
 */
export const block_icmp = async (zone: string, icmp: string, permanent = true): Promise<string> =>
  zoneCmd(zone, permanent, `--add-icmp-block=${icmp}`);

/**
 * Allows a type of ICMP in a zone.
 *
 * @param zone the zone
 * @param icmp the type, `echo-reply`
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.allow_icmp public echo-reply
 */
export const allow_icmp = async (zone: string, icmp: string, permanent = true): Promise<string> =>
  zoneCmd(zone, permanent, `--remove-icmp-block=${icmp}`);
