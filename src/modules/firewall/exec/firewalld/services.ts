import { CommandExecutionError } from '../../../api.ts';
import { firewallCmd, outputTokens, zoneCmd } from '../../firewall-cmd.ts';
import { reload_rules } from './zones.ts';

/**
 * Returns the names of all services that firewalld knows.
 *
 * @param permanent false: as they are now
 * @example tsalt-ssh '*' firewalld.get_services
 */
export const get_services = async (permanent = true): Promise<string[]> =>
  outputTokens(await zoneCmd(null, permanent, '--get-services'));

/**
 * Makes a service: a name for ports and protocols.
 *
 * @param name its name
 * @param restart false: do not reload the permanent settings
 * @example tsalt-ssh '*' firewalld.new_service my_service
 */
export const new_service = async (name: string, restart = true): Promise<string> => {
  const done = await firewallCmd('--permanent', `--new-service=${name}`);
  return restart ? reload_rules() : done;
};

/**
 * Removes a service.
 *
 * @param name its name
 * @param restart false: do not reload the permanent settings
 * @example tsalt-ssh '*' firewalld.delete_service my_service
 */
export const delete_service = async (name: string, restart = true): Promise<string> => {
  const done = await firewallCmd('--permanent', `--delete-service=${name}`);
  return restart ? reload_rules() : done;
};

/**
 * Returns the services that a zone allows.
 *
 * @param zone the zone, the default one when not given
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.list_services my_zone
 */
export const list_services = async (
  zone: string | null = null,
  permanent = true,
): Promise<string[]> => outputTokens(await zoneCmd(zone, permanent, '--list-services'));

/**
 * Allows a service in a zone.
 *
 * @param service the service
 * @param zone the zone, the default one when not given
 * @param permanent false: change the running configuration instead of the permanent one
 * @example tsalt-ssh '*' firewalld.add_service ssh my_zone
 */
export const add_service = async (
  service: string,
  zone: string | null = null,
  permanent = true,
): Promise<string> => zoneCmd(zone, permanent, `--add-service=${service}`);

/**
 * Removes a service from the allowed services of a zone.
 *
 * @param service the service
 * @param zone the zone, the default one when not given
 * @param permanent false: change the running configuration instead of the permanent one
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
 * Returns the ports of a service.
 *
 * @param service the service
 * @example tsalt-ssh '*' firewalld.get_service_ports ssh
 */
export const get_service_ports = async (service: string): Promise<string[]> =>
  outputTokens(await serviceCmd(service, '--get-ports'));

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
 * Removes a port from a service.
 *
 * @param service the service
 * @param port the port and its protocol, `80/tcp`
 * @example tsalt-ssh '*' firewalld.remove_service_port my_service 80/tcp
 */
export const remove_service_port = async (service: string, port: string): Promise<string> =>
  serviceCmd(service, `--remove-port=${port}`);

/**
 * Returns the protocols of a service.
 *
 * @param service the service
 * @example tsalt-ssh '*' firewalld.get_service_protocols my_service
 */
export const get_service_protocols = async (service: string): Promise<string[]> =>
  outputTokens(await serviceCmd(service, '--get-protocols'));

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
 * Removes a protocol from a service.
 *
 * @param service the service
 * @param protocol the protocol, `esp`
 * @example tsalt-ssh '*' firewalld.remove_service_protocol my_service esp
 */
export const remove_service_protocol = async (service: string, protocol: string): Promise<string> =>
  serviceCmd(service, `--remove-protocol=${protocol}`);
