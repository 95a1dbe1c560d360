/**
 * Manages AppArmor profiles, which restrict what programs may do. Salt has no such module; the
 * functions are named after AppArmor's own tools. Python's apparmor-utils are not needed.
 *
 * @platform Linux
 * @depends apparmor_parser
 */

import { which } from '../../_shared/commands/which.ts';
import { CommandExecutionError } from '../../api.ts';
import {
  isComplainMode,
  keepMode,
  loadedProfiles,
  modeAtBoot,
  type ProfileMode,
  parser,
  parseText,
  profileFile,
  profileMode,
} from '../apparmor-profiles.ts';

export const __virtual__ = (): true | [false, string] =>
  which('apparmor_parser') !== undefined || [false, 'apparmor is not installed.'];

/**
 * Whether the kernel has AppArmor enabled.
 *
 * @example tsalt-ssh '*' apparmor.enabled
 */
export const enabled = async (): Promise<boolean> => loadedProfiles() !== undefined;

/**
 * Returns the loaded profiles with their modes: `enforce`, `complain`, `unconfined` …
 *
 * @example tsalt-ssh '*' apparmor.profiles
 */
export const profiles = async (): Promise<Record<string, string>> => loadedProfiles() ?? {};

/**
 * Returns the names of the profiles in a file.
 *
 * @param profile the file, as `usr.sbin.mysqld`, or its path in /etc/apparmor.d
 * @example tsalt-ssh db1 apparmor.names usr.sbin.mysqld
 */
export const names = async (profile: string): Promise<string[]> =>
  (await parseText(profileFile(profile), '--names')).split('\n').filter(line => line !== '');

/**
 * Returns the modes of a file's profiles: `boot` is `enforce`, `complain` or `disable`; `now` can
 * also be `mixed`, or null if AppArmor is not enabled in the kernel.
 *
 * @param profile the file, as `usr.sbin.mysqld`, or its path in /etc/apparmor.d
 * @example tsalt-ssh db1 apparmor.mode usr.sbin.mysqld
 */
export const mode = async (profile: string): Promise<{ boot: ProfileMode; now: string | null }> => {
  const file = profileFile(profile);
  const loaded = loadedProfiles();
  const boot = modeAtBoot(file);
  if (!loaded) return { boot, now: null };
  const all = new Set((await names(profile)).map(name => loaded[name] ?? 'disable'));
  const [only = 'disable'] = all;
  return { boot, now: all.size > 1 ? 'mixed' : only };
};

/**
 * Sets a file's profiles to be enforced (`enforce`), to only log violations (`complain`), or to not
 * be loaded (`disable`), now and at boot. If the file cannot be loaded, nothing changes.
 *
 * @param profile the file, as `usr.sbin.mysqld`, or its path in /etc/apparmor.d
 * @param mode enforce, complain or disable
 * @example tsalt-ssh db1 apparmor.set_mode usr.sbin.mysqld complain
 */
export const set_mode = async (profile: string, mode: string): Promise<true> => {
  const file = profileFile(profile);
  const wanted = profileMode(mode);
  if (wanted === 'enforce' && isComplainMode(file))
    throw new CommandExecutionError(
      `${file} sets flags=(complain) itself: remove that flag from the file`,
    );
  if (wanted !== 'disable') await parseText(file, '--skip-kernel-load', '--skip-cache');
  keepMode(file, wanted);
  await load(file, wanted);
  return true;
};

/**
 * Reloads a file's profiles in the mode that they have at boot. A disabled profile is not loaded.
 *
 * @param profile the file, as `usr.sbin.mysqld`, or its path in /etc/apparmor.d
 * @example tsalt-ssh db1 apparmor.reload usr.sbin.mysqld
 */
export const reload = async (profile: string): Promise<boolean> => {
  const file = profileFile(profile);
  const wanted = modeAtBoot(file);
  if (wanted !== 'disable') await load(file, wanted);
  return wanted !== 'disable';
};

const load = async (file: string, wanted: ProfileMode): Promise<void> => {
  const loaded = loadedProfiles();
  if (!loaded) return;
  if (wanted === 'complain') await parser(['--replace', '--Complain', file]);
  if (wanted === 'enforce') await parser(['--replace', file]);
  if (wanted !== 'disable') return;
  // Only loaded profiles can be removed.
  const all = await names(file);
  if (all.some(name => name in loaded)) await parseText(file, '--remove');
};
