import { lookup, reverse } from 'node:dns/promises';
import { hostname as currentName } from 'node:os';
import { runChecked, runCommand } from '../../../_shared/commands/run-command.ts';
import { which } from '../../../_shared/commands/which.ts';
import { readOr } from '../../../_shared/files/read-file.ts';
import { replaceFile } from '../../../_shared/files/write-file.ts';
import { readFile } from '../../../_shared/safe-fs/promises.ts';
import { SaltInvocationError } from '../../../api.ts';
import { ip_addrs, ip_addrs6 } from './addresses.ts';

/**
 * The addresses of a name.
 *
 * @param host the name
 * @example tsalt-ssh '*' network.dig example.com
 */
export const dig = async (host: string): Promise<string> =>
  (await lookup(host, { all: true })).map(({ address }) => address).join('\n');

/**
 * The names of this machine's addresses, asked of DNS.
 *
 * @example tsalt-ssh '*' network.fqdns
 */
export const fqdns = async (): Promise<{ fqdns: string[] }> => {
  const all = [...(await ip_addrs()), ...(await ip_addrs6())];
  const names = await Promise.all(all.map(address => reverse(address).catch(() => [])));
  return { fqdns: [...new Set(names.flat())].sort() };
};

/**
 * The name of this machine.
 *
 * @example tsalt-ssh '*' network.get_hostname
 */
export const get_hostname = async (): Promise<string> => currentName();

/**
 * Sets the host name of this machine, now and for later boots.
 *
 * @param hostname the name
 * @example tsalt-ssh 'web1' network.mod_hostname web1.example.com
 */
export const mod_hostname = async (hostname: string): Promise<boolean> => {
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,62}[A-Za-z0-9])?$/.test(hostname))
    throw new SaltInvocationError(`Not a host name: ${hostname}`);
  const before = currentName();
  if (which('hostnamectl') && readOr('/proc/1/comm')?.trim() === 'systemd')
    await runChecked(['hostnamectl', 'set-hostname', hostname], { plainLocale: true, cwd: '/' });
  else {
    await replaceFile('/etc/hostname', `${hostname}\n`);
    await runChecked(['hostname', hostname], { plainLocale: true, cwd: '/' });
  }
  await renameInHosts(before, hostname);
  return true;
};

const renameInHosts = async (before: string, name: string): Promise<void> => {
  const text = await readFile('/etc/hosts', 'utf8').catch(() => '');
  const lines = text.split('\n').map(line => {
    if (/^\s*#/.test(line)) return line;
    return line
      .split(/(\s+)/)
      .map(word => (word === before ? name : word))
      .join('');
  });
  const renamed = lines.join('\n');
  if (renamed !== text && text !== '') await replaceFile('/etc/hosts', renamed);
};

/**
 * The full name of this machine, as its resolver has it.
 *
 * @example tsalt-ssh '*' network.get_fqdn
 */
export const get_fqdn = async (): Promise<string> => {
  const { code, stdout } = await runCommand(['hostname', '-f'], { plainLocale: true });
  return code === 0 && stdout.trim() !== '' ? stdout.trim() : currentName();
};
