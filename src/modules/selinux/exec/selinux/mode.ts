/**
 * SELinux: its mode, booleans, modules and rules for files and ports.
 *
 * @platform linux
 * @depends semanage, setsebool, semodule
 */

import { which } from '../../../_shared/commands/which.ts';
import { readOr } from '../../../_shared/files/read-file.ts';
import { replaceFile } from '../../../_shared/files/write-file.ts';
import { existsSync } from '../../../_shared/safe-fs/fs.ts';
import { writeFile } from '../../../_shared/safe-fs/promises.ts';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';

export const __virtual__ = (): true | [false, string] => {
  const missing = ['semanage', 'setsebool', 'semodule'].filter(name => !which(name));
  return missing.length === 0 || [false, `${missing.join(', ')} is not in the path.`];
};

const configFile = '/etc/selinux/config';

/**
 * Where the kernel shows SELinux; null when it is off.
 *
 * @example tsalt-ssh '*' selinux.selinux_fs_path
 */
export const selinux_fs_path = async (): Promise<string | null> =>
  ['/sys/fs/selinux', '/selinux'].find(folder => existsSync(`${folder}/enforce`)) ?? null;

/**
 * The mode that SELinux is in: `Enforcing`, `Permissive` or `Disabled`.
 *
 * @example tsalt-ssh '*' selinux.getenforce
 */
export const getenforce = async (): Promise<string> => {
  const folder = await selinux_fs_path();
  const value = folder === null ? undefined : readOr(`${folder}/enforce`);
  if (value === undefined) return 'Disabled';
  return value.trim() === '0' ? 'Permissive' : 'Enforcing';
};

/**
 * The mode that SELinux starts in.
 *
 * @example tsalt-ssh '*' selinux.getconfig
 */
export const getconfig = async (): Promise<string | null> => {
  const value = /^\s*SELINUX=(\w+)/m.exec(readOr(configFile) ?? '')?.[1];
  return value === undefined ? null : capitalized(value);
};

const capitalized = (text: string): string =>
  text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase();

/**
 * Sets the mode, now and at boot, and returns the current one. A change to or from `Disabled` needs
 * a reboot.
 *
 * @param mode `enforcing`, `permissive` or `disabled`
 * @example tsalt-ssh '*' selinux.setenforce enforcing
 */
export const setenforce = async (mode: string): Promise<string> => {
  const wanted = mode.toLowerCase();
  if (!['enforcing', 'permissive', 'disabled'].includes(wanted))
    throw new SaltInvocationError(`Invalid mode ${mode}`);
  const folder = await selinux_fs_path();
  if (folder !== null) await writeFile(`${folder}/enforce`, wanted === 'enforcing' ? '1' : '0');
  const config = readOr(configFile);
  if (config === undefined)
    throw new CommandExecutionError(`Could not read SELinux config file: ${configFile}`);
  const changed = _withMode(config, wanted);
  if (changed !== config) await replaceFile(configFile, changed);
  return getenforce();
};

/** The configuration with another mode, all else as it is. */
export const _withMode = (config: string, mode: string): string =>
  /^SELINUX=/m.test(config)
    ? config.replace(/^SELINUX=.*$/m, `SELINUX=${mode}`)
    : `${config}${config === '' || config.endsWith('\n') ? '' : '\n'}SELINUX=${mode}\n`;
