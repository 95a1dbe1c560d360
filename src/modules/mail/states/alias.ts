/** Manages mail aliases in `/etc/aliases` or the file of the option `aliases.file`. */

import { salt } from '../../_shared/states/call.ts';
import { ensure, type StateReturn } from '../../api.ts';

/**
 * Sends a local user's mail elsewhere.
 *
 * @param name the local user or address
 * @param target the address, or a list of addresses
 *
 * @example
 * root:
 *   alias.present:
 *     - target: ops@example.com
 */
export const present = async (name: string, target: string | string[]): Promise<StateReturn> => {
  const shown = [target].flat().join(', ');
  return ensure(name, {
    read: () => salt('aliases.has_target')(name, target),
    plan: hasTarget =>
      hasTarget
        ? `Alias ${name} already present`
        : {
            would: `Alias ${name} -> ${shown} is set to be added`,
            done: `Set email alias ${name} -> ${shown}`,
            changes: { alias: name },
            preview: {},
          },
    apply: () => salt('aliases.set_target')(name, target),
  });
};

/**
 * Makes sure that an alias does not exist.
 *
 * @param name the alias
 *
 * @example
 * old:
 *   alias.absent: []
 */
export const absent = async (name: string): Promise<StateReturn> =>
  ensure(name, {
    read: () => salt('aliases.get_target')(name),
    plan: target =>
      target
        ? {
            would: `Alias ${name} is set to be removed`,
            done: `Removed alias ${name}`,
            changes: { alias: name },
            preview: {},
          }
        : `Alias ${name} already absent`,
    apply: () => salt('aliases.rm_alias')(name),
  });
