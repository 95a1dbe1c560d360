/** Manages kernel modules, now and at boot. */
import { messageOf } from '../../../protocol/error.ts';
import { inPlan, newReturn } from '../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../api.ts';

type KmodOptions = {
  persist?: boolean;
  /** several modules */
  mods?: string[] | null;
};

/**
 * Makes sure that kernel modules are loaded.
 *
 * @param name the module, or a name for the state when `mods` is given
 * @param persist also at boot
 * @example
 * br_netfilter:
 *   kmod.present:
 *     - persist: True
 */
export const present = async (
  name: string,
  { persist = false, mods = null }: KmodOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const wanted = mods ?? [name];
  const loaded: string[] = await __salt__['kmod.mod_list']?.();
  const kept: string[] = persist ? await __salt__['kmod.mod_list']?.(true) : loaded;
  const isThere = (mod: string): boolean =>
    [loaded, kept].every(list => list.includes(mod.replaceAll('-', '_')));
  const comments = sentence(wanted.filter(isThere), 'is already present', 'are already present');
  const missing = wanted.filter(mod => !isThere(mod));
  if (missing.length === 0) return { ...ret, comment: comments.join('\n') };
  if (__opts__.test) {
    comments.push(...sentence(missing, 'is set to be loaded', 'are set to be loaded'));
    const changes = inPlan(Object.fromEntries(missing.map(mod => [mod, 'loaded'])));
    return { ...ret, changes, result: null, comment: comments.join('\n') };
  }
  for (const mod of missing)
    try {
      const done: string[] = await __salt__['kmod.load']?.(mod, persist);
      for (const each of done) ret.changes[each] = 'loaded';
      comments.push(`Loaded kernel module ${mod}`);
    } catch (error) {
      ret.result = false;
      comments.push(`Failed to load kernel module ${mod}: ${messageOf(error)}`);
    }
  return { ...ret, comment: comments.join('\n') };
};

/**
 * Makes sure that kernel modules are not loaded.
 *
 * @param name the module, or a name for the state when `mods` is given
 * @param persist also not at boot
 * @param comment comment them out in the file for boot, do not remove them
 * @example
 * pcspkr:
 *   kmod.absent:
 *     - persist: True
 */
export const absent = async (
  name: string,
  { persist = false, comment = true, mods = null }: KmodOptions & { comment?: boolean } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const unwanted = mods ?? [name];
  const loaded: string[] = await __salt__['kmod.mod_list']?.();
  const kept: string[] = persist ? await __salt__['kmod.mod_list']?.(true) : [];
  const present_ = unwanted.filter(mod => [...loaded, ...kept].includes(mod.replaceAll('-', '_')));
  if (present_.length === 0) {
    const lines = sentence(unwanted, 'is already removed', 'are already removed');
    return { ...ret, comment: lines.join('\n') };
  }
  if (__opts__.test) {
    const lines = sentence(present_, 'is set to be removed', 'are set to be removed');
    const changes = inPlan(Object.fromEntries(present_.map(mod => [mod, 'removed'])));
    return { ...ret, changes, result: null, comment: lines.join('\n') };
  }
  const comments: string[] = [];
  for (const mod of present_)
    try {
      const done: string[] = await __salt__['kmod.remove']?.(mod, persist, comment);
      for (const each of done) ret.changes[each] = 'removed';
      comments.push(`Removed kernel module ${mod}`);
    } catch (error) {
      ret.result = false;
      comments.push(`Failed to remove kernel module ${mod}: ${messageOf(error)}`);
    }
  return { ...ret, comment: comments.join('\n') };
};

const sentence = (mods: string[], one: string, more: string): string[] => {
  if (mods.length === 0) return [];
  return mods.length === 1
    ? [`Kernel module ${mods[0]} ${one}`]
    : [`Kernel modules ${mods.join(', ')} ${more}`];
};
