import { hashFile, hashLengths } from '../../../_shared/files/file-hash.ts';
import { expandUser, isFile } from '../../../_shared/files/file-paths.ts';
import { type SourceSum, sourceSum } from '../../../_shared/sources/source-hash.ts';
import { redactUrl } from '../../../_shared/sources/source-url.ts';
import { __opts__, log, SaltInvocationError } from '../../../api.ts';

/**
 * Returns the hash of a file.
 *
 * @param path the file
 * @param form `sha256`, `sha512`, `sha384`, `sha224`, `sha1`, `md5`
 * @param chunk_size has no effect: a file is read in pieces anyway
 *
 * @example tsalt-ssh '*' file.get_hash /etc/shadow
 */
export const get_hash = async (
  path: string,
  form = 'sha256',
  { chunk_size: _chunk_size = 65_536 }: { chunk_size?: number } = {},
): Promise<string> => hashFile(expandUser(path), form);

/**
 * Returns the hash of a file, or an error message if it does not exist.
 *
 * @param path the file
 * @param form `sha256`, `sha512`, `sha384`, `sha224`, `sha1`, `md5`
 *
 * @example tsalt-ssh '*' file.get_sum /etc/passwd sha512
 */
export const get_sum = async (path: string, form = 'sha256'): Promise<string> =>
  isFile(expandUser(path)) ? hashFile(expandUser(path), form) : 'File not found';

/**
 * Whether a file has a hash.
 *
 * @param path the file
 * @param file_hash the hash, alone or as `type=hash` or `type:hash`
 *
 * @example tsalt-ssh '*' file.check_hash /etc/fstab md5=8d97e0a1b1a1a4f5a9b9f6dd8e5f4c40
 */
export const check_hash = async (path: string, file_hash: string): Promise<boolean> => {
  const [, type, hash] = file_hash.match(/^([^:=]+)[:=](.+)$/) ?? [];
  const wanted = hash ?? file_hash;
  const form = type ?? Object.keys(hashLengths).find(key => hashLengths[key] === wanted.length);
  if (form === undefined)
    throw new SaltInvocationError(
      `Hash ${file_hash} (length: ${file_hash.length}) could not be matched to a supported hash type.`,
    );
  return hashFile(expandUser(path), form) === wanted.toLowerCase();
};

/**
 * Returns the hash and hash type that a `source_hash` specifies for a file.
 *
 * @param file_name the file that is managed
 * @param source its source
 * @param source_hash the hash, or where a file of hashes is
 * @param source_hash_name name to look up in a file of hashes
 * @param saltenv saltenv of a `salt://` URL
 * @param verify_ssl false: accept any certificate of the web server with the file of hashes
 *
 * @example tsalt-ssh '*' file.get_source_sum /tmp/foo.tar.gz source_hash=https://mydomain.tld/hashes
 */
export const get_source_sum = async ({
  file_name = '',
  source = '',
  source_hash = '',
  source_hash_name = null,
  saltenv = null,
  verify_ssl = true,
}: {
  file_name?: string;
  source?: string;
  source_hash?: string;
  source_hash_name?: string | null;
  saltenv?: string | null;
  verify_ssl?: boolean;
} = {}): Promise<SourceSum> => {
  if (!verify_ssl && /^https:/i.test(source_hash))
    log.warning(
      `file.get_source_sum takes any certificate for ${redactUrl(source_hash)}: verify_ssl is False.`,
    );
  return sourceSum(source_hash, saltenv ?? __opts__.saltenv, {
    name: file_name,
    source,
    sourceHashName: source_hash_name,
    verify: verify_ssl,
  });
};
