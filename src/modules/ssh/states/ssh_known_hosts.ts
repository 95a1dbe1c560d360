/** Host keys in `known_hosts`. */

import { isAbsolute } from 'node:path';
import { messageOf } from '../../../protocol/error.ts';
import { failed, inPlan, newReturn } from '../../_shared/states/returns.ts';
import { isUserToCome } from '../../_shared/states/to-come.ts';
import { refuseNewlines } from '../../_shared/text/one-line.ts';
import { __opts__, __salt__, type PlainDict, type StateReturn } from '../../api.ts';

type PresentOptions = {
  /** the user with the file; the system's file when left out */
  user?: string | null;
  fingerprint?: string | null;
  key?: string | null;
  /** its port, when it is not 22 */
  port?: number | null;
  enc?: string | null;
  /** the file */
  config?: string | null;
  hash_known_hosts?: boolean;
  timeout?: number;
  fingerprint_hash_type?: string | null;
};

const fileOf = (user: string | null, config: string | null): string =>
  config ?? (user ? '.ssh/known_hosts' : '/etc/ssh/ssh_known_hosts');

const needsPath = 'If not specifying a "user", specify an absolute "config".';

/**
 * Makes sure that a host is known to ssh.
 *
 * @param name the host
 * @param fingerprint fingerprint that the key it shows must have
 * @param key its key, instead of a fingerprint
 * @param enc type of the key
 * @param hash_known_hosts hide the host's name in the file
 * @param timeout seconds to wait for the host
 * @param fingerprint_hash_type `sha256` or `md5`
 *
 * @example
 * github.com:
 *   ssh_known_hosts.present:
 *     - user: deploy
 *     - enc: ssh-ed25519
 *     - fingerprint: SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU
 */
export const present = async (
  name: string,
  {
    user = null,
    fingerprint = null,
    key = null,
    port = null,
    enc = null,
    config = null,
    hash_known_hosts = true,
    timeout = 5,
    fingerprint_hash_type = null,
  }: PresentOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const file = fileOf(user, config);
  if (!user && !isAbsolute(file)) return failed(ret, needsPath);
  const options = { fingerprint, key, port, config: file, fingerprint_hash_type };
  try {
    refuseNewlines({ name, key, enc });
    if (__opts__.test) {
      if (key && fingerprint)
        return failed(ret, 'Specify either "key" or "fingerprint", not both.');
      if (key && !enc) return failed(ret, 'Required argument "enc" if using "key" argument.');
      const status = isUserToCome(user)
        ? 'add'
        : await __salt__['ssh.check_known_host']?.(user, name, options);
      if (status === 'exists') return { ...ret, comment: `Host ${name} is already in ${file}` };
      const verb = status === 'add' ? 'added to' : 'updated in';
      return {
        ...ret,
        changes: inPlan({ [name]: status === 'add' ? 'New' : 'Updated' }),
        result: null,
        comment: `Key for ${name} is set to be ${verb} ${file}`,
      };
    }
    const result = await __salt__['ssh.set_known_host']?.(user, name, {
      ...options,
      enc,
      hash_known_hosts,
      timeout,
    });
    if (result.status === 'exists') return { ...ret, comment: `${name} already exists in ${file}` };
    if (result.status === 'error') return failed(ret, result.error ?? '');
    const changes: PlainDict = { old: result.old ?? null, new: result.new ?? null };
    const [added] = result.new ?? [];
    const what = key ? `key: ${added?.key}` : `fingerprint: ${added?.fingerprint}`;
    return { ...ret, changes, comment: `${name}'s key saved to ${file} (${what})` };
  } catch (error) {
    return failed(ret, messageOf(error));
  }
};

/**
 * Makes sure that a host is not known to ssh.
 *
 * @param name the host
 * @example
 * old.example.com:
 *   ssh_known_hosts.absent:
 *     - user: deploy
 */
export const absent = async (
  name: string,
  {
    user = null,
    config = null,
    port = null,
  }: Pick<PresentOptions, 'user' | 'config' | 'port'> = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const file = fileOf(user, config);
  if (!user && !isAbsolute(file)) return failed(ret, needsPath);
  try {
    const place = { config: file, port };
    const known =
      !isUserToCome(user) && (await __salt__['ssh.get_known_host_entries']?.(user, name, place));
    if (!known) return { ...ret, comment: 'Host is already absent' };
    if (__opts__.test)
      return {
        ...ret,
        changes: inPlan({ [name]: 'Removed' }),
        result: null,
        comment: `Key for ${name} is set to be removed from ${file}`,
      };
    const result = await __salt__['ssh.rm_known_host']?.(user, name, place);
    return { ...ret, changes: { old: known, new: null }, comment: result.comment ?? '' };
  } catch (error) {
    return failed(ret, messageOf(error));
  }
};
