/** Manages the active profile of tuned. */
import { messageOf } from '../../../protocol/error.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('tuned.active') || [false, 'tuned-adm is not installed.'];

const wordsOf = (text: string): string[] => text.split(/\s+/).filter(word => word !== '');

/**
 * Makes sure that tuned uses a profile.
 *
 * @param name the profile, or several separated by spaces
 * @example
 * virtual-guest:
 *   tuned.profile
 */
export const profile = async (name: string): Promise<StateReturn> => {
  try {
    const now: string = await salt('tuned.active')();
    const known: string[] = await salt('tuned.list')();
    if (wordsOf(name).length === 0 || wordsOf(name).some(word => !known.includes(word)))
      return failed(name, 'Invalid Profile Name');
    if (wordsOf(now).join(' ') === wordsOf(name).join(' '))
      return unchanged(name, 'System already in the correct state');
    if (__opts__.test)
      return would(name, `The state of "${now}" will be changed.`, {
        old: now,
        new: `Profile will be set to ${name}`,
      });
    const next: string | false = await salt('tuned.profile')(name);
    return next === false
      ? failed(name, `tuned-adm could not use the profile ${name}`)
      : changed(name, `The state of "${name}" was changed!`, { old: now, new: next });
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/**
 * Makes sure that tuned is off.
 *
 * @param name any name
 * @example
 * tuned:
 *   tuned.off
 */
export const off = async (name = 'off'): Promise<StateReturn> => {
  try {
    const now: string = await salt('tuned.active')();
    if (now === 'off' || now === 'none')
      return unchanged(name, 'System already in the correct state');
    if (__opts__.test)
      return would(name, `The state of "${now}" will be changed.`, {
        old: now,
        new: 'Profile will be set to off',
      });
    return (await salt('tuned.off')())
      ? changed(name, 'off', { old: now, new: 'off' })
      : failed(name, 'tuned-adm could not switch tuned off');
  } catch (error) {
    return failed(name, messageOf(error));
  }
};
