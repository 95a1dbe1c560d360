/** Manages mail aliases in `/etc/aliases` or the file of the option `aliases.file`. */

import { newReturn } from '../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../api.ts';

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
  const ret = newReturn(name);
  const shown = [target].flat().join(', ');
  if (await __salt__['aliases.has_target']?.(name, target))
    return { ...ret, comment: `Alias ${name} already present` };
  if (__opts__.test)
    return { ...ret, result: null, comment: `Alias ${name} -> ${shown} is set to be added` };
  await __salt__['aliases.set_target']?.(name, target);
  return { ...ret, changes: { alias: name }, comment: `Set email alias ${name} -> ${shown}` };
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
export const absent = async (name: string): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (!(await __salt__['aliases.get_target']?.(name)))
    return { ...ret, comment: `Alias ${name} already absent` };
  if (__opts__.test) return { ...ret, result: null, comment: `Alias ${name} is set to be removed` };
  await __salt__['aliases.rm_alias']?.(name);
  return { ...ret, changes: { alias: name }, comment: `Removed alias ${name}` };
};
