import { messageOf } from '../../protocol/error.ts';
import { salt } from '../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../api.ts';

/**
 * The kinds of things that can be enabled, with the function that checks each and the commands that
 * enable and disable it.
 */
export const apacheKinds = {
  module: { check: 'check_mod_enabled', enable: 'a2enmod', disable: 'a2dismod' },
  site: { check: 'check_site_enabled', enable: 'a2ensite', disable: 'a2dissite' },
  conf: { check: 'check_conf_enabled', enable: 'a2enconf', disable: 'a2disconf' },
} as const;

/** Enables or disables one part of Apache. */
export const keepApache = async (
  name: string,
  kind: keyof typeof apacheKinds,
  wanted: 'enabled' | 'disabled',
): Promise<StateReturn> => {
  const { check, enable, disable } = apacheKinds[kind];
  try {
    const isEnabled: boolean = await salt(`apache.${check}`)(name);
    if (isEnabled === (wanted === 'enabled')) return unchanged(name, `${name} already ${wanted}.`);
    const changes = wanted === 'enabled' ? { old: null, new: name } : { old: name, new: null };
    if (__opts__.test)
      return would(name, `Apache ${kind} ${name} is set to be ${wanted}.`, changes);
    const { Status }: { Status: string } = await salt(
      `apache.${wanted === 'enabled' ? enable : disable}`,
    )(name);
    if (Status.endsWith(` ${wanted}`)) return changed(name, '', changes);
    return failed(name, `Failed to ${wanted.slice(0, -1)} ${name} Apache ${kind} (${Status})`);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};
