import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KnownWorkers } from '../../../../src/control/workers/known-workers.ts';
import type { Host } from '../../../../src/protocol/host.ts';
import { sayAlive } from '../../../../src/queue/alive.ts';
import { redisAddress } from '../../../../src/queue/connect.ts';
import { openKeys, type QueueKeys, workerId } from '../../../../src/queue/keys.ts';
import { instanceName } from '../../../../src/queue/names.ts';
import { hasRedis, startRedis, type TestRedis } from '../../../helpers/queue/redis.ts';
import { removeFolder } from '../../../helpers/remove-folder.ts';

describe.skipIf(!hasRedis)('live workers (needs redis-server)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-known-'));
  const host = { id: 'web1' } as Host;
  let redis: TestRedis;
  let keys: QueueKeys;
  beforeAll(async () => {
    redis = await startRedis();
    keys = await openKeys(dir);
  });
  afterAll(async () => {
    await redis.close();
    removeFolder(dir);
  });
  const live = async (version: string): Promise<void> => {
    const worker = workerId(keys.publicKey);
    const about = { segment: 'dmz', worker, version, machine: 'm', hosts: 0, concurrency: 1 };
    const instance = instanceName('dmz', worker, '0'.repeat(16));
    await sayAlive(redis.client, { ...about, instance, started: 1, at: Date.now() }, keys);
  };
  const lists = async (): Promise<number> =>
    Number(/cmdstat_scan:calls=(\d+)/.exec(await redis.client.info('commandstats'))?.[1] ?? 0);

  test('hosts share a list, and none is refused because of an old one', async () => {
    const known = new KnownWorkers({
      connection: redisAddress(redis.url, {}, false),
      version: '1.0.0',
      workers: new Map([['dmz', [keys.publicKey]]]),
    });
    const check = (): Promise<void> => known.check(redis.client, host, 'dmz');
    await expect(check()).rejects.toMatchObject({ code: 'no-worker' });
    await live('0.9.0');
    await expect(check()).rejects.toMatchObject({ code: 'worker-version' });
    await live('1.0.0');
    await check();
    const before = await lists();
    const began = Date.now();
    for (let at = 0; at < 1000; at += 1) await check();
    // Without the list of the host before, each one would ask.
    expect((await lists()) - before).toBeLessThanOrEqual(2 + (Date.now() - began) / 1000);
    await expect(known.check(redis.client, host, 'office')).rejects.toMatchObject({
      code: 'no-worker',
    });
  });
});
