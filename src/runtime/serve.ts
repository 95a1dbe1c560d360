import { showHolder } from '../modules/_shared/commands/run-lock.ts';
import { type ModuleContext, setContext } from '../modules/api.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import type { GuardEnd } from '../protocol/guard.ts';
import {
  type CallParams,
  type Hello,
  type NamesParams,
  protocolVersion,
  type RunParams,
} from '../protocol/job.ts';
import { Peer } from '../protocol/peer.ts';
import type { PlainDict } from '../protocol/plain.ts';
import { positionsOf } from '../protocol/stack.ts';
import type { GrainsLog } from './collect-grains.ts';
import { divertOutput } from './divert-output.ts';
import { idleContext } from './idle-context.ts';
import type { Registry } from './registry-types.ts';
import { Session } from './session.ts';
import { openWire } from './wire.ts';
import { claimWorkspace, sweepWorkspaces, workspaceHolder } from './workspaces.ts';

export type ServeOptions = {
  readonly registry: Registry;
  readonly collectGrains: (log: GrainsLog) => Promise<PlainDict>;
  /** A module of the user may compute without end: what ran before is reported first. */
  readonly hasUserModules?: boolean;
  /** The artifact's hash. */
  readonly sha: string;
  /** The workspace of this host: an absolute path of a folder only its user can read. */
  readonly dir: string;
  /** The random part of its name, for a workspace of this run alone. */
  readonly suffix?: string;
  /** It is removed after the run. */
  readonly wipe?: boolean;
  /** Bytes of the wire that the bootstrap has read already. */
  readonly preloaded?: Uint8Array;
};

/** A control node that has asked for something and then is silent for so long has gone. */
const silence = 35_000;

/**
 * Serves one control node on stdin and stdout until the wire ends: says `hello`, answers `call`,
 * `run` and `cancel`, answers `ping` by `pong`. Ends the process.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the handlers of one connection share its state
export const serve = (options: ServeOptions): void => {
  const wire = openWire();
  let crash: (error: unknown) => void = () => {};
  const crashed = new Promise<never>((_, reject) => {
    crash = reject;
  });
  crashed.catch(() => {});
  const guarded = <T>(work: Promise<T>): Promise<T> => Promise.race([work, crashed]);

  const early: (() => void)[] = [];
  let greeted = false;
  const send = (name: string, payload: unknown): void => {
    if (greeted) void peer.event(name, payload);
    else early.push(() => void peer.event(name, payload));
  };
  const log: ModuleContext['log'] = (level, module, message, stack) =>
    send('log', {
      level,
      module,
      message: clip(message),
      ...(stack === undefined ? {} : { stack }),
    });
  setContext(idleContext(options.registry, options.dir, { test: true, log }));
  const { dir, suffix = '' } = options;
  const usual = dir.endsWith(suffix) ? dir.slice(0, dir.length - suffix.length) : dir;
  const session = new Session({
    registry: options.registry,
    collectGrains: () =>
      options.collectGrains((level, message, stack) => log(level, 'grains', message, stack)),
    dir: options.dir,
    lockDir: usual,
    sha: options.sha,
    request: (method, params, sink) => peer.request(method, params, sink),
    emit: {
      stateStart: payload => {
        send('state-start', payload);
        if (options.hasUserModules) wire.push();
      },
      state: payload => send('state', payload),
      log,
    },
  });
  const hello = sayHello(session);
  const peer: Peer = new Peer({
    write: wire.write,
    handlers: {
      call: async (params: CallParams) => {
        heartbeat();
        await hello;
        return guarded(session.call(params));
      },
      names: async (params: NamesParams) => {
        heartbeat();
        await hello;
        return guarded(session.names(params));
      },
      run: async (params: RunParams) => {
        heartbeat();
        await hello;
        return guarded(session.run(params));
      },
      guard: async (params: GuardEnd) => {
        await hello;
        return guarded(session.settleGuard(params));
      },
      cancel: async () => {
        isCancelled = true;
        session.stop('cancelled');
        await killAllChildren();
        return null;
      },
    },
    events: {
      ping: () => {
        heartbeat();
        void peer.event('pong', null);
      },
      pong: () => {},
    },
  });
  hello.then(
    payload => {
      void peer.event('hello', payload);
      greeted = true;
      for (const later of early.splice(0)) later();
      keepOrder(options, usual, message => log('warning', 'workspace', message));
    },
    error => void fail(error),
  );

  const { beat, stop: stopWatching } = watchHeartbeat(() => void end('link lost'));
  const heartbeat = beat;
  let ending = false;
  let isCancelled = false;
  let hurry: () => void = () => {};
  const hurried = new Promise<void>(resolve => {
    hurry = resolve;
  });
  const end = async (why: 'cancelled' | 'link lost'): Promise<void> => {
    if (why === 'cancelled' || isCancelled) hurry();
    if (ending) return;
    ending = true;
    stopWatching();
    session.stop(isCancelled ? 'cancelled' : why);
    const gone = new TsaltError('wire-closed', 'The control node has gone.', { kind: 'host' });
    // What was told to stop needs no time to go on.
    if (why === 'link lost' && !isCancelled) {
      peer.close(gone); // a state that waits for the control node would wait forever
      await Promise.race([within(session.idle(), session.grace), hurried]);
    }
    await killAllChildren();
    await within(session.idle(), 1000);
    peer.close(gone);
    await within(wire.flush(), 1000);
    await leave(0);
  };
  const fail = async (error: unknown): Promise<void> => {
    for (const later of early.splice(0)) later();
    greeted = true;
    session.stop('cancelled');
    crash(
      new TsaltError('host-crash', `The runtime on the host failed: ${messageOf(error)}`, {
        kind: 'host',
        cause: error,
      }),
    );
    await new Promise(resolve => setImmediate(resolve)); // the open requests answer first
    await killAllChildren();
    await within(wire.flush(), 1000);
    await leave(70);
  };

  divertOutput((level, message) => log(level, 'console', message));
  process.on('uncaughtException', error => void fail(error));
  process.on('unhandledRejection', reason => {
    const message = messageOf(reason);
    const stack = positionsOf(reason);
    log('error', 'runtime', `A module left a failed promise behind: ${message}`, stack);
  });
  process.on('SIGHUP', () => void end('link lost'));
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => void end('cancelled'));

  const broken = (error: unknown): void => {
    process.stderr.write(`${messageOf(error)}\n`);
    void end('link lost');
  };
  const receive = (bytes: Uint8Array): void => {
    try {
      peer.receive(bytes)?.catch(broken);
    } catch (error) {
      broken(error);
    }
  };
  if (options.preloaded && options.preloaded.length > 0) receive(options.preloaded);
  wire.read(receive, () => void end('link lost'));
};

/** Removes what killed runs left, and reports a workspace that will stay. */
const keepOrder = (
  { dir, suffix = '', wipe = false }: ServeOptions,
  usual: string,
  warn: (message: string) => void,
): void => {
  try {
    if (suffix !== '') claimWorkspace(dir);
    sweepWorkspaces(usual);
    const holder = wipe && suffix === '' ? workspaceHolder(dir) : undefined;
    if (holder) warn(`The workspace ${dir} is not removed: ${showHolder(holder)}.`);
  } catch (error) {
    warn(`What killed runs left could not be removed: ${messageOf(error)}`);
  }
};

