/** Manages settings of FreeBSD's rc(8) with sysrc. */

import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type Plain, type StateReturn } from '../../api.ts';
import { rcValue } from '../rc-value.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('sysrc.get') || [false, 'sysrc is not installed.'];

type Settings = Record<string, Record<string, string>>;

/**
 * Makes sure that a setting has this value.
 *
 * @unknown ignored
 * @param name the setting
 * @param value its value; true and false are YES and NO
 * @param file the file to look into and to write into, in the place of those of `rc_conf_files`
 * @param jail the jail to look into, by name or number
 * @example
 * sshd_flags:
 *   sysrc.managed:
 *     - value: -p 2222
 */
export const managed = async (
  name: string,
  value: Plain,
  file?: string,
  jail?: string,
): Promise<StateReturn> => {
  const old: Settings | null = await salt('sysrc.get')(name, file, jail);
  const wanted = rcValue(value);
  if (Object.values(old ?? {}).some(values => values[name] === wanted))
    return unchanged(name, `${name} is already set to the desired value.`);
  if (__opts__.test)
    return would(name, `The value of "${name}" will be changed!`, {
      old,
      new: `${name} = ${wanted} will be set.`,
    });
  const now: Settings = await salt('sysrc.set')(name, wanted, file, jail);
  return changed(name, `The value of "${name}" was changed!`, { old, new: now });
};

/**
 * Makes sure that a setting is not set, so that its default applies.
 *
 * @unknown ignored
 * @param name the setting
 * @param file the file to look into, in the place of those of `rc_conf_files`
 * @param jail the jail to look into, by name or number
 * @example
 * sshd_flags:
 *   sysrc.absent
 */
export const absent = async (name: string, file?: string, jail?: string): Promise<StateReturn> => {
  const old: Settings | null = await salt('sysrc.get')(name, file, jail);
  if (Object.keys(old ?? {}).every(isDefault))
    return unchanged(name, `"${name}" is already absent.`);
  if (__opts__.test)
    return would(name, `"${name}" will be removed!`, { old, new: `"${name}" will be removed.` });
  const now: string = await salt('sysrc.remove')(name, file, jail);
  return changed(name, `"${name}" was removed!`, { old, new: now });
};

const isDefault = (file: string): boolean => file.startsWith('/etc/defaults/');
