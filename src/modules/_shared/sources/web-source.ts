import { dirname } from 'node:path';
import { __opts__ } from '../../api.ts';
import { writeAtomic } from '../files/atomic-write.ts';
import { cachePath } from '../files/cache-dir.ts';
import { contentOfFile } from '../files/file-content.ts';
import { hashOf } from '../files/file-hash.ts';
import { isFile } from '../files/file-paths.ts';
import { makeDirs } from '../files/make-dirs.ts';
import { readOr } from '../files/read-file.ts';
import {
  type Download,
  type DownloadOptions,
  download,
  downloadIfChanged,
  isUnchanged,
} from './download.ts';

export type WebOptions = DownloadOptions & {
  readonly saltenv: string;
  /** Keep a copy, and fetch the file only when the server calls it something else than that copy. */
  readonly useEtag?: boolean | undefined;
};

/** Fetches a file from the web, or takes the copy of it that the server says is still right. */
export const fetchWeb = async (url: string, options: WebOptions): Promise<Download> => {
  const { saltenv, useEtag, near, hashType = 'sha256', verify } = options;
  if (!useEtag) return download(url, { near, hashType, verify });
  const place = cachePath(url, saltenv);
  if (!__opts__.test) makeDirs(dirname(place), { mode: '0700' });
  const known = await etagOf(place);
  const found = await downloadIfChanged(url, known, {
    near: __opts__.test ? near : place,
    hashType,
    verify,
  });
  if (found && __opts__.test) return found;
  if (found) {
    found.content.place(place, { mode: 0o600 });
    // Empty when the server sent no ETag: the file is then fetched again.
    const text = found.etag === undefined ? '' : `${found.etag}\n${found.content.sha256}\n`;
    writeAtomic(etagPath(place), text, { mode: 0o600 });
  }
  const sum = found?.sum ?? (await hashOf(place, hashType));
  return { content: await contentOfFile(place, near), sum, etag: found?.etag ?? known };
};

/** Whether the copy of a file from the web is still what the server has. */
export const isCachedCurrent = async (url: string, saltenv: string): Promise<boolean> => {
  const etag = await etagOf(cachePath(url, saltenv));
  return etag !== undefined && isUnchanged(url, etag);
};

const etagPath = (place: string): string => `${place}.etag`;

/** The ETag that the cached copy came with; undefined when the copy has changed since. */
const etagOf = async (place: string): Promise<string | undefined> => {
  const [etag, sha256] = (readOr(etagPath(place)) ?? '').split('\n');
  if (!etag || !isFile(place)) return undefined;
  return (await hashOf(place)) === sha256 ? etag : undefined;
};
