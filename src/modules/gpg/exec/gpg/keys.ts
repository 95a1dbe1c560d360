/**
 * Manages keys and messages of GnuPG with the program gpg. The keys are those of an account
 * (`user`), of a folder (`gnupghome`), or by default of the account that runs this. A passphrase is
 * read from the pillar's `gpg_passphrase`; it is passed to gpg through a pipe, not on a command
 * line.
 *
 * @depends gpg
 */

import { dayOf, type GpgKey, pickKey, readGpgKeys, unescapeUid } from '../../gpg-keys.ts';
import { hasGpg, runGpg } from '../../gpg-run.ts';

export const __virtual__ = hasGpg;

type FoundKey = Omit<GpgKey, 'fingerprint' | 'ownerTrust' | 'trust'>;

/**
 * Searches a keyserver for keys: `{keyid, uids, created, expires, keyLength}` of each.
 *
 * @param text an email address, a key id or a fingerprint
 * @param keyserver the keyserver, `keys.openpgp.org` when not given
 * @param user the account whose gpg settings are used
 * @example tsalt-ssh '*' gpg.search_keys user@example.com keyserver=keyserver.ubuntu.com
 */
export const search_keys = async (
  text: string,
  keyserver: string | null = null,
  user: string | null = null,
): Promise<FoundKey[]> => {
  const query = text.trim();
  const { stdout } = await runGpg(
    [
      ...['--fingerprint', '--keyserver', keyserver || 'keys.openpgp.org', '--search-keys', '--'],
      /^[0-9a-f]+$/i.test(query) ? `0x${query}` : query,
    ],
    { user },
  );
  const found: FoundKey[] = [];
  for (const line of stdout.split('\n')) {
    const [kind, first = '', , length, date, expires] = line.trim().split(':');
    if (kind === 'pub')
      found.push({
        keyid: first,
        uids: [],
        ...(expires ? { expires: dayOf(expires) } : {}),
        ...(date ? { created: dayOf(date) } : {}),
        ...(length ? { keyLength: length } : {}),
      });
    else if (kind === 'uid') found.at(-1)?.uids.push(unescapeUid(first));
  }
  return found;
};

/**
 * Lists the public keys: `{keyid, fingerprint, uids, created, expires, keyLength, ownerTrust,
 * trust}` of each.
 *
 * @param user the account whose keys are used
 * @param gnupghome the folder of the keys
 * @example tsalt-ssh '*' gpg.list_keys user=ann
 */
export const list_keys = async (
  user: string | null = null,
  gnupghome: string | null = null,
): Promise<GpgKey[]> => readGpgKeys({ user, gnupghome });

/**
 * Lists the secret keys, in the format of `gpg.list_keys`.
 *
 * @param user the account whose keys are used
 * @param gnupghome the folder of the keys
 * @example tsalt-ssh '*' gpg.list_secret_keys
 */
export const list_secret_keys = async (
  user: string | null = null,
  gnupghome: string | null = null,
): Promise<GpgKey[]> => readGpgKeys({ user, gnupghome }, true);

/**
 * Returns one public key; false if it does not exist.
 *
 * @param keyid its id, long or short
 * @param fingerprint its fingerprint
 * @param user the account whose keys are used
 * @param gnupghome the folder of the keys
 * @example tsalt-ssh '*' gpg.get_key keyid=3FAD9F1E
 */
export const get_key = async (
  keyid: string | null = null,
  fingerprint: string | null = null,
  user: string | null = null,
  gnupghome: string | null = null,
): Promise<GpgKey | false> =>
  pickKey(await readGpgKeys({ user, gnupghome }), keyid, fingerprint) ?? false;

/**
 * Returns one secret key, in the format of `gpg.get_key`; false if it does not exist.
 *
 * @param keyid its id, long or short
 * @param fingerprint its fingerprint
 * @param user the account whose keys are used
 * @param gnupghome the folder of the keys
 * @example tsalt-ssh '*' gpg.get_secret_key keyid=3FAD9F1E
 */
export const get_secret_key = async (
  keyid: string | null = null,
  fingerprint: string | null = null,
  user: string | null = null,
  gnupghome: string | null = null,
): Promise<GpgKey | false> =>
  pickKey(await readGpgKeys({ user, gnupghome }, true), keyid, fingerprint) ?? false;
