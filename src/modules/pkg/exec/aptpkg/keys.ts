import { basename, join } from 'node:path';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';
import { type KeyOptions, saveKey } from '../../apt-repos.ts';
import {
  keyringFolder,
  removeTrustedKey,
  type TrustedKey,
  trustedKeys,
} from '../../apt-trusted-keys.ts';

/**
 * The keys of package sources, by id. apt-key is not used: keys are files.
 *
 * @param aptkey true: those that apt trusts for every source; false: those of `keydir`
 * @param keydir the folder of key rings, `/etc/apt/keyrings` by default
 * @returns `keyid`, `fingerprint` and `file` of each
 * @example tsalt-ssh '*' pkg.get_repo_keys
 */
export const get_repo_keys = async (
  aptkey = true,
  keydir: string | null = null,
): Promise<{ [keyid: string]: TrustedKey }> =>
  trustedKeys(aptkey ? null : (keydir ?? keyringFolder));

/**
 * Adds a key of package sources. A key whose `keyid` is already known is not fetched again. apt-key
 * is not used: keys are files.
 *
 * @param path where the key is: `https://…`, `salt://…` or a path
 * @param text the key, armored
 * @param keyserver a key server
 * @param keyid the key's id
 * @param saltenv the environment of `salt://`
 * @param aptkey true: apt trusts the key for every source; false: it is stored in `keydir`
 * @param keydir the folder of key rings, `/etc/apt/keyrings` by default
 * @param keyfile the name of its file there; that of `path` by default
 * @example tsalt-ssh '*' pkg.add_repo_key keyserver=keyserver.ubuntu.com keyid=0123456789ABCDEF
 */
export const add_repo_key = async (
  path: string | null = null,
  text: string | null = null,
  keyserver: string | null = null,
  keyid: string | number | null = null,
  saltenv = 'base',
  aptkey = true,
  keydir: string | null = null,
  keyfile: string | null = null,
): Promise<boolean> => {
  const id = keyid === null ? null : String(keyid).replace(/^0x/i, '').toUpperCase();
  if (!path && !text && !keyserver)
    throw new SaltInvocationError(
      id === null
        ? 'pkg.add_repo_key needs path, text or keyserver.'
        : `No keyserver specified for keyid: ${keyid}`,
    );
  if (!path && !text && id === null)
    throw new SaltInvocationError(`No keyid or keyid too short for keyserver: ${keyserver}`);
  const known = Object.values(await get_repo_keys(aptkey, keydir));
  if (id !== null && known.some(({ fingerprint }) => fingerprint.endsWith(id))) return true;
  const file = keyfile ?? (path ? basename(path) : null);
  if (!aptkey && file === null)
    throw new SaltInvocationError('Name the file that the key goes into as keyfile.');
  const options: KeyOptions = { key_url: path, key_text: text, keyserver, keyid: id, saltenv };
  const signedby = aptkey ? '' : join(keydir ?? keyringFolder, file ?? '');
  await saveKey({ signedby }, options);
  return true;
};

/**
 * Removes the key of a source of packages. apt-key is not used: keys are files.
 *
 * @param name the source; accepted for compatibility with Salt
 * @param aptkey true: a key that apt trusts for every source; false: one of `keydir`
 * @param keydir the folder of key rings, `/etc/apt/keyrings` by default
 * @param keyid the key's id
 * @returns the id
 * @example tsalt-ssh '*' pkg.del_repo_key keyid=0123456789ABCDEF
 */
export const del_repo_key = async (
  name: string | null = null,
  aptkey = true,
  keydir: string | null = null,
  { keyid = null, keyid_ppa = false }: { keyid?: string | number | null; keyid_ppa?: boolean } = {},
): Promise<string> => {
  if (keyid_ppa)
    throw new CommandExecutionError(
      `The key of ${name ?? 'a ppa'} is not looked up at Launchpad: give its id as keyid.`,
    );
  if (keyid === null)
    throw new SaltInvocationError('keyid or keyid_ppa and PPA name must be passed');
  removeTrustedKey(String(keyid), aptkey ? null : (keydir ?? keyringFolder));
  return String(keyid);
};
