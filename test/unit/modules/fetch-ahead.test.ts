import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentOf } from '../../../src/modules/_shared/files/file-content.ts';
import {
  type ComingFile,
  FetchAhead,
  type Fetched,
} from '../../../src/modules/_shared/sources/fetch-ahead.ts';

const answerOf = (key: string): Fetched => ({
  answer: { found: true },
  content: contentOf(`content of ${key}`),
});

type Watched = { open: number; mostOpen: number; held: number; mostHeld: number };

/** Files whose requests take a while; some fail. */
const filesOf = (
  all: readonly { size: number; fails: boolean; ms: number }[],
  watched: Watched,
): ComingFile[] =>
  all.map(({ size, fails, ms }, at) => ({
    key: `f${at % 40}`,
    size,
    fetch: async () => {
      watched.open += 1;
      watched.held += size;
      watched.mostOpen = Math.max(watched.mostOpen, watched.open);
      watched.mostHeld = Math.max(watched.mostHeld, watched.held);
      await pause(ms);
      watched.open -= 1;
      if (fails) throw new Error(`no f${at % 40}`);
      return answerOf(`f${at % 40}`);
    },
  }));

const file = (): fc.Arbitrary<{ size: number; fails: boolean; ms: number }> =>
  fc.record({
    size: fc.integer({ min: 0, max: 1024 * 1024 }),
    fails: fc.integer({ min: 0, max: 9 }).map(value => value === 0),
    ms: fc.integer({ min: 0, max: 2 }),
  });

test('each file that is taken is its own, in any order, and what is in flight stays bounded', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(file(), { minLength: 1, maxLength: 400 }),
      fc.array(fc.nat(60), { maxLength: 60 }),
      async (all, wanted) => {
        const watched: Watched = { open: 0, mostOpen: 0, held: 0, mostHeld: 0 };
        const ahead = new FetchAhead();
        const files = filesOf(all, watched);
        const end = ahead.announce(files);
        for (const at of wanted) {
          const key = `f${at}`;
          const size = files.find(each => each.key === key)?.size ?? 0;
          const taken = Promise.resolve(ahead.take(key, async () => answerOf(key)));
          const got = await taken.catch((error: Error) => error.message);
          watched.held = Math.max(0, watched.held - size);
          if (typeof got === 'string') expect(got).toBe(`no ${key}`);
          else expect(got.content?.bytes().toString()).toBe(`content of ${key}`);
        }
        expect(watched.mostOpen).toBeLessThanOrEqual(160);
        end();
        const before = watched.open;
        await pause(5);
        expect(watched.open).toBeLessThanOrEqual(before);
      },
    ),
    { numRuns: 40 },
  );
});

test('files that are announced for later are listed once, when the first one is needed', async () => {
  const watched: Watched = { open: 0, mostOpen: 0, held: 0, mostHeld: 0 };
  const ahead = new FetchAhead();
  let lists = 0;
  ahead.announceLater(() => {
    lists += 1;
    return filesOf(
      [0, 1, 2].map(() => ({ size: 1, fails: false, ms: 0 })),
      watched,
    );
  });
  expect(lists).toBe(0);
  const got = await ahead.take('f0', async () => answerOf('f0'));
  expect(got.content?.bytes().toString()).toBe('content of f0');
  expect(watched.mostOpen).toBe(2);
  await ahead.take('f2', async () => expect.fail('f2 was not requested ahead'));
  ahead.begin();
  expect(lists).toBe(1);
});

test('at most 8 MB wait unused, however many files are announced', async () => {
  const watched: Watched = { open: 0, mostOpen: 0, held: 0, mostHeld: 0 };
  const size = 500 * 1024;
  const files = filesOf(
    Array.from({ length: 40 }, () => ({ size, fails: false, ms: 0 })),
    watched,
  );
  const ahead = new FetchAhead();
  ahead.announce(files);
  for (let at = 0; at < 40; at += 1) {
    await ahead.take(`f${at}`, async () => answerOf(`f${at}`));
    await pause(2);
    if (at > 0) watched.held -= size;
    expect(watched.held).toBeLessThanOrEqual(8 * 1024 * 1024 + size);
  }
  expect(watched.mostHeld).toBeGreaterThan(7 * 1024 * 1024);
});

test('nothing is requested before the first file is needed, nor after the end', async () => {
  const watched: Watched = { open: 0, mostOpen: 0, held: 0, mostHeld: 0 };
  const files = filesOf(
    Array.from({ length: 30 }, () => ({ size: 10, fails: false, ms: 1 })),
    watched,
  );
  const ahead = new FetchAhead();
  const end = ahead.announce(files);
  await pause(5);
  expect(watched.mostOpen).toBe(0);
  end();
  let own = 0;
  await ahead.take('f0', async () => {
    own += 1;
    return answerOf('f0');
  });
  await pause(5);
  expect([own, watched.mostOpen]).toEqual([1, 0]);
});

