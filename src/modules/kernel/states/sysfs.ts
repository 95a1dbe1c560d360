/**
 * Manages attributes of the kernel's devices in /sys. They last until the next boot.
 *
 * @platform Linux
 */
import { isPlainDict } from '../../../protocol/plain.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { ensure, type Plain, type StateReturn } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('sysfs.write') || [false, 'there is no /sys here.'];

/**
 * Makes sure that an attribute has a value.
 *
 * @param name a path below /sys
 * @param value the value; for an attribute that lists its possible values, the active one
 * @param config accepted for compatibility
 * @example
 * kernel/mm/transparent_hugepage/enabled:
 *   sysfs.present:
 *     - value: never
 */
export const present = async (
  name: string,
  value: Plain,
  { config: _config = null }: { config?: string | null } = {},
): Promise<StateReturn> =>
  ensure<Plain>(name, {
    read: () => salt('sysfs.read')(name),
    plan: found => {
      if (found === false) return { impossible: `SysFS attribute ${name} doesn't exist.` };
      if (isPlainDict(found)) return { impossible: `${name} is not a SysFS attribute.` };
      const current = String(found).replace(/^.*\[|\].*$/g, '');
      if (current === String(value)) return `SysFS attribute ${name} is already set.`;
      return {
        would: `SysFS attribute ${name} set to be changed.`,
        done: `Updated SysFS attribute ${name} to ${value}`,
        failed: `Failed to set ${name} to ${value}`,
        changes: { [name]: value },
        preview: {},
      };
    },
    apply: () => salt('sysfs.write')(name, value),
  });
