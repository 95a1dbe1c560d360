/**
 * Manages kernel parameters, now and for later boots.
 *
 * @platform linux
 * @depends sysctl
 */

import { dirname, join } from 'node:path';
import { runCommand } from '../../_shared/commands/run-command.ts';
import { writeAtomic } from '../../_shared/files/atomic-write.ts';
import { makeDirs } from '../../_shared/files/make-dirs.ts';
import { existsSync, readdirSync, readFileSync } from '../../_shared/safe-fs/fs.ts';
import { refuseNewlines } from '../../_shared/text/one-line.ts';
import { CommandExecutionError } from '../../api.ts';

/**
 * Returns the file in which parameters are saved.
 *
 * @example tsalt-ssh '*' sysctl.default_config
 */
export const default_config = async (): Promise<string> =>
  existsSync('/run/systemd/system') || existsSync('/etc/sysctl.d')
    ? '/etc/sysctl.d/99-salt.conf'
    : '/etc/sysctl.conf';

/**
 * Returns the value of a kernel parameter; '' if there is none.
 *
 * @param name the parameter, as `net.ipv4.ip_forward`
 *
 * @example tsalt-ssh '*' sysctl.get net.ipv4.ip_forward
 */
export const get = async (name: string): Promise<string> => {
  try {
    return readFileSync(procPath(name), 'utf8').trimEnd();
  } catch {
    return '';
  }
};

/**
 * Returns the parameters in a file, or by default of the running kernel. Returns an empty list if
 * the file is missing.
 *
 * @param config_file the file
 *
 * @example tsalt-ssh '*' sysctl.show config_file=/etc/sysctl.conf
 */
export const show = async ({
  config_file = null,
}: {
  config_file?: string | null;
} = {}): Promise<Record<string, string> | []> => {
  if (config_file === null) return Object.fromEntries(running('/proc/sys', ''));
  if (!existsSync(config_file)) return [];
  return Object.fromEntries(entriesOf(readFileSync(config_file, 'utf8')));
};

/**
 * Sets a kernel parameter until the next boot.
 *
 * @param name the parameter
 * @param value its value
 *
 * @example tsalt-ssh '*' sysctl.assign net.ipv4.ip_forward 1
 */
export const assign = async (
  name: string,
  value: string | number,
): Promise<Record<string, string>> => {
  refuseNewlines({ name, value });
  if (!existsSync(procPath(name))) throw new CommandExecutionError(`sysctl ${name} does not exist`);
  const { code, stderr } = await runCommand(['sysctl', '-w', `${name}=${value}`], {
    plainLocale: true,
  });
  if (code !== 0 || stderr.trim() !== '')
    throw new CommandExecutionError(`sysctl -w failed: ${stderr.trim()}`);
  return { [name]: String(value) };
};

/**
 * Sets a kernel parameter now and for later boots. Returns `Updated` or `Already set`.
 *
 * @param name the parameter
 * @param value its value
 * @param config the file to save it in
 *
 * @example tsalt-ssh '*' sysctl.persist net.ipv4.ip_forward 1
 */
export const persist = async (
  name: string,
  value: string | number,
  config: string | null = null,
): Promise<'Updated' | 'Already set'> => {
  refuseNewlines({ name, value });
  const path = config ?? (await default_config());
  const text = existsSync(path)
    ? readFileSync(path, 'utf8')
    : '#\n# Kernel sysctl configuration\n#\n';
  const kept = new Map(entriesOf(text)).get(name);
  const sameKept = kept !== undefined && isSame(kept, value);
  const sameNow = isSame(await get(name), value);
  if (sameKept && sameNow) return 'Already set';
  if (!sameNow) await assign(name, value);
  if (!sameKept) {
    makeDirs(dirname(path));
    writeAtomic(path, withValue(text, name, String(value)));
  }
  return 'Updated';
};

const procPath = (name: string): string => {
  if (!/^[\w./*@:-]+$/.test(name) || name.includes('..'))
    throw new CommandExecutionError(`${name} is not a valid name of a kernel parameter`);
  // Like sysctl(8): whichever of `/` and `.` comes first separates the components; the other one
  // inside a component means a literal `.` or `/`.
  const isPath = /[./]/.exec(name)?.[0] === '/';
  const swapped = name.replace(/[./]/g, one => (one === '/' ? '.' : '/'));
  return join('/proc/sys', isPath ? name : swapped);
};

const isSame = (one: string, other: string | number): boolean =>
  one.split(/\s+/).join(' ').trim() === String(other).split(/\s+/).join(' ').trim();

const entriesOf = (text: string): [string, string][] =>
  text.split('\n').flatMap((line): [string, string][] => {
    const [, name, value] = line.match(/^\s*([^#;=\s][^=]*?)\s*=\s*(.*?)\s*$/) ?? [];
    return name === undefined ? [] : [[name, value ?? '']];
  });

const withValue = (text: string, name: string, value: string): string => {
  let placed = false;
  const lines = text
    .replace(/\n$/, '')
    .split('\n')
    .flatMap(line => {
      if (entriesOf(line)[0]?.[0] !== name) return [line];
      if (placed) return [];
      placed = true;
      return [`${name} = ${value}`];
    });
  if (!placed) lines.push(`${name} = ${value}`);
  return `${lines.join('\n')}\n`;
};

const running = (dir: string, prefix: string): [string, string][] =>
  readdirSync(dir, { withFileTypes: true }).flatMap((entry): [string, string][] => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return running(path, `${prefix}${entry.name}.`);
    try {
      return [[prefix + entry.name, readFileSync(path, 'utf8').trimEnd()]];
    } catch {
      return [];
    }
  });
