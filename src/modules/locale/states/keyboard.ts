/** Manages the keyboard layout of the system and of X. */

import { hasFunction, salt } from '../../_shared/states/call.ts';
import { ensure, type StateReturn } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('keyboard.get_sys') || [false, 'keyboard module could not be loaded'];

const ensureLayout = (name: string, which: 'sys' | 'x', what: string): Promise<StateReturn> => {
  const title = `${what[0]?.toUpperCase()}${what.slice(1)}`;
  return ensure(name, {
    read: () => salt(`keyboard.get_${which}`)(),
    plan: current =>
      current === name
        ? `${title} layout ${name} already set`
        : {
            would: `${title} layout ${name} needs to be set`,
            done: `Set ${what} keyboard layout ${name}`,
            changes: { layout: name },
            preview: {},
          },
    apply: async () => void (await salt(`keyboard.set_${which}`)(name)),
  });
};

/**
 * Makes sure that the system's keyboard has a layout.
 *
 * @param name the layout
 * @example
 * de:
 *   keyboard.system
 */
export const system = async (name: string): Promise<StateReturn> =>
  ensureLayout(name, 'sys', 'system');

/**
 * Makes sure that the keyboard has a layout in the X session of the environment (`DISPLAY`).
 *
 * @param name the layout
 * @example
 * de:
 *   keyboard.xorg
 */
export const xorg = async (name: string): Promise<StateReturn> => ensureLayout(name, 'x', 'XOrg');
