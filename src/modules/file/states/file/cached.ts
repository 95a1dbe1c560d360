import { messageOf } from '../../../../protocol/error.ts';
import { hashFile } from '../../../_shared/files/file-hash.ts';
import { expandUser, isFile, realPath } from '../../../_shared/files/file-paths.ts';
import { rmSync } from '../../../_shared/safe-fs/fs.ts';
import { sourceSum } from '../../../_shared/sources/source-hash.ts';
import { parseSource, redactUrl } from '../../../_shared/sources/source-url.ts';
import { isCachedCurrent } from '../../../_shared/sources/web-source.ts';
import { failed, inPlan, newReturn } from '../../../_shared/states/returns.ts';
import { __env__, __opts__, __salt__, type StateReturn } from '../../../api.ts';

type CachedOptions = {
  source_hash?: string;
  source_hash_name?: string | null;
  skip_verify?: boolean;
  saltenv?: string | null;
  use_etag?: boolean;
};

/**
 * Keeps a copy of a file from the file server or the web on this host.
 *
 * @param name `salt://`, `http(s)://` or a path
 * @param source_hash hash of a file from the web
 * @param source_hash_name name to look up in a file of hashes
 * @param skip_verify accept a file from the web without a hash
 * @param saltenv saltenv of a `salt://` URL
 * @param use_etag compare the web server's ETag to decide whether the copy is current; then no hash is needed
 *
 * @example
 * https://example.com/app.tar.gz:
 *   file.cached:
 *     - source_hash: sha256=…
 */
export const cached = async (
  name: string,
  {
    source_hash = '',
    source_hash_name = null,
    skip_verify = false,
    saltenv = null,
    use_etag = false,
  }: CachedOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const { scheme, path } = parseSource(name);
  const env = saltenv ?? __env__.name;
  const isWeb = scheme === 'http' || scheme === 'https';
  if (isWeb && !skip_verify && !source_hash && !use_etag)
    return failed(
      ret,
      `Unable to verify upstream hash of source file ${redactUrl(name)}, please set source_hash or set skip_verify or use_etag to True`,
    );
  try {
    const names = { source: name, sourceHashName: source_hash_name };
    const sum = source_hash && !skip_verify ? await sourceSum(source_hash, env, names) : undefined;
    if (scheme === 'file') return localAnswer(ret, realPath(expandUser(path)), sum);
    const known: string = await __salt__['cp.is_cached']?.(name, env);
    const old = known ? hashFile(known, sum?.hash_type) : null;
    if (known && sum && old === sum.hsum)
      return { ...ret, comment: `File is already cached to ${known} with hash ${old}` };
    if (__opts__.test) {
      if (known && scheme === 'salt') {
        const now = await __salt__['cp.hash_file']?.(name, env);
        if (now && now.hsum === old) return { ...ret, comment: `File is cached to ${known}` };
      }
      if (known && isWeb && use_etag && !sum && (await isCachedCurrent(name, env)))
        return { ...ret, comment: `File is cached to ${known}` };
      return {
        ...ret,
        changes: inPlan({ hash: { old, new: sum?.hsum ?? 'the hash of the file' } }),
        result: null,
        comment: `File would be cached from ${redactUrl(name)}`,
      };
    }
    const place: string | false = await __salt__['cp.cache_file']?.(name, env, {
      source_hash: sum ? `${sum.hash_type}=${sum.hsum}` : null,
      use_etag,
    });
    if (!place)
      return failed(
        ret,
        `Failed to cache ${redactUrl(name)}, check minion log for more information`,
      );
    const now = hashFile(place, sum?.hash_type);
    if (now !== old) ret.changes.hash = { old, new: now };
    return sum && now !== sum.hsum
      ? failed(
          ret,
          `File is cached to ${place}, but the hash (${now}) does not match the specified hash (${sum.hsum})`,
        )
      : { ...ret, comment: `File is cached to ${place}` };
  } catch (error) {
    return failed(ret, messageOf(error));
  }
};

const localAnswer = (
  ret: StateReturn,
  path: string,
  sum: { hash_type: string; hsum: string } | undefined,
): StateReturn => {
  if (!isFile(path)) return failed(ret, `File ${path} is not present on the minion`);
  if (!sum) return { ...ret, comment: `File ${path} is present on the minion` };
  const hash = hashFile(path, sum.hash_type);
  return hash === sum.hsum
    ? { ...ret, comment: `File ${path} is present on the minion and has hash ${hash}` }
    : failed(
        ret,
        `File ${path} is present on the minion, but the hash (${hash}) does not match the specified hash (${sum.hsum})`,
      );
};

/**
 * Makes sure that no copy of a file from the file server or the web is kept on this host.
 *
 * @param name `salt://`, `http(s)://` or a path
 * @param saltenv saltenv of a `salt://` URL
 *
 * @example
 * https://example.com/app.tar.gz:
 *   file.not_cached: []
 */
export const not_cached = async (
  name: string,
  { saltenv = null }: { saltenv?: string | null } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const { scheme, path } = parseSource(name);
  if (scheme === 'file')
    return {
      ...ret,
      comment: `File ${realPath(expandUser(path))} is a local path, no action taken`,
    };
  const known: string = await __salt__['cp.is_cached']?.(name, saltenv ?? __env__.name);
  if (!known) return { ...ret, comment: `${name} is not cached` };
  const changes = { deleted: true };
  if (__opts__.test) return { ...ret, result: null, changes, comment: `${known} would be deleted` };
  rmSync(known);
  return { ...ret, changes, comment: `${known} was deleted` };
};
