import { setTimeout as sleep } from 'node:timers/promises';
import { type ModuleContext, withContext } from '../../../src/modules/api.ts';
import type { LowChunk } from '../../../src/protocol/low.ts';
import type { PlainDict } from '../../../src/protocol/plain.ts';
import type { StateResults } from '../../../src/protocol/result.ts';
import { runChunks } from '../../../src/runtime/engine/engine.ts';
import type { PendingReactions } from '../../../src/runtime/engine/pending.ts';
import type { EngineHost, HostStateView } from '../../../src/runtime/engine/run-state.ts';
import { type Table, tableRegistry } from './table-registry.ts';

/** One call of a state function, as the function saw it. */
type Called = {
  readonly fun: string;
  readonly name: unknown;
  readonly test: boolean;
  readonly kwargs: PlainDict;
};

export type EngineRun = {
  readonly results: StateResults;
  readonly aborted?: string;
  readonly calls: readonly Called[];
  /** `begin x`, `end x` of every real execution, in time. */
  readonly times: readonly string[];
  /** Tags in the order in which they were reported. */
  readonly reported: readonly string[];
  readonly context: { [key: string]: unknown };
};

export type EngineSetup = {
  readonly opts?: PlainDict;
  readonly grains?: PlainDict;
  readonly table?: Table;
  readonly pending?: PendingReactions;
  readonly stopAfter?: number;
};

/** Reactions owed, in a set that the test sees. */
export const pendingIn = (owed: Set<string>): PendingReactions => ({
  plan: () => {},
  has: watcher => owed.has(watcher),
  began: () => {},
  changed: (_, watchers) => {
    for (const watcher of watchers) owed.add(watcher);
  },
  unchanged: () => {},
  reacted: watcher => void owed.delete(watcher),
});

/**
 * Runs chunks with the states `t.ok`, `t.changes`, `t.fail`, `t.slow`, `t.raise`, `t.give`
 * (returns `ret`) and the reaction `t.mod_watch`, and those of `table`.
 */
export const runEngine = async (
  chunks: readonly LowChunk[],
  {
    opts = {},
    grains = {},
    table = {},
    pending = pendingIn(new Set()),
    stopAfter,
  }: EngineSetup = {},
): Promise<EngineRun> => {
  const calls: Called[] = [];
  const times: string[] = [];
  const reported: string[] = [];
  const context: { [key: string]: unknown } = {};
  let view: HostStateView | undefined;
  const record =
    (fun: string, answer: (kwargs: PlainDict, test: boolean) => unknown) =>
    async (kwargs: PlainDict) => {
      const test = view?.test === true;
      const label = `${kwargs.name}`;
      calls.push({ fun, name: kwargs.name, test, kwargs });
      if (!test) times.push(`begin ${label}`);
      const result = await answer(kwargs, test);
      if (!test) times.push(`end ${label}`);
      return result;
    };
  const changed = { what: { old: 'a', new: 'b' } };
  const state = {
    't.ok': answering(record('t.ok', ({ name }) => good(name))),
    't.changes': answering(
      record('t.changes', ({ name }, test) => ({
        ...good(name),
        changes: changed,
        result: test ? null : true,
      })),
    ),
    't.fail': answering(record('t.fail', ({ name }) => ({ ...good(name), result: false }))),
    't.slow': answering(
      record('t.slow', async ({ name, wait }) => {
        await sleep(Number(wait ?? 30));
        return good(name);
      }),
    ),
    't.raise': answering(
      record('t.raise', () => {
        throw new TypeError('it broke');
      }),
    ),
    't.give': answering(record('t.give', ({ ret }) => ret)),
    't.mod_watch': answering(
      record('t.mod_watch', ({ name }) => ({
        ...good(name),
        changes: changed,
        comment: 'reacted',
      })),
    ),
    ...table.state,
  };
  const registry = tableRegistry({ ...table, state });
  const moduleContext: ModuleContext = {
    salt: registry.salt,
    states: registry.states,
    utils: {},
    grains,
    pillar: {},
    opts: { id: 'h', test: false, saltenv: 'base', ...opts },
    context,
    env: 'base',
    log: () => {},
  };
  let finished = 0;
  const host: EngineHost = {
    registry,
    execute: async (fun, args, kwargs) => {
      const found = await registry.resolve('exec', fun);
      if (!found.ok) throw new Error(found.reason);
      return found.call(args as never, kwargs);
    },
    hasFunction: fun => registry.names('exec').includes(fun),
    opts: moduleContext.opts,
    grains: () => grains,
    context,
    withOwnLog: (_, work) => work(),
    inState: (state, work) => {
      view = state;
      return withContext(
        { ...moduleContext, ...state, opts: { ...moduleContext.opts, test: state.test } },
        work,
      );
    },
    log: () => {},
    onStart: () => {},
    onFinish: tag => {
      reported.push(tag);
      finished++;
    },
    refresh: async () => {},
    stopping: () => stopAfter !== undefined && finished >= stopAfter,
    pending,
  };
  const outcome = await runChunks(host, structuredClone(chunks) as LowChunk[]);
  return { ...outcome, calls, times, reported, context };
};

const good = (name: unknown): PlainDict => ({
  name: name as string,
  changes: {},
  result: true,
  comment: 'fine',
});

const answering = (run: (kwargs: PlainDict) => unknown) => ({ params: 'name, **', run });

/** Result and comment by id, for expectations that are read. */
export const outcomes = ({ results }: EngineRun): Record<string, string> =>
  Object.fromEntries(
    Object.values(results).map(({ __id__, name, result, comment }) => [
      __id__ ?? name,
      `${result}: ${comment}`,
    ]),
  );
