import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { keyedName, openBytes, sealBytes } from './cipher.ts';
import { prefix } from './names.ts';

/** Seconds for which the files of a project stay in Redis after the last run that needs them. */
const kept = 24 * 3600;

/** Names in one request. */
const atOnce = 200;

/** A content, under a name that reveals nothing about it. */
export type Blob = { readonly name: string; readonly read: () => Promise<Uint8Array> };

const keyOf = (name: string): string => `${prefix}:file:${name}`;
const aboutOf = (name: string): string => `tsalt-ssh file ${name}`;

/** The name of a content by its SHA-256. */
export const blobName = (key: Uint8Array, sha256: string): string => keyedName(key, sha256);

/** Stores missing contents in Redis, and extends the lifetime of the others. */
export const putBlobs = async (
  redis: Redis,
  key: Uint8Array,
  blobs: readonly Blob[],
): Promise<void> => {
  for (let at = 0; at < blobs.length; at += atOnce) {
    const some = blobs.slice(at, at + atOnce);
    const there = await Promise.all(some.map(({ name }) => redis.expire(keyOf(name), kept)));
    for (const [place, { name, read }] of some.entries()) {
      if (there[place] === 1) continue;
      const sealed = sealBytes(await read(), key, aboutOf(name));
      await redis.set(keyOf(name), sealed, 'EX', kept);
    }
  }
};

/**
 * Returns the content with this name. Workers of all segments have the key, so that each of them
 * could seal another content under the name: it counts only with the hash that the name is made of.
 *
 * @throws Error where the content is gone, or was changed
 */
export const getBlob = async (
  redis: Pick<Redis, 'getBuffer'>,
  key: Uint8Array,
  name: string,
): Promise<Buffer> => {
  const sealed = await redis.getBuffer(keyOf(name));
  if (sealed === null) throw new Error('a file of the project is gone from the queue');
  const content = openBytes(sealed, key, aboutOf(name));
  const sha256 = createHash('sha256').update(content).digest('hex');
  if (blobName(key, sha256) !== name)
    throw new Error('a file of the project was replaced in the queue');
  return content;
};