test('files that the lists skip are dropped: several lists share one limit', async () => {
  const watched: Watched = { open: 0, mostOpen: 0, held: 0, mostHeld: 0 };
  const slow = (): ComingFile[] =>
    filesOf(
      Array.from({ length: 40 }, () => ({ size: 10, fails: false, ms: 20 })),
      watched,
    );
  const ahead = new FetchAhead();
  const takes = Array.from({ length: 10 }, (_, list) => {
    ahead.announce(slow().map(each => ({ ...each, key: `${list} ${each.key}` })));
    return ahead.take(`${list} f0`, async () => answerOf('f0'));
  });
  await Promise.all(takes);
  expect(watched.mostOpen).toBe(160);
});

test('begin requests files before one of them is taken', async () => {
  const ahead = new FetchAhead();
  const fetched: string[] = [];
  const fetch = async (key: string): Promise<Fetched> => {
    fetched.push(key);
    return answerOf(key);
  };
  const end = ahead.announce(['a', 'b'].map(key => ({ key, size: 1, fetch: () => fetch(key) })));
  ahead.begin();
  expect(fetched).toEqual(['a', 'b']);
  await ahead.take('b', () => fetch('b'));
  expect(fetched).toEqual(['a', 'b']);
  end();
});

test('a file that has arrived with others is taken without waiting', async () => {
  const ahead = new FetchAhead(async (items, take) => {
    for (const [at, [name]] of items.entries())
      take(at, name === 'b' ? undefined : Buffer.from(`content of ${name}`));
  });
  const fetch = async (key: string): Promise<Fetched> => answerOf(key);
  const keys = ['a', 'b', 'c', 'd'];
  ahead.announce(
    keys.map(key => ({ key, size: 20, fetch: () => fetch(key), named: [key, 'base'] as const })),
  );
  ahead.begin();
  await pause(0);
  const taken = keys.map(key => ahead.take(key, () => fetch(key)));
  // What did not come has to be requested.
  expect(taken.map(each => each instanceof Promise)).toEqual([false, true, false, false]);
  for (const [at, each] of taken.entries())
    expect((await each).content?.bytes().toString()).toBe(`content of ${keys[at]}`);
});

test('small files are requested together: each gets its own content, the others a request of their own', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          size: fc.integer({ min: 0, max: 100_000 }),
          how: fc.constantFrom('sent', 'sent', 'sent', 'left out', 'changed', 'unnamed'),
        }),
        { minLength: 2, maxLength: 700 },
      ),
      fc.option(fc.nat(699), { nil: undefined }),
      async (all, breaksAt) => {
        const contents = all.map(({ size }, at) => Buffer.alloc(size, `${at} `));
        const single: number[] = [];
        const requests: number[] = [];
        let asked = 0;
        const ahead = new FetchAhead(async (items, take) => {
          requests.push(items.length);
          await pause(0);
          for (const [at, [name]] of items.entries()) {
            asked += 1;
            if (asked === breaksAt) throw new Error('the wire is broken');
            const place = Number(name);
            const how = all[place]?.how;
            const bytes = contents[place] ?? Buffer.alloc(0);
            take(at, { sent: bytes, changed: Buffer.from('other') }[how as string]);
          }
        });
        const fetch = async (at: number): Promise<Fetched> => {
          single.push(at);
          return { answer: { found: true }, content: contentOf(contents[at] ?? '') };
        };
        ahead.announce(
          all.map(({ size, how }, at) => ({
            key: `${at}`,
            size,
            sha256: contentOf(contents[at] ?? '').sha256,
            fetch: () => fetch(at),
            ...(how !== 'unnamed' && { named: [`${at}`, 'base'] as const }),
          })),
        );
        for (const at of all.keys()) {
          const { content } = await ahead.take(`${at}`, () => fetch(at));
          expect(content?.bytes().equals(contents[at] ?? Buffer.alloc(0))).toBe(true);
        }
        const isSmall = (at: number): boolean => (all[at]?.size ?? 0) <= 64 * 1024;
        expect(new Set(single).size).toBe(single.length);
        const isSent = (at: number): boolean => isSmall(at) && all[at]?.how === 'sent';
        expect(single).toEqual(expect.arrayContaining([...all.keys()].filter(at => !isSent(at))));
        // The first one is needed at once, and so is requested alone, as is a last one without others.
        if (breaksAt === undefined && all.every((_, at) => isSent(at)) && all.length > 2)
          expect(single.length).toBeLessThanOrEqual(2 + requests.length);
        for (const length of requests) expect(length).toBeGreaterThan(1);
        expect(Math.max(0, ...requests)).toBeLessThanOrEqual(256);
      },
    ),
    { numRuns: 40 },
  );
});

test('1,000 small files are requested at once, as soon as the first one is needed', async () => {
  const requests: number[] = [];
  const ahead = new FetchAhead(async items => {
    requests.push(items.length);
    await new Promise(() => undefined);
  });
  const fetch = async (): Promise<Fetched> => answerOf('f');
  ahead.announce(
    Array.from({ length: 1000 }, (_, at) => ({
      key: `f${at}`,
      size: 500,
      sha256: 'x',
      fetch,
      named: [`f${at}`, 'base'] as const,
    })),
  );
  await ahead.take('f0', fetch);
  expect(requests).toEqual([256, 256, 256, 231]);
});
