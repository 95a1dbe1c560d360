/**
 * Manages attributes of the kernel's devices in /sys. They last until the next boot.
 *
 * @platform Linux
 */
import { isPlainDict } from '../../../protocol/plain.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type Plain, type StateReturn } from '../../api.ts';

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
  failOnError(name, async () => {
    const found: Plain = await salt('sysfs.read')(name);
    if (found === false) return failed(name, `SysFS attribute ${name} doesn't exist.`);
    if (isPlainDict(found)) return failed(name, `${name} is not a SysFS attribute.`);
    const current = String(found).replace(/^.*\[|\].*$/g, '');
    if (current === String(value))
      return unchanged(name, `SysFS attribute ${name} is already set.`);
    if (__opts__.test) return would(name, `SysFS attribute ${name} set to be changed.`);
    if (!(await salt('sysfs.write')(name, value)))
      return failed(name, `Failed to set ${name} to ${value}`);
    return changed(name, `Updated SysFS attribute ${name} to ${value}`, { [name]: value });
  });
