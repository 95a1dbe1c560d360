/** Manages the keyboard layout of the system and of X. */

import { hasFunction, salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('keyboard.get_sys') || [false, 'keyboard module could not be loaded'];

const keep = async (name: string, which: 'sys' | 'x', what: string): Promise<StateReturn> =>
  failOnError(name, async () => {
    const title = `${what[0]?.toUpperCase()}${what.slice(1)}`;
    if ((await salt(`keyboard.get_${which}`)()) === name)
      return unchanged(name, `${title} layout ${name} already set`);
    if (__opts__.test) return would(name, `${title} layout ${name} needs to be set`);
    await salt(`keyboard.set_${which}`)(name);
    return changed(name, `Set ${what} keyboard layout ${name}`, { layout: name });
  });

/**
 * Makes sure that the system's keyboard has a layout.
 *
 * @param name the layout
 * @example
 * de:
 *   keyboard.system
 */
export const system = async (name: string): Promise<StateReturn> => keep(name, 'sys', 'system');

/**
 * Makes sure that the keyboard has a layout in the X session of the environment (`DISPLAY`).
 *
 * @param name the layout
 * @example
 * de:
 *   keyboard.xorg
 */
export const xorg = async (name: string): Promise<StateReturn> => keep(name, 'x', 'XOrg');
