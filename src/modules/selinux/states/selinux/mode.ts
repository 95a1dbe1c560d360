/** SELinux: its mode, booleans, modules and rules for files and ports. */

import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../../../_shared/states/returns.ts';
import { plainStr } from '../../../_shared/text/python-text.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('selinux.getenforce') || [
    false,
    'semanage, setsebool and semodule are needed: install the tools of SELinux.',
  ];

/** A mode as SELinux calls it; undefined for none. */
const modeOf = (text: string): string | undefined => {
  const mode = text.toLowerCase();
  if (mode.startsWith('e') || mode === '1' || mode === 'on') return 'Enforcing';
  if (mode.startsWith('p') || mode === '0' || mode === 'off') return 'Permissive';
  return mode.startsWith('d') ? 'Disabled' : undefined;
};

/**
 * SELinux is in a mode, now and at boot. To and from `disabled` takes a reboot.
 *
 * @param name `enforcing`, `permissive` or `disabled`
 * @example
 * enforcing:
 *   selinux.mode
 */
export const mode = async (name: string): Promise<StateReturn> =>
  failOnError(name, async () => {
    const wanted = modeOf(name);
    if (wanted === undefined) return failed(name, `${name} is not an accepted mode`);
    const now: string = await salt('selinux.getenforce')();
    const atBoot: string | null = await salt('selinux.getconfig')();
    const old = now === wanted && atBoot !== wanted ? atBoot : now;
    if (old === wanted) return unchanged(name, `SELinux is already in ${wanted} mode`);
    if (__opts__.test)
      return would(name, `SELinux mode is set to be changed to ${wanted}`, { old, new: wanted });
    const done: string = await salt('selinux.setenforce')(wanted);
    const isSet =
      done === wanted || (wanted === 'Disabled' && (await salt('selinux.getconfig')()) === wanted);
    return isSet
      ? changed(name, `SELinux has been set to ${wanted} mode`, { old, new: done })
      : failed(name, `Failed to set SELinux to ${wanted} mode`);
  });

const onOrOff = (value: Plain): string | undefined => {
  const text = plainStr(value).toLowerCase();
  if (['1', 'on', 'yes', 'true'].includes(text)) return 'on';
  return ['0', 'off', 'no', 'false'].includes(text) ? 'off' : undefined;
};

/**
 * A boolean of SELinux has a value.
 *
 * @param name the boolean
 * @param value on or off
 * @param persist true: at boot too
 * @example
 * httpd_can_network_connect:
 *   selinux.boolean:
 *     - value: true
 *     - persist: true
 */
export const boolean = async (
  name: string,
  { value, persist = false }: { value: Plain; persist?: boolean },
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const found = (await salt('selinux.list_sebool')())[name];
    if (!found) return failed(name, `Boolean ${name} is not available`);
    const wanted = onOrOff(value);
    if (wanted === undefined)
      return failed(name, `${plainStr(value)} is not a valid value for the boolean`);
    const isKept = !persist || found.Default === wanted;
    if (found.State === wanted && isKept) return unchanged(name, 'Boolean is in the correct state');
    if (__opts__.test) return would(name, `Boolean ${name} is set to be changed to ${wanted}`);
    if (!(await salt('selinux.setsebool')(name, wanted, persist)))
      return failed(name, `Failed to set the boolean ${name} to ${wanted}`);
    const changes: PlainDict = { State: { old: found.State, new: wanted } };
    if (!isKept) changes.Default = { old: found.Default, new: wanted };
    return changed(name, `Boolean ${name} has been set to ${wanted}`, changes);
  });
