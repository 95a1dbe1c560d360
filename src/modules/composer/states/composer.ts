/** Manages PHP packages that a project's `composer.json` lists. */
import { messageOf } from '../../../protocol/error.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../api.ts';
import type { ComposerProgram, ComposerSettings } from '../composer-options.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('composer.install') || [false, 'composer.install is not available on this host.'];

type Options = ComposerProgram & { user?: string | null } & ComposerSettings;

/**
 * Makes sure that the packages in a project's `composer.json` are installed, in the versions of its
 * `composer.lock` if it has one. Reports no changes if composer has nothing to do.
 *
 * @param name the project's folder
 * @param user the account to run as
 * @param quiet true: composer prints nothing, and no changes are reported
 * @param always_check false: run composer only if the folder `vendor` does not exist
 * @example
 * /srv/app:
 *   composer.installed:
 *     - no_dev: true
 *     - user: app
 */
export const installed = async (
  name: string,
  { always_check = true, ...options }: Options & { always_check?: boolean } = {},
): Promise<StateReturn> => {
  const isThere: boolean = await salt('composer.did_composer_install')(name);
  if (!always_check && isThere) return unchanged(name, 'Composer already installed this directory');
  if (__opts__.test)
    return would(name, `The state of "${name}" will be changed.`, {
      old: `composer install has ${isThere ? '' : 'not '}been run in ${name}`,
      new: `composer install will be run in ${name}`,
    });
  return apply(name, 'install', isThere, options);
};

/**
 * Updates a project's packages to the newest versions that its `composer.json` allows. Reports no
 * changes if composer has nothing to do.
 *
 * @param name the project's folder
 * @param user the account to run as
 * @param quiet true: composer prints nothing, and no changes are reported
 * @example
 * /srv/app:
 *   composer.update:
 *     - no_dev: true
 */
export const update = async (name: string, options: Options = {}): Promise<StateReturn> => {
  const isThere: boolean = await salt('composer.did_composer_install')(name);
  if (__opts__.test)
    return would(name, `The state of "${name}" will be changed.`, {
      old: `composer install has ${isThere ? '' : 'not yet '}been run in ${name}`,
      new: `composer install/update will be run in ${name}`,
    });
  return apply(name, 'update', isThere, options);
};

const apply = async (
  name: string,
  action: 'install' | 'update',
  wasThere: boolean,
  { user = null, ...options }: Options,
): Promise<StateReturn> => {
  try {
    const said: { stdout: string; stderr: string } | true = await salt(`composer.${action}`)(name, {
      ...options,
      runas: user,
    });
    const done = `Composer ${action} completed successfully`;
    if (said === true) return unchanged(name, `${done}, output silenced by quiet flag`);
    const { stdout, stderr } = said;
    return wasThere && isIdle(`${stdout}\n${stderr}`)
      ? unchanged(name, done)
      : changed(name, done, { stderr, stdout });
  } catch (error) {
    return failed(name, `Error executing composer in '${name}': ${messageOf(error)}`);
  }
};

/** Composer prints what it does to each package and to its lock file. */
const isIdle = (said: string): boolean =>
  /^Nothing to (?:install|modify)/m.test(said) && !/^(?:Package|Lock file) operations:/m.test(said);
