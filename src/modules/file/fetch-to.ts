import { basename, dirname, join } from 'node:path';
import { cachePath } from '../_shared/files/cache-dir.ts';
import { expandUser, isDir } from '../_shared/files/file-paths.ts';
import { makeDirs } from '../_shared/files/make-dirs.ts';
import { findSource } from '../_shared/sources/file-source.ts';
import { parseSource } from '../_shared/sources/source-url.ts';

type FetchOptions = Omit<Parameters<typeof findSource>[1], 'name' | 'near'> & {
  readonly saltenv: string;
  readonly makedirs: boolean;
};

/**
 * Copies a source to this host, rendering it if a template engine is given, and returns the path.
 *
 * @param dest the file, or a directory; '' for the cache
 * @throws SourceError if the source does not exist
 */
export const fetchTo = async (
  path: string,
  dest: string,
  { makedirs, ...options }: FetchOptions,
): Promise<string> => {
  const place = placeFor(path, dest, options.saltenv);
  if (makedirs || dest === '') makeDirs(dirname(place));
  const found = await findSource(path, { ...options, name: place, near: place });
  // A template may contain secrets, so, as in Salt, only the account of the run can read the file.
  (await found.content()).place(place, options.template ? { mode: 0o600 } : {});
  return place;
};

const placeFor = (path: string, dest: string, saltenv: string): string => {
  if (dest === '') return cachePath(path, saltenv);
  const full = expandUser(dest);
  return full.endsWith('/') || isDir(full) ? join(full, basename(parseSource(path).path)) : full;
};
