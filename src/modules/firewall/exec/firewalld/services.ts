import { CommandExecutionError } from '../../../api.ts';
import { firewallCmd, wordsOf, zoneCmd } from '../../firewall-cmd.ts';
import { reload_rules } from './zones.ts';

/**
 * The names of all services that firewalld knows.
 *
 * @param permanent false: as they are now
 * @example tsalt-ssh '*' firewalld.get_services
 */
export const get_services = async (permanent = true): Promise<string[]> =>
  wordsOf(await zoneCmd(null, permanent, '--get-services'));

/**
 * Makes a service: a name for ports and protocols.
 *
 * @param name its name
 * @param restart false: without making the permanent settings those that hold now
 * @example tsalt-ssh '*' firewalld.new_service my_service
 */
export const new_service = async (name: string, restart = true): Promise<string> => {
  const done = await firewallCmd('--permanent', `--new-service=${name}`);
  return restart ? reload_rules() : done;
};

/**
 * Takes a service away.
 *
 * @param name its name
 * @param restart false: without making the permanent settings those that hold now
 * @example tsalt-ssh '*' firewalld.delete_service my_service
 */
export const delete_service = async (name: string, restart = true): Promise<string> => {
  const done = await firewallCmd('--permanent', `--delete-service=${name}`);
  return restart ? reload_rules() : done;
};

/**
 * The services that a zone lets through.
 *
 * @param zone the zone, the default one when not given
 * @param permanent false: now instead of permanently
 * @example tsalt-ssh '*' firewalld.list_services my_zone
 */
export const list_services = async (
  zone: string | null = null,
  permanent = true,
): Promise<string[]> => wordsOf(await zoneCmd(zone, permanent, '--list-services'));

/**
 * Lets a service through in a zone.
 *
 * @param service the service
 * @param zone the zone, the default one when not given
 * @param permanent false: now instead of permanently
 * @example tsalt-ssh '*' firewalld.add_service ssh my_zone
 */
export const add_service = async (
  service: string,
  zone: string | null = null,
  permanent = true,
): Promise<string> => zoneCmd(zone, permanent, `--add-service=${service}`);

/**
 * Lets a service through in a zone no more.
 *
 * @param service the service
 * @param zone the zone, the default one when not given
 * @param permanent false: now instead of permanently
 * @example tsalt-ssh '*' firewalld.remove_service ssh dmz
 */
export const remove_service = async (
  service: string,
  zone: string | null = null,
  permanent = true,
): Promise<string> => zoneCmd(zone, permanent, `--remove-service=${service}`);

const serviceCmd = async (service: string, ...args: string[]): Promise<string> => {
  if (!(await get_services()).includes(service))
    throw new CommandExecutionError('The service does not exist.');
  return firewallCmd('--permanent', `--service=${service}`, ...args);
};

/**
 * The ports of a service.
 *
 * @param service the service
 * @example tsalt-ssh '*' firewalld.get_service_ports ssh
 */
export const get_service_ports = async (service: string): Promise<string[]> =>
  wordsOf(await serviceCmd(service, '--get-ports'));

/**
 * Adds a port to a service.
 *
 * @param service the service
 * @param port the port and its protocol, `80/tcp`
 * @example tsalt-ssh '*' firewalld.add_service_port my_service 80/tcp
 */
export const add_service_port = async (service: string, port: string): Promise<string> =>
  serviceCmd(service, `--add-port=${port}`);

/**
 * Takes a port from a service.
 *
 * @param service the service
 * @param port the port and its protocol, `80/tcp`
 * @example tsalt-ssh '*' firewalld.remove_service_port my_service 80/tcp
 */
export const remove_service_port = async (service: string, port: string): Promise<string> =>
  serviceCmd(service, `--remove-port=${port}`);

/**
 * The protocols of a service.
 *
 * @param service the service
 * @example tsalt-ssh '*' firewalld.get_service_protocols my_service
 */
export const get_service_protocols = async (service: string): Promise<string[]> =>
  wordsOf(await serviceCmd(service, '--get-protocols'));

/**
 * Adds a protocol to a service.
 *
 * @param service the service
 * @param protocol the protocol, `esp`
 * @example tsalt-ssh '*' firewalld.add_service_protocol my_service esp
 */
export const add_service_protocol = async (service: string, protocol: string): Promise<string> =>
  serviceCmd(service, `--add-protocol=${protocol}`);

/**
 * Takes a protocol from a service.
 *
 * @param service the service
 * @param protocol the protocol, `esp`
 * @example tsalt-ssh '*' firewalld.remove_service_protocol my_service esp
 */
export const remove_service_protocol = async (service: string, protocol: string): Promise<string> =>
  serviceCmd(service, `--remove-protocol=${protocol}`);
