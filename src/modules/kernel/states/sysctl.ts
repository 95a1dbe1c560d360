/** Manages kernel parameters, now and for later boots. */

import { join } from 'node:path';
import { messageOf } from '../../../protocol/error.ts';
import { existsSync, readdirSync } from '../../_shared/safe-fs/fs.ts';
import { type Description, describedState } from '../../_shared/states/describe.ts';
import { failed, inPlan, newReturn } from '../../_shared/states/returns.ts';
import { refuseNewlines } from '../../_shared/text/one-line.ts';
import { __opts__, __salt__, type StateReturn } from '../../api.ts';

/**
 * Manages a kernel parameter: in the running kernel, and in a file for later boots.
 *
 * @param name the parameter, as `net.ipv4.ip_forward`
 * @param value its value
 * @param config the file to save it in
 *
 * @example
 * net.ipv4.ip_forward:
 *   sysctl.present:
 *     - value: 1
 */
export const present = async (
  name: string,
  value: string | number,
  { config = null }: { config?: string | null } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  try {
    refuseNewlines({ name, value });
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  const file: string = config ?? (await __salt__['sysctl.default_config']?.());
  if (__opts__.test) return { ...ret, ...(await plan(name, value, file)) };
  try {
    const status = await __salt__['sysctl.persist']?.(name, value, file);
    return status === 'Updated'
      ? { ...ret, changes: { [name]: value }, comment: `Updated sysctl value ${name} = ${value}` }
      : { ...ret, comment: `Sysctl value ${name} = ${value} is already set` };
  } catch (error) {
    return failed(ret, `Failed to set ${name} to ${value}: ${messageOf(error)}`);
  }
};

/**
 * Describes the kernel parameters in files below /etc whose value matches the running kernel's.
 */
export const describe = async (): Promise<Description> => {
  const described: Description = {};
  const normal = await __salt__['sysctl.default_config']?.();
  for (const config of configFiles()) {
    const kept = (await __salt__['sysctl.show']({ config_file: config })) as Record<string, string>;
    for (const [name, value] of Object.entries(kept ?? {})) {
      if (words(await __salt__['sysctl.get']?.(name)) !== words(value)) continue;
      const id = Object.hasOwn(described, name) ? `${name} in ${config}` : name;
      described[id] = describedState('sysctl.present', {
        name: id === name ? undefined : name,
        value: /^(0|[1-9]\d{0,14})$/.test(value) ? Number(value) : value,
        config: config === normal ? undefined : config,
      });
    }
  }
  return described;
};

const configFiles = (): string[] => [
  ...(existsSync('/etc/sysctl.d')
    ? readdirSync('/etc/sysctl.d')
        .filter(name => name.endsWith('.conf'))
        .sort()
        .map(name => join('/etc/sysctl.d', name))
    : []),
  ...(existsSync('/etc/sysctl.conf') ? ['/etc/sysctl.conf'] : []),
];

const words = (text: unknown): string => String(text).trim().split(/\s+/).join(' ');

const plan = async (
  name: string,
  value: string | number,
  config: string,
): Promise<Pick<StateReturn, 'result' | 'comment' | 'changes'>> => {
  const kept = ((await __salt__['sysctl.show']({ config_file: config })) ?? {}) as Record<
    string,
    string
  >;
  const current: string = await __salt__['sysctl.get']?.(name);
  const isKept = Object.hasOwn(kept, name);
  const isNow = current !== '' && words(current) === words(value);
  if (isNow && isKept && words(kept[name]) === words(value))
    return {
      result: true,
      changes: {},
      comment: `Sysctl value ${name} = ${value} is already set`,
    };
  const changes = inPlan({ [name]: value });
  if (isNow && !isKept)
    return {
      result: null,
      changes,
      comment: `Sysctl value is currently set on the running system but not in a config file. Sysctl option ${name} set to be changed to ${value} in config file.`,
    };
  return {
    result: null,
    changes,
    comment: isKept
      ? `Sysctl option ${name} would be changed to ${value}`
      : `Sysctl option ${name} set to be changed to ${value}`,
  };
};
