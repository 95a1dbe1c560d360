import { runCommand } from '../../../_shared/commands/run-command.ts';
import { which } from '../../../_shared/commands/which.ts';
import { type PlainDict, SaltInvocationError } from '../../../api.ts';

const ethtool = async (...args: string[]) =>
  runCommand(['ethtool', ...args], { plainLocale: true, cwd: '/' });

const plainInterface = (iface: string): string => {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.:@-]*$/.test(iface))
    throw new SaltInvocationError(`Not an interface: ${iface}`);
  return iface;
};

/**
 * Returns the ring sizes of an interface, as `ethtool -g` lists them: `rx`, `rx-max` … Empty when
 * ethtool is not installed.
 *
 * @param iface its name
 * @example tsalt-ssh '*' network.get_bufsize eth0
 */
export const get_bufsize = async (iface: string): Promise<PlainDict> => {
  const name = plainInterface(iface);
  if (!which('ethtool')) return {};
  const { code, stdout, stderr } = await ethtool('-g', name);
  if (code !== 0) return { result: false, comment: (stderr || stdout).trim() };
  const sizes: PlainDict = {};
  let suffix = '';
  for (const line of stdout.split('\n')) {
    const [, ring, value] = line.match(/^(.+):\s+(\d+)$/) ?? [];
    if (ring !== undefined)
      sizes[`${ring.toLowerCase().replaceAll(' ', '-')}${suffix}`] = Number(value);
    else if (line.endsWith('maximums:')) suffix = '-max';
    else if (line.endsWith('settings:')) suffix = '';
  }
  return { result: Object.keys(sizes).length > 0, ...sizes };
};

/**
 * Sets the sizes of an interface's rings: `rx`, `tx`, `rx-mini`, `rx-jumbo`. False where there is
 * no ethtool.
 *
 * @param iface its name
 * @example tsalt-ssh '*' network.mod_bufsize eth0 tx=4096 rx=4096
 */
export const mod_bufsize = async (
  iface: string,
  { ...sizes }: { [ring: string]: number } = {},
): Promise<false | { result: boolean; comment: string }> => {
  const rings = ['rx', 'tx', 'rx-mini', 'rx-jumbo'];
  const odd = Object.keys(sizes).find(name => !rings.includes(name));
  if (odd !== undefined)
    throw new SaltInvocationError(`network.mod_bufsize sets ${rings.join(', ')}, but not ${odd}`);
  const words = Object.entries(sizes).flatMap(([ring, size]) => [ring, String(Number(size))]);
  if (words.length === 0)
    return {
      result: false,
      comment: 'Requires rx=<val> tx==<val> rx-mini=<val> and/or rx-jumbo=<val>',
    };
  const name = plainInterface(iface);
  if (!which('ethtool')) return false;
  const { code, stdout, stderr } = await ethtool('-G', name, ...words);
  return code === 0
    ? { result: true, comment: words.join(' ') }
    : { result: false, comment: (stderr || stdout).trim() };
};
