import { expect, test } from 'vitest';
import { TsaltError } from '../../../src/protocol/error.ts';
import { type Handler, Peer, WithContent } from '../../../src/protocol/peer.ts';

/** Two peers on a wire that delivers each write on the event loop's next turn. */
const pair = (handlers: Record<string, Handler>): { asking: Peer; sent: () => number } => {
  let sent = 0;
  const to = (other: () => Peer) => (bytes: Uint8Array) =>
    new Promise<void>(resolve =>
      setImmediate(() => {
        void other().receive(bytes);
        resolve();
      }),
    );
  const answering: Peer = new Peer({
    write: bytes => {
      sent += bytes.length;
      return to(() => asking)(bytes);
    },
    handlers,
    events: {},
  });
  const asking = new Peer({ write: to(() => answering), handlers: {}, events: {} });
  return { asking, sent: () => sent };
};

const megabytes = (count: number): Handler =>
  async function* () {
    for (let at = 0; at < count; at += 1) yield new Uint8Array(1024 ** 2);
  } as Handler;

test('content whose receiver fails fails its request, stops coming, and leaves the wire whole', async () => {
  const large = megabytes(64) as () => AsyncIterable<Uint8Array>;
  const { asking, sent } = pair({
    large: () => new WithContent({ size: 64 }, large()),
    echo: (params: unknown) => params,
  });
  let taken = 0;

  const failing = asking.request('large', {}, bytes => {
    taken += bytes.length;
    if (taken > 1024 ** 2) throw new Error('the disk is full');
  });

  await expect(failing).rejects.toThrow('the disk is full');
  expect(sent()).toBeLessThan(4 * 1024 ** 2);
  await expect(asking.request('echo', { still: 'here' })).resolves.toEqual({ still: 'here' });
});

test('several contents at once arrive whole, and stopping one stops no other', async () => {
  const make = megabytes(8) as () => AsyncIterable<Uint8Array>;
  const { asking } = pair({ large: () => new WithContent({ size: 8 }, make()) });
  const counts = [0, 0, 0];

  const results = await Promise.allSettled(
    counts.map((_, at) =>
      asking.request('large', {}, bytes => {
        counts[at] = (counts[at] ?? 0) + bytes.length;
        if (at === 1) throw new Error('no room');
      }),
    ),
  );

  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect([counts[0], counts[2]]).toEqual([8 * 1024 ** 2, 8 * 1024 ** 2]);
});

test('an answer or event that no frame holds is refused in a sentence, and the wire goes on', async () => {
  const huge = 'x'.repeat(64 * 1024 ** 2);
  const { asking } = pair({ huge: () => huge, echo: (params: unknown) => params });
  await expect(asking.request('huge', {})).rejects.toThrow(
    'The answer is 65 MB long; at most 64 MB can be sent at once.',
  );
  expect(() => asking.event('huge', huge)).toThrow('65 MB');
  await expect(asking.request('echo', 'small')).resolves.toBe('small');
});

test('an error that quotes a long request is shortened, and costs nothing else', async () => {
  const { asking } = pair({
    quote: ({ text }: { text: string }) => {
      throw new TsaltError('quoted', `There is no ${text}.`);
    },
    echo: (params: unknown) => params,
  });
  // Within the limit as a request, over it as a part of a sentence.
  const text = 'x'.repeat(64 * 1024 ** 2 - 80);
  const error = await asking.request('quote', { text }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'quoted',
    message: expect.stringMatching(/^There is no x+$/),
  });
  expect((error as Error).message.length).toBe(1024 ** 2);
  await expect(asking.request('echo', { still: 'here' })).resolves.toEqual({ still: 'here' });
});

test('a stranger has a bounded number of requests open, and says more of nothing', async () => {
  const closed: unknown[] = [];
  let open = 0;
  const wait = () => {
    open += 1;
    return new Promise(() => undefined);
  };
  const limited: Peer = new Peer({
    write: () => undefined,
    handlers: { wait },
    events: {},
    limits: {
      json: { values: 10, keys: 10, depth: 5 },
      requests: 20,
      requestBytes: 1e6,
      admits: () => true,
    },
  });
  const asking = new Peer({
    write: bytes => {
      try {
        return limited.receive(bytes);
      } catch (error) {
        closed.push((error as Error).message);
        return undefined;
      }
    },
    handlers: {},
    events: {},
  });
  for (let at = 0; at < 30; at += 1) void asking.request('wait', null);
  expect(open).toBe(20);
  expect(closed).toEqual(['The other side broke the protocol: it sent too many requests at once.']);
});
