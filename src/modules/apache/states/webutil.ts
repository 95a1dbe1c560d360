/** Manages users in htpasswd files. */

import { readOr } from '../../_shared/files/read-file.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('webutil.useradd') || [false, 'htpasswd is not installed.'];

const isKnown = (file: string, user: string): boolean =>
  (readOr(file) ?? '').split('\n').some(line => line.startsWith(`${user}:`));

type ExistsOptions = {
  password?: string | null;
  htpasswd_file?: string | null;
  options?: string;
  force?: boolean;
  runas?: string | null;
  update?: boolean;
};

/**
 * Makes sure that a user exists in an htpasswd file.
 *
 * @param name the user
 * @param password the password of a user that is added
 * @param htpasswd_file the file; it is created if it is missing
 * @param options letters of htpasswd: `B` bcrypt, `s` SHA-1 … (see webutil.useradd)
 * @param force true: set the password in any case
 * @param update true: change the password if it differs
 * @param runas the account to run htpasswd as
 * @example
 * ann:
 *   webutil.user_exists:
 *     - password: '{{ pillar.web.ann }}'
 *     - htpasswd_file: /etc/nginx/htpasswd
 *     - options: B
 *     - update: true
 */
export const user_exists = async (
  name: string,
  {
    password = null,
    htpasswd_file = null,
    options = '',
    force = false,
    runas = null,
    update = false,
  }: ExistsOptions = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (!htpasswd_file) return failed(name, 'htpasswd_file is needed: the path of the file.');
    const isThere = isKnown(htpasswd_file, name);
    const settings = { opts: options, runas };
    if (isThere && !force && !update) return unchanged(name, 'User already known');
    if (password === null) return failed(name, `A password is needed for the user '${name}'.`);
    const isRight =
      isThere && !force && (await salt('webutil.verify')(htpasswd_file, name, password, settings));
    if (isRight) return unchanged(name, 'User already known');
    if (__opts__.test)
      return would(name, `User '${name}' is set to be added to htpasswd file`, { [name]: true });
    const { retcode, stderr } = await salt('webutil.useradd')(
      htpasswd_file,
      name,
      password,
      settings,
    );
    return retcode === 0 ? changed(name, stderr, { [name]: true }) : failed(name, stderr);
  });

/**
 * Makes sure that a user does not exist in an htpasswd file.
 *
 * @param name the user
 * @param htpasswd_file the file
 * @param runas the account to run htpasswd as
 * @example
 * bob:
 *   webutil.user_absent:
 *     - htpasswd_file: /etc/nginx/htpasswd
 */
export const user_absent = async (
  name: string,
  {
    htpasswd_file = null,
    runas = null,
  }: { htpasswd_file?: string | null; runas?: string | null } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (!htpasswd_file) return failed(name, 'htpasswd_file is needed: the path of the file.');
    if (!isKnown(htpasswd_file, name)) return unchanged(name, 'User already not in file');
    if (__opts__.test)
      return would(name, `User '${name}' is set to be removed from htpasswd file`, {
        [name]: true,
      });
    const { retcode, stderr } = await salt('webutil.userdel')(htpasswd_file, name, {
      runas,
      all_results: true,
    });
    return retcode === 0 ? changed(name, stderr, { [name]: true }) : failed(name, stderr);
  });
