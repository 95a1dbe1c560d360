/** Manages the locales of the system. */
import { salt } from '../../_shared/states/call.ts';
import { ensure, type StateReturn } from '../../api.ts';

/**
 * Sets the system's locale.
 *
 * @param name the locale
 *
 * @example
 * en_US.UTF-8:
 *   locale.system: []
 */
export const system = async (name: string): Promise<StateReturn> =>
  ensure(name, {
    read: () => salt('locale.get_locale')(),
    plan: current =>
      current === name
        ? `System locale ${name} already set`
        : {
            would: `System locale ${name} needs to be set`,
            done: `Set system locale ${name}`,
            changes: { locale: name },
            preview: {},
          },
    apply: () => salt('locale.set_locale')(name),
    failed: reason =>
      reason === undefined
        ? `Failed to set system locale to ${name}`
        : `Failed to set system locale: ${reason}`,
  });

/**
 * Makes sure that a locale is there.
 *
 * @param name the locale
 *
 * @example
 * de_DE.UTF-8:
 *   locale.present: []
 */
export const present = async (name: string): Promise<StateReturn> =>
  ensure(name, {
    read: () => salt('locale.avail')(name),
    plan: isThere =>
      isThere
        ? `Locale ${name} is already present`
        : {
            would: `Locale ${name} needs to be generated`,
            done: `Generated locale ${name}`,
            failed: `Failed to generate locale ${name}`,
            changes: { locale: name },
            preview: {},
          },
    apply: () => salt('locale.gen_locale')(name),
  });
