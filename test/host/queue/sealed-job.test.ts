import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Decrypter, Encrypter } from 'age-encryption';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { sealBytes } from '../../../src/queue/cipher.ts';
import { openKeys, type PublicKey, type QueueKeys, workerId } from '../../../src/queue/keys.ts';
import {
  JobOpener,
  JobSealer,
  type SealedJob,
  sealedJobOf,
} from '../../../src/queue/sealed-job.ts';
import { readTicket } from '../../../src/queue/tickets.ts';
import { hasRedis, startRedis, type TestRedis } from '../../helpers/queue/redis.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

describe.skipIf(!hasRedis)('jobs and tickets in a queue (needs redis-server)', () => {
  let dir: string;
  let redis: TestRedis;
  let control: QueueKeys;
  let worker: QueueKeys;
  let other: QueueKeys;
  /** Which tickets were read from Redis, by which worker. */
  let reads: string[] = [];

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'tsalt-jobs-'));
    redis = await startRedis();
    [control, worker, other] = (await Promise.all(
      ['control', 'worker', 'other'].map(name => openKeys(join(dir, name))),
    )) as [QueueKeys, QueueKeys, QueueKeys];
  });
  afterAll(async () => {
    await redis.close();
    removeFolder(dir);
  });
  beforeEach(() => {
    reads = [];
  });

  const job = {
    ...{ version: '1.0.0', jid: '20260101000000000000', segment: 'dmz', number: 3 },
    expires: Date.now() + 60_000,
  };
  /** The key of the messages of a run with a worker, which differs from worker to worker. */
  const keyFor = (id: string): Buffer => Buffer.from(id.repeat(2));
  const sealerOf = (keys = control): JobSealer => new JobSealer(keys, redis.client);
  const openerOf = (keys: QueueKeys, controls: readonly PublicKey[] = [control.publicKey]) =>
    new JobOpener(keys, controls, (tickets, id) => {
      reads.push(id);
      return readTicket(redis.client, tickets, id);
    });
  const idOf = ({ publicKey }: QueueKeys): string => workerId(publicKey);
  const ticketOf = async ({ tickets }: SealedJob, keys: QueueKeys): Promise<string> =>
    (await readTicket(redis.client, tickets, idOf(keys))) ?? '';
  const decrypted = (sealed: string, { identity }: QueueKeys): Promise<string> => {
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    return decrypter.decrypt(Buffer.from(sealed, 'base64'), 'text');
  };
  /** Replaces a ticket in Redis, as anybody there can. */
  const replace = async (name: string, keys: QueueKeys, sealed: string): Promise<void> => {
    await redis.client.hset(`tsalt:tickets-${name}`, { [idOf(keys)]: sealed });
  };

  test('a job is opened by workers that have a ticket, and only if a known control node signed it', async () => {
    const sealed = await sealerOf().seal(job, [worker.publicKey], keyFor);
    const found = sealedJobOf(JSON.parse(JSON.stringify(sealed))) as SealedJob;
    const runKey = keyFor(idOf(worker)).toString('base64');
    expect(await openerOf(worker, [other.publicKey, control.publicKey]).open(found)).toMatchObject({
      ...job,
      ...{ worker: idOf(worker), runKey },
    });
    expect(await openerOf(other).open(found)).toBeUndefined();
    for (const controls of [[other.publicKey], []])
      await expect(openerOf(worker, controls).open(found)).rejects.toThrow(/has signed it/);
    // A ticket for the worker that nobody but another control node has signed.
    const forged = await sealerOf(other).seal(job, [worker.publicKey], keyFor);
    await expect(openerOf(worker).open(forged)).rejects.toThrow(/has signed it/);
  });

  test('a worker cannot pass a ticket on to another one, whose messages it could then read', async () => {
    const sealed = await sealerOf().seal(job, [worker.publicKey], keyFor);
    const encrypter = new Encrypter();
    encrypter.addRecipient(other.publicKey.recipient);
    const passedOn = await encrypter.encrypt(
      await decrypted(await ticketOf(sealed, worker), worker),
    );
    await replace(sealed.tickets, other, Buffer.from(passedOn).toString('base64'));
    await expect(openerOf(other).open(sealed)).rejects.toThrow('it is for another worker');
    // The ticket of another worker as it is.
    await replace(sealed.tickets, other, await ticketOf(sealed, worker));
    await expect(openerOf(other).open(sealed)).rejects.toThrow();
  });

  test('tickets are made once for the jobs of a run, and read once by each worker', async () => {
    const sealer = sealerOf();
    const both = [worker.publicKey, other.publicKey];
    const numbers = [1, 2, 3, 4];
    const sealed = await Promise.all(
      numbers.map(number => sealer.seal({ ...job, number }, both, keyFor)),
    );
    expect(new Set(sealed.map(({ tickets }) => tickets)).size).toBe(1);
    expect(new Set(sealed.map(one => one.sealed)).size).toBe(numbers.length);
    expect(Math.max(...sealed.map(one => JSON.stringify(one).length))).toBeLessThan(120);
    for (const keys of [worker, other]) {
      reads = [];
      const opener = openerOf(keys);
      const opened = await Promise.all(sealed.map(one => opener.open(one)));
      expect(opened.map(one => one?.number)).toEqual(numbers);
      expect(await opener.open(sealed[0] as SealedJob)).toMatchObject({ number: 1 });
      expect(reads).toEqual([idOf(keys)]);
    }

    // A run of many hours makes other tickets before the first ones expire.
    const later = { ...job, expires: job.expires + 13 * 3600_000 };
    const renewed = await sealer.seal(later, both, keyFor);
    expect(renewed.tickets).not.toBe(sealed[0]?.tickets);
    expect(await openerOf(worker).open(renewed)).toMatchObject({ expires: later.expires });
  });

  test('the number of a job cannot be changed, nor taken from a job of another segment or run', async () => {
    const sealer = sealerOf();
    const [workers, opener] = [[worker.publicKey], openerOf(worker)];
    const own = await sealer.seal(job, workers, keyFor);
    expect(await opener.open(own)).toMatchObject({ number: 3 });
    const changed = Buffer.from(own.sealed, 'base64');
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    const others = await Promise.all([
      sealer.seal({ ...job, segment: 'office' }, workers, keyFor),
      sealerOf().seal({ ...job, jid: '20260101000000000001' }, workers, keyFor),
      sealerOf().seal(job, workers, keyFor),
    ]);
    for (const sealed of [...others.map(one => one.sealed), changed.toString('base64'), ''])
      await expect(opener.open({ ...own, sealed })).rejects.toThrow();
    // Nor has a worker that has a ticket of one run the key of another one.
    const keys = await Promise.all(
      [own, ...others].map(async one => {
        const { body } = JSON.parse(await decrypted(await ticketOf(one, worker), worker)) as {
          readonly body: string;
        };
        return (JSON.parse(body) as { readonly jobKey: string }).jobKey;
      }),
    );
    expect(new Set(keys).size).toBe(4);
    // A worker of the segment can seal jobs, but none that claims nothing and waits for an answer.
    const key = Buffer.from(keys[0] ?? '', 'base64');
    const sealed = sealBytes(Buffer.from('x'), key, `tsalt-ssh job ${own.tickets}`);
    const forged = { ...own, sealed: sealed.toString('base64') };
    await expect(opener.open(forged)).rejects.toThrow('it has no number');
    expect(key).toHaveLength(32);
  });

  test('a ticket of another run is refused, and the right one is accepted after that', async () => {
    const workers = [worker.publicKey];
    const [old, own] = await Promise.all([
      sealerOf().seal(job, workers, keyFor),
      sealerOf().seal({ ...job, jid: '20260101000000000001' }, workers, keyFor),
    ]);
    const right = await ticketOf(own, worker);
    await replace(own.tickets, worker, await ticketOf(old, worker));
    const opener = openerOf(worker);
    const replayed = [own, { ...old, tickets: own.tickets }];
    for (const one of replayed)
      await expect(opener.open(one)).rejects.toThrow('its ticket is that of another run');
    await replace(own.tickets, worker, right);
    await expect(opener.open(own)).resolves.toMatchObject({ jid: '20260101000000000001' });
  });

  test('a job that has expired is refused', async () => {
    const opener = openerOf(worker);
    const sealed = await sealerOf().seal(job, [worker.publicKey], keyFor);
    const lifetime = await redis.client.pttl(`tsalt:tickets-${sealed.tickets}`);
    expect(lifetime).toBeGreaterThan(0);
    expect(lifetime).toBeLessThanOrEqual(60_000);
    await opener.open(sealed);
    const late = openerOf(worker);
    vi.useFakeTimers({ now: Date.now() + 61_000, toFake: ['Date'] });
    // By a worker that has opened a job with the same ticket in time, and by one that reads it late.
    for (const one of [opener, late]) await expect(one.open(sealed)).rejects.toThrow(/expired/);
    vi.useRealTimers();
  });

  test('tickets that Redis has lost are made again; after a run there are none', async () => {
    const sealer = sealerOf();
    const seal = () => sealer.seal(job, [worker.publicKey], keyFor);
    const first = await seal();
    await sealer.check('dmz');
    expect((await seal()).tickets).toBe(first.tickets);
    await redis.client.del(`tsalt:tickets-${first.tickets}`);
    await expect(openerOf(worker).open(first)).rejects.toThrow('its run has ended');
    await sealer.check('dmz');
    const second = await seal();
    expect(second.tickets).not.toBe(first.tickets);
    expect(await openerOf(worker).open(second)).toMatchObject({ number: 3 });
    await sealer.end();
    await expect(openerOf(worker).open(second)).rejects.toThrow('its run has ended');
  });

  test.each([
    undefined,
    'x',
    { sealed: { '0123456789abcdef': 'x' } },
    { tickets: '*', sealed: 'x' },
    { tickets: '0'.repeat(32) },
    { tickets: '0'.repeat(32), sealed: 'x', returned: 'often' },
  ])('the data %j is not a job', data => {
    expect(sealedJobOf(data)).toBeUndefined();
  });
});
