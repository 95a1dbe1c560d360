/** Interfaces, routes and names of the network. */
import { messageOf } from '../../protocol/error.ts';
import { __opts__, type StateReturn } from '../api.ts';
import { salt } from '../lib/call.ts';
import { changed, failed, unchanged, would } from '../lib/returns.ts';

/**
 * The machine has this name, now and after a reboot.
 *
 * Of Salt's `network.system` the host name is what there is here; the files of a distribution's
 * network scripts are files: `file.managed` writes them.
 *
 * @param name any name; the host name when `hostname` is not given
 * @param hostname the host name
 * @param enabled true is the only value: networking is never switched off
 * @param apply_hostname false: do nothing about the name
 * @unknown ignored
 * @example
 * web1.example.com:
 *   network.system:
 *     - enabled: true
 *     - hostname: web1.example.com
 */
export const system = async (
  name: string,
  {
    hostname = null,
    enabled = true,
    apply_hostname = true,
  }: { hostname?: string | null; enabled?: boolean; apply_hostname?: boolean } = {},
): Promise<StateReturn> => {
  if (!enabled)
    return failed(
      name,
      'The value false of "enabled" is not supported: it would cut the host off.',
    );
  const wanted = hostname ?? name;
  try {
    const now: string = await salt('network.get_hostname')();
    if (!apply_hostname || now === wanted)
      return unchanged(name, 'Global network settings are up to date.');
    if (__opts__.test)
      return would(name, 'Global network settings are set to be updated.', {
        hostname: { old: now, new: wanted },
      });
    await salt('network.mod_hostname')(wanted);
    return changed(name, 'Global network settings are up to date.', {
      hostname: { old: now, new: wanted },
    });
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/**
 * Refused: distributions configure their interfaces in files of several kinds.
 *
 * @param name the interface
 */
export const managed = async (
  name: string,
  // biome-ignore lint/correctness/noEmptyPattern: the pattern says that any keyword is taken
  {}: { [argument: string]: unknown } = {},
): Promise<StateReturn> => failed(name, asFile('network.managed', 'the interface'));

/**
 * Refused, as `network.managed`.
 *
 * @param name the interface
 */
export const routes = async (
  name: string,
  // biome-ignore lint/correctness/noEmptyPattern: the pattern says that any keyword is taken
  {}: { [argument: string]: unknown } = {},
): Promise<StateReturn> => failed(name, asFile('network.routes', 'its routes'));

const asFile = (fun: string, what: string): string =>
  `${fun} is not supported: write ${what} into a file of this host's network service (netplan, systemd-networkd, NetworkManager, ifupdown) with file.managed, and have that service watch it.`;
