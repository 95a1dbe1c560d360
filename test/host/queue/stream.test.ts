import { connect, createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { QueueServer, redisAddress } from '../../../src/queue/connect.ts';
import { removeStream, StreamReader, StreamWriter } from '../../../src/queue/stream.ts';
import { hasRedis, startRedis, type TestRedis } from '../../helpers/queue/redis.ts';

describe.skipIf(!hasRedis)('streams (needs redis-server)', () => {
  let redis: TestRedis;
  let server: QueueServer;
  const read = async (name: string, work?: (number: number) => void): Promise<number[]> => {
    const found: number[] = [];
    await server.read(name, async data => {
      const { number } = data as { readonly number: number };
      work?.(number);
      found.push(number);
    });
    return found;
  };
  beforeAll(async () => {
    redis = await startRedis();
    server = new QueueServer(redisAddress(redis.url, {}, false), () => undefined);
  });
  afterAll(async () => {
    await server.close();
    await redis.close();
  });

  test('entries are read in order, also those that were there before, and removed', async () => {
    const writer = new StreamWriter(redis.client, 'order');
    const numbers = Array.from({ length: 200 }, (_, number) => number);
    for (const number of numbers.slice(0, 100)) await writer.append({ number });
    const found = await read('order');
    for (const number of numbers.slice(100)) await writer.append({ number });
    await expect.poll(() => found.length).toBe(200);
    expect(found).toEqual(numbers);
    // What was read since the last removal is left: the reader does not ask for each entry.
    await expect.poll(() => redis.client.xlen('tsalt:order')).toBeLessThan(64 + 8);
    expect(await redis.client.ttl('tsalt:order')).toBeGreaterThan(23 * 3600);
    await removeStream(redis.client, 'order');
    expect(await redis.client.exists('tsalt:order')).toBe(0);
  });

  test('an entry that is not ours, or that fails, holds up no other one', async () => {
    const found = await read('faults', number => {
      if (number === 1) throw new Error('no');
    });
    const writer = new StreamWriter(redis.client, 'faults');
    await redis.client.xadd('tsalt:faults', '*', 'other', '{');
    await writer.append({ number: 1 });
    await redis.client.xadd('tsalt:faults', '*', 'data', 'null');
    await writer.append({ number: 2 });
    await expect.poll(() => found).toEqual([2]);
  });

  test('a Redis that is killed and comes back: nothing is lost', async () => {
    const found = await read('killed');
    const writer = new StreamWriter(redis.client, 'killed');
    for (let number = 0; number < 10; number += 1) await writer.append({ number });
    await expect.poll(() => found.length).toBe(10);
    const [restarted] = await Promise.all([redis.restart(), writer.append({ number: 10 })]);
    expect(restarted).toBeUndefined();
    await writer.append({ number: 11 });
    await expect.poll(() => new Set(found).size, { timeout: 20_000 }).toBe(12);
    // A writer that was cut off may write an entry twice: its sequence number says so.
    expect([...new Set(found)]).toEqual(Array.from({ length: 12 }, (_, number) => number));
  }, 60_000);

  test('connections that fall silent are replaced until one responds', {
    tags: 'slow',
    timeout: 60_000,
  }, async () => {
    const sockets = new Set<Socket>();
    let isSilent = false;
    let silenced = 0;
    const proxy = createServer(client => {
      const far = connect(Number(new URL(redis.url).port), '127.0.0.1');
      if (isSilent) silenced += 1;
      for (const [from, to] of [
        [client, far],
        [far, client],
      ] as const) {
        sockets.add(from);
        from.on('error', () => undefined);
        from.on('close', () => to.destroy());
        from.on('data', bytes => isSilent || to.write(bytes));
      }
    });
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    });
    const { port } = proxy.address() as { readonly port: number };
    const client = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: null });
    client.on('error', () => undefined);
    const found: unknown[] = [];
    const reader = new StreamReader(client, 'silent', async data => void found.push(data), 100);
    onTestFinished(() => reader.stop());
    void reader.run();
    const writer = new StreamWriter(redis.client, 'silent');
    await writer.append({ number: 1 });
    await expect.poll(() => found.length).toBe(1);
    isSilent = true;
    await writer.append({ number: 2 });
    await expect.poll(() => silenced).toBeGreaterThan(2);
    expect(found.length).toBe(1);
    isSilent = false;
    await writer.append({ number: 3 });
    await expect.poll(() => found).toEqual([{ number: 1 }, { number: 2 }, { number: 3 }]);
  });
});
