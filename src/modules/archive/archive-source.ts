import { dirname } from 'node:path';
import { commitTemp, openTemp, writeAtomic } from '../_shared/files/atomic-write.ts';
import { cacheDir, cachePath } from '../_shared/files/cache-dir.ts';
import { hashBytes, hashFile } from '../_shared/files/file-hash.ts';
import { makeDirs } from '../_shared/files/make-dirs.ts';
import { readOr } from '../_shared/files/read-file.ts';
import { copyFileSync } from '../_shared/safe-fs/fs.ts';
import { findSource } from '../_shared/sources/file-source.ts';
import { type SourceSum, sourceSum } from '../_shared/sources/source-hash.ts';
import { __opts__, __salt__ } from '../api.ts';

/** Returns the archive as a local file. A download is kept on the host for the next run. */
export const localCopy = async (
  source: string,
  scratch: string,
  options: Parameters<typeof findSource>[1],
): Promise<string> => {
  const { source_hash, saltenv, name } = options;
  const isWeb = /^https?:/i.test(source);
  const kept: string = isWeb ? await __salt__['cp.is_cached']?.(source, saltenv) : '';
  if (kept && source_hash && !options.skip_verify) {
    const { hash_type, hsum } = await sourceSum(source_hash, saltenv, {
      name,
      source,
      sourceHashName: options.source_hash_name,
    });
    if (hashFile(kept, hash_type) === hsum) return kept;
  }
  const found = await findSource(source, { ...options, near: scratch });
  (await found.content()).place(scratch, { mode: 0o600 });
  if (!isWeb || __opts__.test || options.use_etag) return scratch;
  const place = cachePath(source, saltenv);
  makeDirs(dirname(place), { mode: '0700' });
  const copied = openTemp(dirname(place), 'archive');
  copyFileSync(scratch, copied.path);
  commitTemp(copied, place, { mode: 0o600 });
  return place;
};

/** Returns the file that stores the hash of the archive last unpacked in a directory. */
const sumFile = (source: string, target: string): string =>
  cacheDir('archive_hash', hashBytes(`${source}\0${target}`));

/** Returns the hash of the archive when it was last unpacked in this directory; undefined if unknown. */
export const unpackedSum = (source: string, target: string): SourceSum | undefined => {
  const [hash_type, hsum] = (readOr(sumFile(source, target)) ?? '').trim().split(':');
  return hash_type && hsum ? { hash_type, hsum } : undefined;
};

export const rememberSum = (
  source: string,
  target: string,
  { hash_type, hsum }: SourceSum,
): void => {
  const file = sumFile(source, target);
  makeDirs(dirname(file), { mode: '0700' });
  writeAtomic(file, `${hash_type}:${hsum}\n`, { mode: 0o600 });
};
