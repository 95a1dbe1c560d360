import { KeptRuntimes } from '../control/host/kept-runtimes.ts';
import type { HostResult } from '../protocol/event.ts';
import type {
  CallSettings,
  ProjectOptions,
  RunFlags,
  RunOptions,
  TargetSettings,
} from './options.ts';
import { type FleetRun, runKeeping } from './run.ts';

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
  const kept = new KeptRuntimes();
  const given = { ...options, ...(options.ask ? { ask: askOnce(options.ask) } : {}) };
  const { signal, test: _, ...lasting } = given;
  try {
    const logins = await runKeeping(
      { ...lasting, ...(signal ? { signal } : {}), fun: 'test.ping' },
      kept,
    ).results();
    const close = (): void => kept.close();
    return {
      logins,
      run: call => runKeeping({ ...lasting, ...call }, kept),
      close,
      [Symbol.dispose ?? Symbol.for('Symbol.dispose')]: close,
    } as HostSessions;
  } catch (error) {
    kept.close();
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
