import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blobName, getBlob, putBlobs } from '../../../src/queue/blobs.ts';
import { newKey, sealBytes } from '../../../src/queue/cipher.ts';
import { hasRedis, startRedis, type TestRedis } from '../../helpers/queue/redis.ts';

const nameOf = (key: Buffer, content: string): string =>
  blobName(key, createHash('sha256').update(content).digest('hex'));

describe.skipIf(!hasRedis)('files of a project in the queue', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());

  test('a file that another worker replaced, who has the key as well, is refused', async () => {
    const key = newKey();
    const name = nameOf(key, 'export const a = 1;');
    await putBlobs(redis.client, key, [
      { name, read: async () => Buffer.from('export const a = 1;') },
    ]);
    expect(String(await getBlob(redis.client, key, name))).toBe('export const a = 1;');

    const [place = ''] = await redis.client.keys('*file*');
    await redis.client.set(place, sealBytes(Buffer.from('evil()'), key, `tsalt-ssh file ${name}`));
    await expect(getBlob(redis.client, key, name)).rejects.toThrow(
      'a file of the project was replaced in the queue',
    );
  });
});
