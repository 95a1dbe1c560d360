import { salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../../../_shared/states/returns.ts';
import { plainStr } from '../../../_shared/text/python-text.ts';
import { __opts__, type Plain, type StateReturn } from '../../../api.ts';

const stateOf = (value: Plain): 'enabled' | 'disabled' | undefined => {
  const text = plainStr(value).toLowerCase();
  if (['1', 'on', 'yes', 'true', 'enabled'].includes(text)) return 'enabled';
  return ['0', 'off', 'no', 'false', 'disabled'].includes(text) ? 'disabled' : undefined;
};

/**
 * A module of the policy is on or off.
 *
 * @param name the module
 * @param module_state `Enabled` or `Disabled`
 * @param version fail unless it has this version (semodule before 2.4)
 * @param install true: install it from `source` first
 * @param source the file to install from
 * @param remove true: take it away instead
 * @unknown ignored
 * @example
 * nagios:
 *   selinux.module:
 *     - module_state: Enabled
 */
export const module = async (
  name: string,
  {
    module_state = 'Enabled',
    version = 'any',
    install = false,
    source = null,
    remove = false,
  }: {
    module_state?: Plain;
    version?: string;
    install?: boolean;
    source?: string | null;
    remove?: boolean;
  } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (install && remove) return failed(name, 'Cannot install and remove at the same time');
    if (remove) return module_remove(name);
    const installed = install && !(await salt('selinux.list_semod')())[name];
    if (installed) {
      const state = await module_install(source ?? name);
      if (state.result !== true) return { ...state, name };
    }
    const found = (await salt('selinux.list_semod')())[name];
    if (!found) return failed(name, `Module ${name} is not available`);
    const wanted = stateOf(module_state);
    if (wanted === undefined)
      return failed(name, `${plainStr(module_state)} is not a valid state for the ${name} module.`);
    if (version !== 'any' && found.Version !== version)
      return failed(
        name,
        `Module version is ${found.Version ?? 'None'} and does not match the desired version of ${version} or you are using semodule >= 2.4`,
      );
    const old = found.Enabled ? 'enabled' : 'disabled';
    if (old === wanted)
      return installed
        ? changed(name, `Module ${name} has been installed`, { [name]: { old: null, new: wanted } })
        : unchanged(name, `Module ${name} is in the desired state`);
    const shown = plainStr(module_state);
    if (__opts__.test) return would(name, `Module ${name} is set to be toggled to ${shown}`);
    return (await salt('selinux.setsemod')(name, wanted))
      ? changed(name, `Module ${name} has been set to ${shown}`, { [name]: { old, new: wanted } })
      : failed(name, `Failed to set the Module ${name} to ${shown}`);
  });

/**
 * A module of the policy is installed from a file, each time the state runs.
 *
 * @param name the file: a path, or `salt://…`
 * @example
 * salt://selinux/mine.pp:
 *   selinux.module_install
 */
export const module_install = async (name: string): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (__opts__.test) return would(name, `Module ${name} is set to be installed`);
    return (await salt('selinux.install_semod')(name))
      ? changed(name, `Module ${name} has been installed`, {
          [name]: { old: null, new: 'installed' },
        })
      : failed(name, `Failed to install module ${name}`);
  });

/**
 * A module of the policy is not there.
 *
 * @param name the module
 * @example
 * mine:
 *   selinux.module_remove
 */
export const module_remove = async (name: string): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (!(await salt('selinux.list_semod')())[name])
      return failed(name, `Module ${name} is not available`);
    if (__opts__.test) return would(name, `Module ${name} is set to be removed`);
    return (await salt('selinux.remove_semod')(name))
      ? changed(name, `Module ${name} has been removed`, {
          [name]: { old: 'installed', new: null },
        })
      : failed(name, `Failed to remove module ${name}`);
  });
