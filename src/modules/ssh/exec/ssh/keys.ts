/**
 * Keys that may log in, and hosts that are known, in the files of OpenSSH.
 *
 * @platform unix
 */

import { readAccounts } from '../../../_shared/commands/accounts.ts';
import { contentText } from '../../../_shared/files/file-content.ts';
import { isFile } from '../../../_shared/files/file-paths.ts';
import { homeOf } from '../../../_shared/files/owner-names.ts';
import { findSource } from '../../../_shared/sources/file-source.ts';
import { __opts__, CommandExecutionError, SaltInvocationError } from '../../../api.ts';
import {
  type AuthorizedKey,
  authorizedKeyType,
  fingerprintOf,
  isKeyText,
  keyFile,
  parseKeyLine,
  readKeyLines,
  renderKeyLine,
  writeKeyLines,
} from '../../authorized-keys.ts';

type KeyInfo = { enc: string; comment: string; options: string[]; fingerprint: string };
type KeysByText = Record<string, KeyInfo>;

const authorized = '.ssh/authorized_keys';

type Same = {
  /** has no effect: the file is read each time */
  cache_keys?: string[] | null;
  /** has no effect: keys are compared whole */
  fingerprint_hash_type?: string | null;
};

/**
 * The keys that may log in as a user. For a list of users, or for all, returns
 * those that have a file of keys, each with its keys.
 *
 * @param user the user, or a list; all when left out
 * @param config his file of keys
 * @param fingerprint_hash_type `sha256` or `md5`
 *
 * @example tsalt-ssh '*' ssh.auth_keys root
 */
export const auth_keys = async (
  user: string | string[] | null = null,
  {
    config = authorized,
    fingerprint_hash_type = null,
  }: { config?: string; fingerprint_hash_type?: string | null } = {},
): Promise<KeysByText | Record<string, KeysByText>> => {
  const keys = (name: string): KeysByText =>
    Object.fromEntries(
      keysOf(name, config).map(({ key, enc, comment, options }) => [
        key,
        {
          enc,
          comment,
          options,
          fingerprint: fingerprintOf(key, fingerprint_hash_type ?? 'sha256'),
        },
      ]),
    );
  const hasFile = (name: string): boolean =>
    homeOf(name) !== undefined && isFile(keyFile(name, config));
  if (typeof user === 'string' && user !== '') return hasFile(user) ? keys(user) : {};
  const users = Array.isArray(user) ? user : (await readAccounts()).map(({ name }) => name);
  return Object.fromEntries(users.filter(hasFile).map(name => [name, keys(name)]));
};

/**
 * Returns what setting a key would do: `add`, `update` or `exists`.
 *
 * @param user the user
 * @param key the key itself
 * @param enc its type
 * @param comment its comment
 * @param options its options
 * @param config his file of keys
 * @example tsalt-ssh '*' ssh.check_key root AAAA… ssh-ed25519 '' '[]'
 */
export const check_key = async (
  user: string,
  key: string,
  enc: string,
  comment: string,
  options: string[] | null,
  { config = authorized }: { config?: string } & Same = {},
): Promise<'add' | 'update' | 'exists'> => {
  const known = keysOf(user, config).find(each => each.key === key);
  if (!known) return 'add';
  return renderKeyLine(known) ===
    renderKeyLine({ key, enc: authorizedKeyType(enc), comment, options: options ?? [] })
    ? 'exists'
    : 'update';
};

/**
 * Lets a key log in as a user. Returns `new`, `replace`, `no change` or `Invalid public key`.
 *
 * @param user the user
 * @param key the key itself
 * @param enc its type
 * @param comment its comment
 * @param options its options, as in authorized_keys
 * @param config his file of keys
 *
 * @example tsalt-ssh '*' ssh.set_auth_key deploy AAAA… enc=ssh-ed25519
 */
export const set_auth_key = async (
  user: string,
  key: string,
  {
    enc = 'ssh-rsa',
    comment = '',
    options = [],
    config = authorized,
  }: { enc?: string; comment?: string; options?: string[] | null; config?: string } & Same = {},
): Promise<'new' | 'replace' | 'no change' | 'Invalid public key'> => {
  if (key.split(/\s/).length > 1) return 'Invalid public key';
  const wanted: AuthorizedKey = {
    key,
    enc: authorizedKeyType(enc),
    comment,
    options: options ?? [],
  };
  if (
    !isKeyText(key) ||
    !parseKeyLine(renderKeyLine({ ...wanted, options: [] })) ||
    /[\r\n]/.test(renderKeyLine(wanted))
  )
    return 'Invalid public key';
  const path = keyFile(user, config);
  const lines = readKeyLines(path);
  const at = lines.findIndex(line => parseKeyLine(line)?.key === key);
  const known = at < 0 ? undefined : parseKeyLine(lines[at] ?? '');
  if (known && renderKeyLine(known) === renderKeyLine(wanted)) return 'no change';
  writeKeyLines(
    user,
    path,
    known ? lines.with(at, renderKeyLine(wanted)) : [...lines, renderKeyLine(wanted)],
  );
  return known ? 'replace' : 'new';
};

