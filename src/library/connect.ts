import type { HostResult } from '../protocol/event.ts';
import type { FleetRun } from './fleet-run.ts';
import { runSource } from './invocation.ts';
import type {
  CallSettings,
  ProjectOptions,
  RunFlags,
  RunOptions,
  TargetSettings,
} from './options.ts';
import { openSession } from './session.ts';

/** Options of `connect`. */
export type SessionOptions = ProjectOptions &
  RunFlags &
  TargetSettings &
  Pick<RunOptions, 'signal'>;

/** A call in a session: the target may be a narrower one than that of the session. */
export type SessionCall = CallSettings &
  Partial<TargetSettings> &
  RunFlags &
  Pick<RunOptions, 'signal'>;

/** Connections to hosts, and the runtimes there, for several runs. */
export type HostSessions = {
  /** The results of the logins by `test.ping`, failures too. */
  readonly logins: readonly HostResult[];
  /**
   * Runs a function over the open connections. A host whose connection was lost is logged in to
   * again. Configuration, roster and states are read again; the grains are those of the login,
   * until `saltutil.refresh_grains`. Runs at the same time have connections of their own where
   * they are on the same host.
   */
  readonly run: <const F extends string>(call: SessionCall & { readonly fun: F }) => FleetRun<F>;
  /** Ends the runtimes and closes the connections. */
  readonly close: () => void;
  readonly [Symbol.dispose]: () => void;
};

/**
 * Logs in to the hosts of a target and keeps connections and runtimes open: the next run costs
 * no login and no start.
 *
 *     const web = await connect({ target: 'web*' });
 *     await web.run({ fun: 'state.apply', test: true }).results();
 *     web.close();
 *
 * @throws TsaltError for errors on this side: options, configuration, roster, target
 */
export const connect = async (options: SessionOptions): Promise<HostSessions> => {
  const session = openSession();
  const given = { ...options, ...(options.ask ? { ask: askOnce(options.ask) } : {}) };
  const { signal, test: _, ...lasting } = given;
  try {
    const login = runSource({ ...lasting, ...(signal ? { signal } : {}), fun: 'test.ping' });
    const logins = await session.start<'test.ping'>(login).results();
    const { close } = session;
    return {
      logins,
      run: call => session.start(runSource({ ...lasting, ...call })),
      close,
      [Symbol.dispose ?? Symbol.for('Symbol.dispose')]: close,
    } as HostSessions;
  } catch (error) {
    session.close();
    throw error;
  }
};

/** Asks each question once in a session. */
const askOnce = (ask: NonNullable<ProjectOptions['ask']>): typeof ask => {
  const answers = new Map<string, string | Promise<string>>();
  return question => {
    const key = JSON.stringify(question);
    const known = answers.get(key) ?? ask(question);
    answers.set(key, known);
    return known;
  };
};
