/** Keeps cheese sliced. It is there only where the execution module of its name is. */
import { __context__, __opts__, __salt__, type StateReturn } from 'tsalt-ssh/module';

export const __virtual__ = (): string | [false, string] =>
  'cheese.slice' in __salt__ ? 'cheese' : [false, 'enzymes unavailable'];

/**
 * Sees to it that a product is cut, once per run.
 *
 * @param name the product
 * @param count how many slices
 */
export const sliced = async (
  name: string,
  { count = 1 }: { count?: number } = {},
): Promise<StateReturn> => {
  __context__.sliced ??= {};
  const before: string[] = __context__.sliced[name] ?? [];
  if (before.length >= count)
    return { name, changes: {}, result: true, comment: `${name} is sliced already` };
  if (__opts__.test) return { name, changes: {}, result: null, comment: `${name} would be sliced` };
  const slices = await __salt__['cheese.slice'](name, { count });
  __context__.sliced[name] = slices;
  return { name, changes: { [name]: { old: before, new: slices } }, result: true, comment: '' };
};

/**
 * Cuts anew when what is watched changed.
 *
 * @param name the product
 * @param count how many slices
 */
export const mod_watch = async (
  name: string,
  { count = 1 }: { count?: number; sfun?: string } = {},
): Promise<StateReturn> => {
  const slices = await __salt__['cheese.slice'](name, { count });
  return { name, changes: { [name]: slices }, result: true, comment: `${name} was cut again` };
};
