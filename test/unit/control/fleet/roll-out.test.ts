import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { batchesOf, rollOut } from '../../../../src/control/fleet/roll-out.ts';
import { heldHeap } from '../../../helpers/held-heap.ts';

const hosts = (count: number): string[] => Array.from({ length: count }, (_, at) => `h${at}`);

/** Runs a rollout whose hosts take times and succeed as given, and records what happened when. */
const record = async (
  count: number,
  plan: Parameters<typeof rollOut>[1],
  {
    fails = () => false,
    takes = () => 0,
    atOnce = 1000,
    pause,
    stop = () => undefined,
  }: {
    pause?: () => Promise<void>;
    fails?: (at: number) => boolean;
    takes?: (at: number) => number;
    atOnce?: number;
    stop?: (batch: readonly string[]) => string | undefined;
  } = {},
) => {
  const events: string[] = [];
  let atWork = 0;
  let widest = 0;
  const between: (readonly string[])[] = [];
  const end = await rollOut(hosts(count), plan, {
    one: async host => {
      const at = Number(host.slice(1));
      events.push(`+${host}`);
      atWork += 1;
      widest = Math.max(widest, atWork);
      await setTimeout(takes(at));
      atWork -= 1;
      events.push(`${fails(at) ? '!' : '-'}${host}`);
      return !fails(at);
    },
    between: async batch => {
      expect(atWork).toBe(0);
      between.push(batch);
      return stop(batch);
    },
    ...(pause ? { pause } : {}),
    atOnce,
    signal: new AbortController().signal,
  });
  return { ...end, events, widest, between };
};

describe('batchesOf', () => {
  test('repeats the last size, and rounds parts of all hosts up', () => {
    const sizes = [{ count: 1 }, { count: 5 }, { percent: 20 }];
    expect(batchesOf(hosts(16), sizes).map(batch => batch.length)).toEqual([1, 5, 4, 4, 2]);
    expect(batchesOf(hosts(3)).map(batch => batch.length)).toEqual([3]);
    expect(batchesOf([], sizes)).toEqual([]);
  });
});

describe('rollOut', () => {
  test('hosts that wait or have ended hold no memory', { tags: 'slow' }, async () => {
    const count = 50_000;
    const all = hosts(count);
    const held: number[] = [];
    const before = heldHeap();
    await rollOut(
      all,
      { mode: 'lockstep' },
      {
        one: async host => {
          if (host === 'h10' || host === `h${count - 1}`) held.push(heldHeap() - before);
          return true;
        },
        between: async () => undefined,
        atOnce: 25,
        signal: new AbortController().signal,
      },
    );
    // That a host has begun is kept; a queue of promises would hold a kilobyte for each that waits.
    for (const bytes of held) expect(bytes / count).toBeLessThan(200);
    expect(held).toHaveLength(2);
  });

  test('lockstep waits for a whole batch', async () => {
    const { events, between } = await record(4, { mode: 'lockstep', sizes: [{ count: 2 }] });
    expect(events.slice(0, 4).toSorted()).toEqual(['+h0', '+h1', '-h0', '-h1']);
    expect(between).toEqual([['h0', 'h1']]);
  });

  test('sliding begins with the next host when one has ended, after the first batches', async () => {
    const { events, widest, between } = await record(
      5,
      { mode: 'sliding', sizes: [{ count: 1 }, { count: 2 }] },
      { takes: at => (at === 1 ? 60 : 5) },
    );
    expect(events.slice(0, 2)).toEqual(['+h0', '-h0']);
    expect(events.indexOf('+h4')).toBeLessThan(events.indexOf('-h1'));
    expect(widest).toBe(2);
    expect(between).toEqual([['h0']]);
  });

  test('a pause between hosts counts failures before it, and comes neither in batches nor last', async () => {
    const pauses: number[] = [];
    const { events, notStarted } = await record(
      6,
      { mode: 'sliding', sizes: [{ count: 1 }, { count: 2 }], maxFail: { count: 1 } },
      {
        fails: at => at === 2,
        takes: at => (at === 2 ? 20 : 5),
        pause: async () => {
          pauses.push(1);
          await setTimeout(60);
        },
      },
    );
    // The failure of h2 falls into the pause after h1.
    expect(events).toContain('!h2');
    expect(notStarted).toEqual(['h3', 'h4', 'h5']);
    expect(pauses).toHaveLength(1);
    const whole = await record(
      3,
      { mode: 'sliding', sizes: [{ count: 1 }] },
      {
        pause: async () => {
          pauses.push(2);
        },
      },
    );
    expect(whole.events).toHaveLength(6);
    expect(pauses.filter(one => one === 2)).toHaveLength(2);
  });

  test('between two batches the rest can be left out', async () => {
    const { notStarted, reason, events } = await record(
      5,
      { mode: 'lockstep', sizes: [{ count: 2 }] },
      { stop: batch => (batch.includes('h2') ? 'enough' : undefined) },
    );
    expect(notStarted).toEqual(['h4']);
    expect(reason).toBe('enough');
    expect(events).not.toContain('+h4');
  });

  test('nothing begins once the budget is used up, and what began ends', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          count: fc.integer({ min: 1, max: 30 }),
          size: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
          mode: fc.constantFrom('lockstep' as const, 'sliding' as const),
          budget: fc.oneof(
            fc.integer({ min: 1, max: 6 }).map(count => ({ count })),
            fc.integer({ min: 1, max: 100 }).map(percent => ({ percent })),
          ),
          failing: fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }),
          atOnce: fc.integer({ min: 1, max: 10 }),
        }),
        async ({ count, size, mode, budget, failing, atOnce }) => {
          const { events, notStarted, widest } = await record(
            count,
            { mode, maxFail: budget, ...(size === undefined ? {} : { sizes: [{ count: size }] }) },
            { fails: at => failing[at] === true, atOnce },
          );
          const most =
            'count' in budget
              ? budget.count
              : Math.max(1, Math.ceil((count * budget.percent) / 100));
          let failed = 0;
          for (const event of events) {
            if (event.startsWith('+')) expect(failed).toBeLessThan(most);
            if (event.startsWith('!')) failed += 1;
          }
          const begun = events.filter(event => event.startsWith('+'));
          expect(begun.length * 2).toBe(events.length);
          // In the order of the fleet, none left out.
          expect(begun).toEqual(begun.map((_, at) => `+h${at}`));
          expect(begun.length + notStarted.length).toBe(count);
          if (failed < most) expect(notStarted).toEqual([]);
          expect(widest).toBeLessThanOrEqual(Math.min(size ?? count, atOnce));
        },
      ),
      { numRuns: 150 },
    );
  });
});