/**
 * Takes a key away from a user.
 *
 * @param user the user
 * @param key the key itself
 * @param config his file of keys
 *
 * @example tsalt-ssh '*' ssh.rm_auth_key deploy AAAA…
 */
export const rm_auth_key = async (
  user: string,
  key: string,
  { config = authorized }: { config?: string } & Pick<Same, 'fingerprint_hash_type'> = {},
): Promise<string> => {
  if (homeOf(user) === undefined) return 'Key not present';
  const path = keyFile(user, config);
  const lines = readKeyLines(path);
  const left = lines.filter(line => parseKeyLine(line)?.key !== key);
  if (left.length === lines.length) return 'Key not present';
  writeKeyLines(user, path, left);
  return 'Key removed';
};

/**
 * The keys in a file, as `ssh_auth.present` takes them.
 *
 * @param source `salt://`, a URL, or a path
 * @param saltenv saltenv of a `salt://` URL
 *
 * @example tsalt-ssh '*' ssh.keys_from_file salt://ssh/deploy.pub
 */
export const keys_from_file = async (
  source: string,
  { saltenv = null }: { saltenv?: string | null } = {},
): Promise<AuthorizedKey[]> => {
  const found = await findSource(source, {
    name: source,
    saltenv: saltenv ?? __opts__.saltenv,
    skip_verify: true,
  });
  const lines = contentText(await found.content()).split('\n');
  const keys = lines.flatMap(line => parseKeyLine(line) ?? []);
  if (keys.length === 0)
    throw new CommandExecutionError(`No keys detected in ${source}. Is file properly formatted?`);
  return keys;
};

type FromFile = {
  /** his file of keys */
  config?: string;
  /** saltenv of a `salt://` URL */
  saltenv?: string;
} & Pick<Same, 'fingerprint_hash_type'>;

/**
 * Returns what setting the keys of a file would do: `add`, `update` or `exists`, by key.
 *
 * @param user the user
 * @param source `salt://`, a URL, or a path
 * @example tsalt-ssh '*' ssh.check_key_file root salt://ssh/keyfile
 */
export const check_key_file = async (
  user: string,
  source: string,
  { config = authorized, saltenv = 'base' }: FromFile = {},
): Promise<Record<string, string>> => {
  const answers: Record<string, string> = {};
  for (const { key, enc, comment, options } of await keys_from_file(source, { saltenv }))
    answers[key] = await check_key(user, key, enc, comment, options, { config });
  return answers;
};

/**
 * Lets the keys of a file log in as a user. Returns `new`, `replace`, `no change` or `fail`.
 *
 * @param user the user
 * @param source `salt://`, a URL, or a path
 * @example tsalt-ssh '*' ssh.set_auth_key_from_file deploy salt://ssh/deploy.pub
 */
export const set_auth_key_from_file = async (
  user: string,
  source: string,
  { config = authorized, saltenv = 'base' }: FromFile = {},
): Promise<string> => {
  const answers: string[] = [];
  for (const { key, enc, comment, options } of await keys_from_file(source, { saltenv }))
    answers.push(await set_auth_key(user, key, { enc, comment, options, config }));
  return ['replace', 'new'].find(answer => answers.includes(answer)) ?? 'no change';
};

/**
 * Takes the keys of a file away from a user.
 *
 * @param user the user
 * @param source `salt://`, a URL, or a path
 * @example tsalt-ssh '*' ssh.rm_auth_key_from_file deploy salt://ssh/deploy.pub
 */
export const rm_auth_key_from_file = async (
  user: string,
  source: string,
  { config = authorized, saltenv = 'base' }: FromFile = {},
): Promise<string> => {
  const answers: string[] = [];
  for (const { key } of await keys_from_file(source, { saltenv }))
    answers.push(await rm_auth_key(user, key, { config }));
  return answers.includes('Key removed') ? 'Key removed' : 'Key not present';
};

const keysOf = (user: string, config: string): AuthorizedKey[] => {
  if (!user) throw new SaltInvocationError('A user is needed');
  return readKeyLines(keyFile(user, config)).flatMap(line => parseKeyLine(line) ?? []);
};
