/**
 * Manages the zones of firewalld, and their services and ports. By default, functions work on the
 * permanent configuration, which applies after a reload or a boot; with `permanent=False`, on the
 * running one.
 *
 * @platform linux
 * @depends firewall-cmd
 */

import { which } from '../../../_shared/commands/which.ts';
import { firewallCmd, outputTokens, parseZones, type Zones, zoneCmd } from '../../firewall-cmd.ts';

export const __virtual__ = (): true | [false, string] =>
  which('firewall-cmd') !== undefined || [
    false,
    'firewall-cmd is not available, firewalld is probably not installed.',
  ];

/**
 * Returns the version of firewalld.
 *
 * @example tsalt-ssh '*' firewalld.version
 */
export const version = async (): Promise<string> => firewallCmd('--version');

/**
 * Makes the permanent settings those that hold now.
 *
 * @example tsalt-ssh '*' firewalld.reload_rules
 */
export const reload_rules = async (): Promise<string> => firewallCmd('--reload');

/**
 * Makes the settings that hold now the permanent ones.
 *
 * @example tsalt-ssh '*' firewalld.make_permanent
 */
export const make_permanent = async (): Promise<string> => firewallCmd('--runtime-to-permanent');

/**
 * Returns the default zone, for connections and interfaces that are in no other zone.
 *
 * @example tsalt-ssh '*' firewalld.default_zone
 */
export const default_zone = async (): Promise<string> => firewallCmd('--get-default-zone');

/**
 * Sets the zone of connections and interfaces that are in no other.
 *
 * @param zone the zone
 * @example tsalt-ssh '*' firewalld.set_default_zone home
 */
export const set_default_zone = async (zone: string): Promise<string> =>
  firewallCmd(`--set-default-zone=${zone}`);

/**
 * Returns the names of all zones.
 *
 * @param permanent false: as they are now
 * @example tsalt-ssh '*' firewalld.get_zones
 */
export const get_zones = async (permanent = true): Promise<string[]> =>
  outputTokens(await zoneCmd(null, permanent, '--get-zones'));

/**
 * Returns all zones with all their settings.
 *
 * @param permanent false: as they are now
 * @example tsalt-ssh '*' firewalld.list_zones
 */
export const list_zones = async (permanent = true): Promise<Zones> =>
  parseZones(await zoneCmd(null, permanent, '--list-all-zones'));

/**
 * Returns all settings of a zone.
 *
 * @param zone the zone, the default one when not given
 * @param permanent false: as they are now
 * @example tsalt-ssh '*' firewalld.list_all my_zone
 */
export const list_all = async (zone: string | null = null, permanent = true): Promise<Zones> =>
  parseZones(await zoneCmd(zone, permanent, '--list-all'));

/**
 * Makes a zone.
 *
 * @param zone its name
 * @param restart false: do not reload the permanent settings
 * @example tsalt-ssh '*' firewalld.new_zone my_zone
 */
export const new_zone = async (zone: string, restart = true): Promise<string> => {
  const done = await firewallCmd('--permanent', `--new-zone=${zone}`);
  return restart ? reload_rules() : done;
};

/**
 * Removes a zone.
 *
 * @param zone its name
 * @param restart false: do not reload the permanent settings
 * @example tsalt-ssh '*' firewalld.delete_zone my_zone
 */
export const delete_zone = async (zone: string, restart = true): Promise<string> => {
  const done = await firewallCmd('--permanent', `--delete-zone=${zone}`);
  return restart ? reload_rules() : done;
};
