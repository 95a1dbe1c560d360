import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { newKey } from '../../../src/queue/cipher.ts';
import {
  envelopeOf,
  LostMessages,
  MessageReceiver,
  MessageSender,
} from '../../../src/queue/messages.ts';

const jid = '20260101000000000000';
const route = { jid, instance: 'dmz~1', to: 'control' } as const;

type Envelope = NonNullable<ReturnType<typeof envelopeOf>>;

/** The entries of these messages, one each. */
const sealed = async (key: Buffer, texts: readonly string[], to = route): Promise<Envelope[]> => {
  const jobs: Envelope[] = [];
  const stream = { append: async (data: object) => void jobs.push(data as Envelope) };
  const sender = new MessageSender(stream, key, to);
  for (const text of texts) {
    sender.send(text);
    await sender.sent();
  }
  return jobs;
};

test('a message is opened once, in order, by the side that it is for', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string(), { minLength: 1, maxLength: 8 }),
      fc.array(fc.nat({ max: 7 }), { maxLength: 20 }),
      async (texts, order) => {
        const key = newKey();
        const jobs = await sealed(key, texts);
        const receiver = new MessageReceiver(key, route);
        const heard: string[] = [];
        let next = 0;
        for (const place of order) {
          const job = jobs[place % jobs.length] as Envelope;
          if (job.sequence > next) expect(() => receiver.open(job)).toThrow(LostMessages);
          else {
            heard.push(...receiver.open(job));
            if (job.sequence === next) next += 1;
          }
        }
        expect(heard).toEqual(texts.slice(0, next));
        const [first] = jobs as [Envelope];
        for (const other of [
          { ...route, jid: '20260101000000000001' },
          { ...route, instance: 'dmz~2' },
          { ...route, to: 'worker' as const },
        ])
          expect(() => new MessageReceiver(key, other).open(first)).toThrow();
        expect(() => new MessageReceiver(newKey(), route).open(first)).toThrow();
      },
    ),
  );
});

test('a message that was changed is refused', async () => {
  const key = newKey();
  const [job] = (await sealed(key, ['{"type":"go","id":1}'])) as [Envelope];
  const bytes = Buffer.from(job.sealed, 'base64');
  for (let at = 0; at < bytes.length; at += 1) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    const changed = { ...job, sealed: flipped.toString('base64') };
    expect(() => new MessageReceiver(key, route).open(changed)).toThrow();
  }
  expect(() => new MessageReceiver(key, route).open({ ...job, sequence: 1 })).toThrow();
  expect(new MessageReceiver(key, route).open(job)).toEqual(['{"type":"go","id":1}']);
});

test('other data in the queue is refused', () => {
  fc.assert(
    fc.property(fc.anything(), value => {
      const found = envelopeOf(value);
      if (found === undefined) return;
      expect(() => new MessageReceiver(randomBytes(32), route).open(found)).toThrow();
    }),
  );
});

test('messages that come about together are one entry', async () => {
  const key = newKey();
  const jobs: Envelope[] = [];
  const stream = { append: async (data: object) => void jobs.push(data as Envelope) };
  const sender = new MessageSender(stream, key, route);
  for (let at = 0; at < 50; at += 1) sender.send(String(at));
  await sender.sent();
  expect(jobs).toHaveLength(1);
  expect(new MessageReceiver(key, route).open(jobs[0] as Envelope)).toHaveLength(50);
});

test('a repeated message does not count as a sign of life', async () => {
  const key = newKey();
  const [first, second] = (await sealed(key, ['one', 'two'])) as [Envelope, Envelope];
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const receiver = new MessageReceiver(key, route);
    receiver.open(first);
    const { heard } = receiver;
    vi.setSystemTime(heard + 60_000);
    expect(receiver.open(first)).toEqual([]);
    expect(receiver.heard).toBe(heard);
    receiver.open(second);
    expect(receiver.heard).toBe(heard + 60_000);
  } finally {
    vi.useRealTimers();
  }
});

test('a sign of life is sent only if nothing else was', async () => {
  const sent: Envelope[] = [];
  const stream = { append: async (data: object) => void sent.push(data as Envelope) };
  const sender = new MessageSender(stream, newKey(), route);
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const beat = async (): Promise<number> => {
      sender.sendIfQuiet('alive', 5000);
      await sender.sent();
      return sent.length;
    };
    expect(await beat()).toBe(1);
    vi.setSystemTime(Date.now() + 4999);
    expect(await beat()).toBe(1);
    vi.setSystemTime(Date.now() + 1);
    expect(await beat()).toBe(2);
    vi.setSystemTime(Date.now() + 3000);
    sender.send('an event');
    await sender.sent();
    vi.setSystemTime(Date.now() + 3000);
    expect(await beat()).toBe(3);
  } finally {
    vi.useRealTimers();
  }
});
