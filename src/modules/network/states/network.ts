/** Interfaces, routes and names of the network. */
import { messageOf } from '../../../protocol/error.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { unifiedDiff } from '../../_shared/text/unified-diff.ts';
import { __opts__, type StateReturn } from '../../api.ts';
import { isSameInterface } from '../ifupdown-file.ts';

/**
 * The machine has this name, now and after a reboot.
 *
 * Of Salt's `network.system`, only the host name is supported. Use `file.managed` for the files of
 * a distribution's network scripts.
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

/** A line without the password of a wireless network. */
const hidden = (line: string): string => line.replace(/(wpa-psk\s).*/, '$1***');

/** An interface's old and new lines, as an answer. */
const answerOf = (name: string, old: readonly string[], wanted: readonly string[]): StateReturn => {
  if (isSameInterface(old, wanted)) return unchanged(name, `Interface ${name} is up to date.`);
  const isNew = old.length === 0;
  const diff = unifiedDiff(old.map(hidden), wanted.map(hidden)).join('').trimEnd();
  if (__opts__.test)
    return would(
      name,
      isNew
        ? `Interface ${name} is set to be added.`
        : `Interface ${name} is set to be updated:\n${diff}`,
    );
  return changed(name, `Interface ${name} ${isNew ? 'added' : 'updated'}.`, {
    interface: isNew ? 'Added network interface.' : diff,
  });
};

const isUp = async (name: string): Promise<boolean> =>
  (await salt('network.interfaces')())[name]?.up === true;

/**
 * An interface is set up in the files of Debian's ifupdown, and up (down with `enabled: False`).
 * The rest of these files is not changed. When its settings change, the interface is restarted,
 * which may end the connection to the host: `noifupdown` prevents that. Systems with other services
 * for their network (netplan, systemd-networkd, NetworkManager) are refused.
 *
 * Settings are those of interfaces(5) by Salt's names: `proto` (`dhcp`, `static`, `manual`),
 * `ipaddr`, `ipaddrs`, `netmask`, `gateway`, `dns`, `search`, `hwaddr`, `mtu`, `metric`, `ttl`,
 * `hotplug`, `up_cmds`, `down_cmds`, `pre_up_cmds` and so on; those that begin with `ipv6`
 * (`ipv6proto`, `ipv6addr`, `ipv6netmask`, `ipv6gateway`) are for IPv6 only. Of a bridge `ports`,
 * `stp`, `fd` …, of a bond `slaves`, `mode`, `miimon` …, of a slave `master`; `autoneg`, `speed`,
 * `duplex` and offloads (`gro` …) of the device. `filename` is a file of interfaces.d.
 *
 * @param name the interface
 * @param enabled false: it is down, and stays so at boot
 * @param type `eth`, `bond`, `bridge`, `slave` or `vlan`
 * @param noifupdown true: only the file is written
 * @example
 * eth0:
 *   network.managed:
 *     - type: eth
 *     - proto: static
 *     - ipaddr: 192.0.2.10
 *     - netmask: 255.255.255.0
 *     - gateway: 192.0.2.1
 *     - dns: [192.0.2.53]
 */
export const managed = async (
  name: string,
  {
    enabled = true,
    type = 'eth',
    noifupdown = null,
    ...settings
  }: { enabled?: boolean; type?: string; noifupdown?: unknown; [setting: string]: unknown } = {},
): Promise<StateReturn> => {
  if (!hasFunction('ip.build_interface'))
    return failed(name, asFile('network.managed', 'the interface'));
  return failOnError(name, async () => {
    const old: string[] = await salt('ip.get_interface')(name);
    const build = (test: boolean): Promise<string[]> =>
      salt('ip.build_interface')(name, type, enabled, { ...settings, test });
    const state = answerOf(name, old, await build(true));
    if (__opts__.test) return state;
    const isChanged = Object.keys(state.changes).length > 0;
    if (isChanged) await build(false);
    if (noifupdown !== null) return state;
    const wasUp = await isUp(name);
    const status = await bringTo(name, { type, enabled, wasUp, isChanged });
    if (status === undefined) return state;
    return { ...state, changes: { ...state.changes, status: `Interface ${name} ${status}` } };
  });
};

const bringTo = async (
  name: string,
  at: { type: string; enabled: boolean; wasUp: boolean; isChanged: boolean },
): Promise<string | undefined> => {
  const { type, enabled, wasUp, isChanged } = at;
  if (!enabled) {
    if (!wasUp) return undefined;
    await salt('ip.down')(name, type);
    return 'down';
  }
  if (wasUp && !isChanged) return undefined;
  if ((await salt('ip.up')(name, type, wasUp)) === null) return undefined;
  // The link of a manual one is not for ifupdown to bring up.
  if (!isChanged && !(await isUp(name))) return undefined;
  return wasUp ? 'restart to validate' : 'is up';
};

/**
 * Refused: distributions keep routes in files of several kinds.
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
