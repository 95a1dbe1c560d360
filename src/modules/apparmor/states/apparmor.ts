/** Manages AppArmor profiles, which restrict what programs may do. Salt has no such state. */

import { hasFunction, salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, ensure, type PlainDict, type StateReturn } from '../../api.ts';
import { profileMode } from '../apparmor-profiles.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('apparmor.set_mode') || [false, 'apparmor is not installed.'];

/**
 * Makes sure that a file's profiles are enforced (`enforce`), only log violations (`complain`), or
 * are not loaded (`disable`), now and at boot. If AppArmor is not enabled in the kernel, only the
 * mode at boot is managed. With `watch` on the file, its profiles are reloaded when it changes.
 *
 * @param name the file, as `usr.sbin.mysqld`, or its path in /etc/apparmor.d
 * @param mode enforce, complain or disable
 * @example
 * /etc/apparmor.d/usr.sbin.app:
 *   file.managed:
 *     - source: salt://app/apparmor
 *   apparmor.profile:
 *     - mode: complain
 *     - watch:
 *       - file: /etc/apparmor.d/usr.sbin.app
 */
export const profile = async (name: string, mode = 'enforce'): Promise<StateReturn> => {
  const wanted = (): string => profileMode(mode);
  return ensure<Modes>(name, {
    read: () => salt('apparmor.mode')(name),
    plan: ({ boot, now }) => {
      const changes: PlainDict = {
        ...(boot === wanted() ? {} : { boot: { old: boot, new: wanted() } }),
        ...(now === null || now === wanted() ? {} : { now: { old: now, new: wanted() } }),
      };
      const where = now === null ? ' at boot: the kernel has AppArmor not enabled' : '';
      if (Object.keys(changes).length === 0) return `${name} is in mode ${wanted()}${where}`;
      return {
        would: `${name} would be set to mode ${wanted()}${where}`,
        done: `${name} was set to mode ${wanted()}${where}`,
        changes,
      };
    },
    apply: async () => void (await salt('apparmor.set_mode')(name, wanted())),
  });
};

/** The modes of a profile; `now` is null where the kernel has AppArmor not enabled. */
type Modes = { readonly boot: string; readonly now: string | null };

/**
 * Reloads the profiles after a watched state changed.
 *
 * @param name the file
 * @param mode as the state has it
 */
export const mod_watch = async (
  name: string,
  { mode = 'enforce' }: { mode?: string; [other: string]: unknown } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (__opts__.test) return would(name, `${name} would be reloaded`);
    return (await salt('apparmor.reload')(name))
      ? changed(name, `${name} was reloaded in mode ${mode}`, { reloaded: true })
      : unchanged(name, `${name} is disabled`);
  });
