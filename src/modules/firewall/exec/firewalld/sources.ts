import { outputLines, outputTokens, zoneCmd } from '../../firewall-cmd.ts';

/**
 * Returns the interfaces of a zone.
 *
 * @param zone the zone
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.get_interfaces public
 */
export const get_interfaces = async (zone: string, permanent = true): Promise<string[]> =>
  outputTokens(await zoneCmd(zone, permanent, '--list-interfaces'));

/**
 * Adds an interface to a zone.
 *
 * @param zone the zone
 * @param interface the interface
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.add_interface public eth0
 */
export const add_interface = async (
  zone: string,
  { interface: device, permanent = true }: { interface: string; permanent?: boolean },
): Promise<string> => zoneCmd(zone, permanent, `--add-interface=${device}`);

/**
 * Removes an interface from a zone.
 *
 * @param zone the zone
 * @param interface the interface
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.remove_interface public eth0
 */
export const remove_interface = async (
  zone: string,
  { interface: device, permanent = true }: { interface: string; permanent?: boolean },
): Promise<string> => zoneCmd(zone, permanent, `--remove-interface=${device}`);

/**
 * Moves an interface to a zone, whatever zone it is in.
 *
 * @param zone the zone
 * @param interface the interface
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.change_interface public eth0
 */
export const change_interface = async (
  zone: string,
  { interface: device, permanent = true }: { interface: string; permanent?: boolean },
): Promise<string> => zoneCmd(zone, permanent, `--change-interface=${device}`);

/**
 * Returns the source addresses of a zone.
 *
 * @param zone the zone
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.get_sources public
 */
export const get_sources = async (zone: string, permanent = true): Promise<string[]> =>
  outputTokens(await zoneCmd(zone, permanent, '--list-sources'));

/**
 * Adds a source address to a zone.
 *
 * @param zone the zone
 * @param source the source address
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.add_source public 192.168.1.0/24
 */
export const add_source = async (zone: string, source: string, permanent = true): Promise<string> =>
  zoneCmd(zone, permanent, `--add-source=${source}`);

/**
 * Removes a source address from a zone.
 *
 * @param zone the zone
 * @param source the source address
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.remove_source public 192.168.1.0/24
 */
export const remove_source = async (
  zone: string,
  source: string,
  permanent = true,
): Promise<string> => zoneCmd(zone, permanent, `--remove-source=${source}`);

/**
 * Returns the rich rules of a zone.
 *
 * @param zone the zone
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.get_rich_rules public
 */
export const get_rich_rules = async (zone: string, permanent = true): Promise<string[]> =>
  outputLines(await zoneCmd(zone, permanent, '--list-rich-rules'));

/**
 * Adds a rich rule to a zone.
 *
 * @param zone the zone
 * @param rule the rich rule
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.add_rich_rule public 'rule service name="ssh" accept'
 */
export const add_rich_rule = async (
  zone: string,
  rule: string,
  permanent = true,
): Promise<string> => zoneCmd(zone, permanent, `--add-rich-rule=${rule}`);

/**
 * Removes a rich rule from a zone.
 *
 * @param zone the zone
 * @param rule the rich rule
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.remove_rich_rule public 'rule service name="ssh" accept'
 */
export const remove_rich_rule = async (
  zone: string,
  rule: string,
  permanent = true,
): Promise<string> => zoneCmd(zone, permanent, `--remove-rich-rule=${rule}`);
