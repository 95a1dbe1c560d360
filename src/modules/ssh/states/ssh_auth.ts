/** Keys that may log in, in `authorized_keys`. */

import { messageOf } from '../../../protocol/error.ts';
import { homeOf } from '../../_shared/files/owner-names.ts';
import { failed, inPlan, newReturn } from '../../_shared/states/returns.ts';
import { isUserToCome } from '../../_shared/states/to-come.ts';
import { __env__, __opts__, __salt__, type StateReturn } from '../../api.ts';
import {
  type AuthorizedKey,
  authorizedKeyType,
  isKeyText,
  parseKeyLine,
} from '../authorized-keys.ts';

type KeyOptions = {
  enc?: string;
  comment?: string;
  source?: string;
  options?: string[] | null;
  /** the user's file of keys */
  config?: string;
  /** accepted for compatibility */
  fingerprint_hash_type?: string | null;
};

/**
 * Lets a key log in as a user.
 *
 * @param name the key: its long text, or a whole line of a public key file
 * @param user the user
 * @param enc its type, when `name` is only the key: `ssh-ed25519`, or short `ed25519`
 * @param comment its comment, when `name` is only the key
 * @param source a file of keys, instead of `name`: `salt://…`, a URL or a path
 * @param options its options, as in authorized_keys
 * @unknown ignored
 *
 * @example
 * ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO… anna@laptop:
 *   ssh_auth.present:
 *     - user: deploy
 */
