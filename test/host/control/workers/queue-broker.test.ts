import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { describe, expect, onTestFinished, test } from 'vitest';
import { decodeMessage, encodeMessage } from '../../../../src/control/workers/messages.ts';
import { QueueBroker } from '../../../../src/control/workers/queue-broker.ts';
import { QueueServer, redisAddress } from '../../../../src/queue/connect.ts';
import { openKeys } from '../../../../src/queue/keys.ts';
import { envelopeOf, MessageReceiver, MessageSender } from '../../../../src/queue/messages.ts';
import { instanceStream, runStream } from '../../../../src/queue/names.ts';
import { JobSealer } from '../../../../src/queue/sealed-job.ts';
import { StreamWriter } from '../../../../src/queue/stream.ts';
import { hasRedis, startRedis } from '../../../helpers/queue/redis.ts';
import { removeFolder } from '../../../helpers/remove-folder.ts';

describe.skipIf(!hasRedis)('a queue worker (needs redis-server)', () => {
  test('a worker that gives up a run joins it again for further hosts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tsalt-broker-'));
    onTestFinished(() => removeFolder(folder));
    const redis = await startRedis();
    onTestFinished(redis.close);
    const address = redisAddress(redis.url, {}, false);
    const [keys, control] = await Promise.all(
      ['worker', 'control'].map(name => openKeys(join(folder, name))),
    );
    if (!keys || !control) throw new Error('there are two');
    const server = new QueueServer(address, () => undefined);
    const broker = new QueueBroker({
      ...{ server, keys, folder, segment: 'dmz', concurrency: 2, version: '1.0.0' },
      ...{ controls: [control.publicKey], log: () => undefined },
    });
    await broker.start();
    onTestFinished(() => broker.stop());

    const jid = '20260101000000000000';
    const runKey = Buffer.alloc(32, 7);
    const jobs = new Queue('jobs-dmz', {
      connection: { port: address.port, host: '127.0.0.1' },
      prefix: 'tsalt',
    });
    onTestFinished(() => jobs.close());
    const sealer = new JobSealer(control, redis.client);
    const offer = async (number: number): Promise<void> => {
      const about = { version: '1.0.0', jid, segment: 'dmz', expires: Date.now() + 60_000 };
      const key = (): Buffer => runKey;
      await jobs.add('host', await sealer.seal({ ...about, number }, [keys.publicKey], key));
    };
    const claims = new Map<number, string>();
    const receivers = new Map<string, MessageReceiver>();
    await server.read(runStream(jid), async data => {
      const envelope = envelopeOf(data);
      if (!envelope) return;
      const { instance } = envelope;
      const receiver =
        receivers.get(instance) ?? new MessageReceiver(runKey, { jid, instance, to: 'control' });
      receivers.set(instance, receiver);
      for (const text of receiver.open(envelope)) {
        const message = decodeMessage(text) as { readonly type: string; readonly id: number };
        if (message.type === 'claim') claims.set(message.id, instance);
      }
    });

    await offer(1);
    await expect.poll(() => claims.get(1)).toBeDefined();
    broker.abort();
    await offer(2);
    // It has taken the job, and waits for the end of the run that it gave up.
    await expect.poll(async () => (await jobs.getJobCounts('active')).active).toBe(2);
    const first = claims.get(1) ?? '';
    const outbox = new StreamWriter(redis.client, instanceStream(first));
    const sender = new MessageSender(outbox, runKey, { jid, instance: first, to: 'worker' });
    sender.send(encodeMessage({ type: 'denied', id: 1 }));
    await expect.poll(() => claims.get(2)).toBeDefined();
    const second = claims.get(2) ?? '';
    expect(second).not.toBe(first);
    expect(instanceStream(second)).toBe(instanceStream(first));
    const again = new MessageSender(outbox, runKey, { jid, instance: second, to: 'worker' });
    again.send(encodeMessage({ type: 'denied', id: 2 }));
  });
});
