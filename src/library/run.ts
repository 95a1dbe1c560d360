import { type FleetRun, startRun } from './fleet-run.ts';
import { runSource } from './invocation.ts';
import type { RunOptions } from './options.ts';

/**
 * Runs a function on every host that matches, as `tsalt-ssh TARGET FUN` does. Nothing is printed.
 *
 *     for await (const event of run({ target: 'web*', fun: 'state.apply' }))
 *       if (event.type === 'state') console.log(event.host, event.tag, event.result);
 *
 *     const results = await run({ target: 'web*', fun: 'grains.items' }).results();
 *
 * @throws nothing itself: wrong options are reported by the loop or by `results`
 */
export const run = <const F extends string>(
  options: RunOptions & { readonly fun: F },
): FleetRun<F> => startRun(runSource(options));