export const present = async (
  name: string,
  user: string,
  {
    enc = 'ssh-rsa',
    comment = '',
    source = '',
    options = null,
    config = '.ssh/authorized_keys',
    fingerprint_hash_type: _type = null,
  }: KeyOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  let keys: AuthorizedKey[];
  try {
    keys = await wantedKeys(name, { enc, comment, source, options });
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  const lines: string[] = [];
  let pending = false;
  const toCome = isUserToCome(user);
  try {
    for (const { key, ...about } of keys) {
      const args = [about.enc, about.comment, about.options] as const;
      if (!isKeyText(key)) return failed(ret, invalid);
      authorizedKeyType(about.enc);
      if (__opts__.test) {
        const status: string = toCome
          ? 'add'
          : await __salt__['ssh.check_key']?.(user, key, ...args, { config });
        pending ||= status !== 'exists';
        if (status !== 'exists')
          Object.assign(ret.changes, inPlan({ [key]: status === 'add' ? 'New' : 'Updated' }));
        lines.push(
          status === 'exists'
            ? `The authorized host key ${key} is already present for user ${user}`
            : `Key ${key} for user ${user} is set to be ${status === 'add' ? 'added' : 'updated'}`,
        );
        continue;
      }
      const status: string = await __salt__['ssh.set_auth_key']?.(user, key, { ...about, config });
      if (status === 'Invalid public key') return failed(ret, invalid);
      if (status !== 'no change') ret.changes[key] = status === 'new' ? 'New' : 'Updated';
      const verb = { new: 'was added', replace: 'was updated' }[status];
      lines.push(
        verb
          ? `The authorized host key ${key} for user ${user} ${verb}`
          : `The authorized host key ${key} is already present for user ${user}`,
      );
    }
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  return { ...ret, result: pending ? null : true, comment: lines.join('\n') };
};

const invalid = 'Invalid public ssh key, most likely has spaces or invalid syntax';

/**
 * Makes sure that a key cannot log in as a user.
 *
 * @param name the key: its long text, or a whole line of a public key file
 * @param user the user
 * @param enc its type, when `name` is only the key
 * @param comment its comment
 * @param source a file of keys, instead of `name`
 * @param options its options
 * @example
 * ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO… anna@laptop:
 *   ssh_auth.absent:
 *     - user: deploy
 */
export const absent = async (
  name: string,
  user: string,
  {
    enc = 'ssh-rsa',
    comment = '',
    source = '',
    options = null,
    config = '.ssh/authorized_keys',
    fingerprint_hash_type: _type = null,
  }: KeyOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const lines: string[] = [];
  try {
    // A user that does not exist has no keys.
    const known: object =
      homeOf(user) === undefined ? {} : await __salt__['ssh.auth_keys']?.(user, { config });
    for (const { key } of await wantedKeys(name, { enc, comment, source, options })) {
      if (!Object.hasOwn(known, key))
        lines.push(__opts__.test ? 'Key is already absent' : 'Key not present');
      else if (__opts__.test) {
        ret.result = null;
        Object.assign(ret.changes, inPlan({ [key]: 'Removed' }));
        lines.push(`Key ${key} for user ${user} is set for removal`);
      } else {
        lines.push(await __salt__['ssh.rm_auth_key']?.(user, key, { config }));
        ret.changes[key] = 'Removed';
      }
    }
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  return { ...ret, comment: lines.join('\n') };
};

/**
 * Lets exactly these keys log in as a user.
 *
 * @param name a name for the state
 * @param ssh_keys the keys, as `ssh_auth.present` takes them
 * @param user the user
 * @param enc type of keys that do not contain it
 * @param comment comment of keys that have none
 * @param options options of all
 * @param source a file of keys that may log in as well: `salt://…`, a URL or a path
 * @param fingerprint_hash_type taken, without effect: keys are compared whole
 * @unknown ignored
 *
 * @example
 * keys of deploy:
 *   ssh_auth.manage:
 *     - user: deploy
 *     - ssh_keys:
 *       - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO… anna@laptop
 */
export const manage = async (
  name: string,
  ssh_keys: string[],
  user: string,
  {
    enc = 'ssh-rsa',
    comment = '',
    options = null,
    config = '.ssh/authorized_keys',
    source = '',
    fingerprint_hash_type: _hash = null,
  }: KeyOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const comments: string[] = [];
  const listed = ssh_keys.map(key => keyOf(key, { enc, comment, options }).key);
  const wanted = [...listed, ...(await keysOfSource(name, { source, options }))];
  const toCome = isUserToCome(user);
  const existing: object = toCome ? {} : await __salt__['ssh.auth_keys']?.(user, { config });
  const results: StateReturn[] = [];
  for (const key of Object.keys(existing).filter(each => !wanted.includes(each)))
    results.push(await absent(key, user, { config }));
  for (const key of ssh_keys)
    results.push(await present(key, user, { enc, comment, options, config }));
  if (source) results.push(await present(name, user, { source, options, config }));
  for (const { result, changes, comment: text } of results) {
    Object.assign(ret.changes, changes);
    if (Object.keys(changes).length === 0) comments.push(String(text));
    if (result === false || ret.result === true) ret.result = result;
  }
  return { ...ret, comment: comments.join('\n') };
};

const keysOfSource = async (name: string, options: KeyOptions): Promise<string[]> =>
  options.source ? (await wantedKeys(name, options)).map(({ key }) => key) : [];

const wantedKeys = async (name: string, options: KeyOptions): Promise<AuthorizedKey[]> => {
  if (!options.source) return [keyOf(name, options)];
  const saltenv = __env__.name;
  const keys = await __salt__['ssh.keys_from_file']?.(options.source, { saltenv });
  return (keys as AuthorizedKey[]).map(key =>
    options.options?.length ? { ...key, options: options.options } : key,
  );
};

const keyOf = (
  name: string,
  { enc = 'ssh-rsa', comment = '', options }: KeyOptions,
): AuthorizedKey => {
  if (/[\r\n]/.test(name.trim())) return { key: name, enc, comment, options: options ?? [] };
  const parsed = parseKeyLine(name);
  if (parsed)
    return { ...parsed, options: parsed.options.length > 0 ? parsed.options : (options ?? []) };
  const [key = '', ...rest] = name.trim().split(/\s+/);
  return { key, enc, comment: rest.join(' ') || comment, options: options ?? [] };
};