/** A line of the log must fit into one message, and be one that somebody may read. */
const clip = (message: string): string =>
  message.length <= longestLine
    ? message
    : `${message.slice(0, longestLine)} … (${message.length - longestLine} characters more)`;

const longestLine = 1024 * 1024;

/** Loads what starts processes only where some run: most hosts need none of it. */
const killAllChildren = async (): Promise<void> => (await commands())?.killAllChildren();

/** Ends the process. A function whose command was ended may have begun the next one meanwhile. */
const leave = async (code: number): Promise<never> => {
  (await commands())?.forceAllChildren();
  process.exit(code);
};

const commands = async (): Promise<
  typeof import('../modules/_shared/commands/run-command.ts') | undefined
> =>
  process.getActiveResourcesInfo().includes('ProcessWrap')
    ? await import('../modules/_shared/commands/run-command.ts')
    : undefined;

const sayHello = async (session: Session): Promise<Hello> => {
  const grains = await session.grains();
  return {
    protocol: protocolVersion,
    node: process.version,
    pid: process.pid,
    user: String(grains.username ?? process.env.USER ?? ''),
    grains,
  };
};

/** Once the other side asks for something, it pings; its silence means that it has gone without closing. */
const watchHeartbeat = (
  onSilence: () => void,
): { readonly beat: () => void; readonly stop: () => void } => {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => clearTimeout(timer);
  return {
    beat: () => {
      stop();
      timer = setTimeout(onSilence, silence);
    },
    stop,
  };
};

const within = (work: Promise<unknown>, milliseconds: number): Promise<unknown> => {
  if (milliseconds === Number.POSITIVE_INFINITY) return work;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise(resolve => {
    timer = setTimeout(resolve, milliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
};
