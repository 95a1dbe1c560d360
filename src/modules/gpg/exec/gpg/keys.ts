/**
 * Keys and messages of GnuPG, by the program gpg. Whose keys: those of an account (`user`), of a
 * folder (`gnupghome`), or of the account that runs this. A passphrase is the pillar's
 * `gpg_passphrase`; it reaches gpg by a pipe and stands in no command line.
 *
 * @depends gpg
 */

import { dayOf, type GpgKey, pickKey, readGpgKeys, unescapeUid } from '../../gpg-keys.ts';
import { gpgHere, runGpg } from '../../gpg-run.ts';

export const __virtual__ = gpgHere;

type FoundKey = Omit<GpgKey, 'fingerprint' | 'ownerTrust' | 'trust'>;

/**
 * Keys that a keyserver has: `{keyid, uids, created, expires, keyLength}` of each.
 *
 * @param text an email address, a key id or a fingerprint
 * @param keyserver the keyserver, `keys.openpgp.org` when not given
 * @param user whose settings of gpg count
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
 * The public keys: `{keyid, fingerprint, uids, created, expires, keyLength, ownerTrust, trust}` of each.
 *
 * @param user whose keys
 * @param gnupghome the folder of the keys
 * @example tsalt-ssh '*' gpg.list_keys user=ann
 */
export const list_keys = async (
  user: string | null = null,
  gnupghome: string | null = null,
): Promise<GpgKey[]> => readGpgKeys({ user, gnupghome });

/**
 * The secret keys, as `gpg.list_keys` shows the public ones.
 *
 * @param user whose keys
 * @param gnupghome the folder of the keys
 * @example tsalt-ssh '*' gpg.list_secret_keys
 */
export const list_secret_keys = async (
  user: string | null = null,
  gnupghome: string | null = null,
): Promise<GpgKey[]> => readGpgKeys({ user, gnupghome }, true);

/**
 * One public key; false when it is not there.
 *
 * @param keyid its id, long or short
 * @param fingerprint its fingerprint
 * @param user whose keys
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
 * One secret key, as `gpg.get_key` shows a public one; false when it is not there.
 *
 * @param keyid its id, long or short
 * @param fingerprint its fingerprint
 * @param user whose keys
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
