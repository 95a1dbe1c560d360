/** Manages the locales of the system. */
import { messageOf } from '../../../protocol/error.ts';
import { failed, newReturn } from '../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../api.ts';

/**
 * Sets the system's locale.
 *
 * @param name the locale
 *
 * @example
 * en_US.UTF-8:
 *   locale.system: []
 */
export const system = async (name: string): Promise<StateReturn> => {
  const ret = newReturn(name);
  try {
    if ((await __salt__['locale.get_locale']?.()) === name)
      return { ...ret, comment: `System locale ${name} already set` };
    if (__opts__.test)
      return { ...ret, result: null, comment: `System locale ${name} needs to be set` };
    return (await __salt__['locale.set_locale']?.(name))
      ? { ...ret, changes: { locale: name }, comment: `Set system locale ${name}` }
      : failed(ret, `Failed to set system locale to ${name}`);
  } catch (error) {
    return failed(ret, `Failed to set system locale: ${messageOf(error)}`);
  }
};

/**
 * Makes sure that a locale is there.
 *
 * @param name the locale
 *
 * @example
 * de_DE.UTF-8:
 *   locale.present: []
 */
export const present = async (name: string): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (await __salt__['locale.avail']?.(name))
    return { ...ret, comment: `Locale ${name} is already present` };
  if (__opts__.test)
    return { ...ret, result: null, comment: `Locale ${name} needs to be generated` };
  return (await __salt__['locale.gen_locale']?.(name))
    ? { ...ret, changes: { locale: name }, comment: `Generated locale ${name}` }
    : failed(ret, `Failed to generate locale ${name}`);
};
