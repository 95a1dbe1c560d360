/** Manages public keys of GnuPG. */
import { messageOf } from '../../../protocol/error.ts';
import { salt } from '../../_shared/states/call.ts';
import { fromParts, type StatePart } from '../../_shared/states/state-parts.ts';
import { __opts__, type StateReturn } from '../../api.ts';
import { type GpgKey, pickKey } from '../gpg-keys.ts';

type Names = string | string[] | null;

const listOf = (keys: Names, name: string): string[] =>
  typeof keys === 'string' ? [keys] : keys && keys.length > 0 ? keys.map(String) : [name];

const levelOf: Readonly<Record<string, string>> = {
  expired: 'Expired',
  unknown: 'Unknown',
  not_trusted: 'Not Trusted',
  marginally: 'Marginally Trusted',
  fully: 'Fully Trusted',
  ultimately: 'Ultimately Trusted',
};

/** Processes the keys one after another and combines the results. */
const each = async (
  name: string,
  keys: readonly string[],
  work: (key: string) => Promise<StatePart[]>,
): Promise<StateReturn> => {
  const parts: StatePart[] = [];
  try {
    for (const key of keys) parts.push(...(await work(key)));
  } catch (error) {
    parts.push({ comment: messageOf(error), ok: false });
  }
  return fromParts(name, parts);
};

/**
 * Makes sure that public keys are present; missing keys are fetched from a keyserver.
 *
 * @param name the id or fingerprint of the key
 * @param keys the keys instead
 * @param user the account whose keys are used
 * @param keyserver the keyserver, `keys.openpgp.org` when not given
 * @param gnupghome the folder of the keys
 * @param trust how far their owners are trusted: `expired`, `unknown`, `not_trusted`, `marginally`,
 * `fully` or `ultimately`
 * @unknown ignored
 * @example
 * 3FAD9F1E53C96788:
 *   gpg.present:
 *     - user: deploy
 *     - keyserver: keyserver.ubuntu.com
 *     - trust: fully
 */
export const present = async (
  name: string,
  {
    keys = null,
    user = null,
    keyserver = null,
    gnupghome = null,
    trust = null,
  }: {
    keys?: Names;
    user?: string | null;
    keyserver?: string | null;
    gnupghome?: string | null;
    trust?: string | null;
  } = {},
): Promise<StateReturn> =>
  each(name, listOf(keys, name), async key => {
    const there = findKey(await salt('gpg.list_keys')(user, gnupghome), key);
    if (there) {
      const already = { comment: `GPG Public Key ${key} already in keychain ` };
      return [...(await trustParts(key, there, { trust, user, gnupghome })), already];
    }
    const changes = { [key]: { old: null, new: 'present' } };
    if (__opts__.test)
      return [{ comment: `GPG Public Key ${key} would be added to keychain`, changes }];
    const got: { res: boolean; message: string[] } = await salt('gpg.receive_keys')(
      keyserver,
      key,
      user,
      gnupghome,
    );
    if (!got.res) return [{ comment: got.message.join('\n'), ok: false }];
    const added = { comment: `Adding ${name} to GPG keychain`, changes };
    const now = findKey(await salt('gpg.list_keys')(user, gnupghome), key);
    return [added, ...(await trustParts(key, now, { trust, user, gnupghome }))];
  });

const findKey = (all: GpgKey[], key: string): GpgKey | undefined => {
  const wanted = key.replace(/^0x/i, '').replaceAll(' ', '').toUpperCase();
  return pickKey(all, wanted, wanted);
};

const trustParts = async (
  key: string,
  there: GpgKey | undefined,
  {
    trust,
    user,
    gnupghome,
  }: { trust: string | null; user: string | null; gnupghome: string | null },
): Promise<StatePart[]> => {
  if (!trust) return [];
  const wanted = levelOf[trust];
  if (wanted === undefined) return [{ comment: `Invalid trust level ${trust}`, ok: false }];
  const have = there?.ownerTrust ?? 'Unknown';
  if (have === wanted) return [{ comment: `GPG Public Key ${key} already in correct trust state` }];
  const changes = { [key]: { trust: { old: have, new: wanted } } };
  if (__opts__.test)
    return [{ comment: `Trust level for ${key} would be set to ${trust}`, changes }];
  const done: { res: boolean; message: string } = await salt('gpg.trust_key')(
    null,
    there?.fingerprint ?? key,
    trust,
    user,
    gnupghome,
  );
  return done.res
    ? [{ comment: `Set trust level for ${key} to ${trust}`, changes }]
    : [{ comment: done.message, ok: false }];
};

/**
 * Makes sure that public keys are absent. A public key with a secret key is not removed, and the
 * state fails.
 *
 * @param name the id or fingerprint of the key
 * @param keys the keys instead
 * @param user the account whose keys are used
 * @param gnupghome the folder of the keys
 * @unknown ignored
 * @example
 * 3FAD9F1E53C96788:
 *   gpg.absent:
 *     - user: deploy
 */
export const absent = async (
  name: string,
  {
    keys = null,
    user = null,
    gnupghome = null,
  }: { keys?: Names; user?: string | null; gnupghome?: string | null } = {},
): Promise<StateReturn> =>
  each(name, listOf(keys, name), async key => {
    const there = findKey(await salt('gpg.list_keys')(user, gnupghome), key);
    if (!there) return [{ comment: `${key} not found in GPG keychain` }];
    const changes = { [key]: { old: 'present', new: null } };
    if (__opts__.test)
      return [{ comment: `GPG Public Key ${key} would be deleted from keychain`, changes }];
    const done: { res: boolean; message: string } = await salt('gpg.delete_key')(
      null,
      there.fingerprint,
      false,
      user,
      gnupghome,
      false,
    );
    return done.res
      ? [{ comment: `Deleting ${key} from GPG keychain`, changes }]
      : [{ comment: done.message, ok: false }];
  });
