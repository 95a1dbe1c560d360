/**
 * Manages profiles of tuned with tuned-adm.
 *
 * @platform linux
 */
import { runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';

export const __virtual__ = (): true | [false, string] =>
  which('tuned-adm') !== undefined || [false, 'tuned-adm is not installed.'];

const tuned = (...args: string[]) =>
  runCommand(['tuned-adm', ...args], { plainLocale: true, cwd: '/' });

/**
 * Returns the available profiles.
 *
 * @example tsalt-ssh '*' tuned.list
 */
export const list_ = async (): Promise<string[]> => {
  const { stdout } = await tuned('list');
  const all = stdout.split('** COLLECTED WARNINGS **')[0] ?? '';
  return [...all.matchAll(/^\s*- (\S+)/gm)].map(([, name = '']) => name);
};

export const __func_alias__ = { list_: 'list' };

/**
 * Returns the active profile, or several separated by spaces; `none` if tuned is off.
 *
 * @example tsalt-ssh '*' tuned.active
 */
export const active = async (): Promise<string> => {
  const { code, stdout } = await tuned('active');
  const found = /^Current active profile: (\w.*)$/m.exec(stdout)?.[1];
  return code === 0 && found !== undefined ? found.trim() : 'none';
};

/**
 * Disables tuned and returns whether that succeeded.
 *
 * @example tsalt-ssh '*' tuned.off
 */
export const off = async (): Promise<boolean> => (await tuned('off')).code === 0;

/**
 * Activates a profile and returns its name; false on failure.
 *
 * @param profile_name the profile, or several separated by spaces
 * @example tsalt-ssh '*' tuned.profile virtual-guest
 */
export const profile = async (profile_name: string): Promise<string | false> => {
  const words = profile_name.split(/\s+/).filter(word => word !== '');
  return (await tuned('profile', ...words)).code === 0 && profile_name;
};
