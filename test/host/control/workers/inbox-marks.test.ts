import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InboxMarks } from '../../../../src/control/workers/inbox-marks.ts';
import { QueueServer, redisAddress } from '../../../../src/queue/connect.ts';
import { removeStream, StreamWriter } from '../../../../src/queue/stream.ts';
import { hasRedis, startRedis, type TestRedis } from '../../../helpers/queue/redis.ts';

describe.skipIf(!hasRedis)('marks (needs redis-server)', () => {
  let redis: TestRedis;
  let server: QueueServer;
  beforeAll(async () => {
    redis = await startRedis();
    server = new QueueServer(redisAddress(redis.url, {}, false), () => undefined);
  });
  afterAll(async () => {
    await server.close();
    await redis.close();
  });

  test('a mark arrives when all that was sent before is read, and one at a time is on its way', async () => {
    const inbox = new StreamWriter(redis.client, 'marked');
    const marks = new InboxMarks();
    const message = { jid: '1', instance: 'a', sequence: 0, sealed: '' };
    for (let at = 0; at < 30; at += 1) await inbox.append(message);
    await marks.send(inbox);
    await marks.send(inbox);
    await inbox.append(message);
    expect(await redis.client.xlen('tsalt:marked')).toBe(32);

    const read: unknown[] = [];
    await server.read('marked', async data => {
      read.push(marks.isArrived(data) ? 'mark' : data);
    });
    await expect.poll(() => read.length).toBe(32);
    expect(read.indexOf('mark')).toBe(30);
    expect(read.filter(one => one === 'mark')).toHaveLength(1);

    marks.done();
    await marks.send(inbox);
    await expect.poll(() => read.length).toBe(33);
    expect(read[32]).toBe('mark');
  });

  test('a mark that does not arrive is replaced', async () => {
    const inbox = new StreamWriter(redis.client, 'lost');
    const marks = new InboxMarks();
    await marks.send(inbox);
    await removeStream(redis.client, 'lost');
    for (let at = 0; at < 30; at += 1) await marks.send(inbox);
    const [entry, ...more] = await redis.client.xrange('tsalt:lost', '-', '+');
    expect(more).toEqual([]);
    expect(marks.isArrived(JSON.parse(entry?.[1][1] ?? ''))).toBe(true);
    expect(marks.isArrived({ mark: 'another' })).toBe(false);
  });
});
