import { showHolder } from '../../modules/_shared/commands/run-lock.ts';
import { setContext } from '../../modules/api.ts';
import { messageOf } from '../../protocol/error.ts';
import { type Hello, protocolVersion } from '../../protocol/job.ts';
import { Peer } from '../../protocol/peer.ts';
import type { PlainDict } from '../../protocol/plain.ts';
import type { RenderedPiece } from '../../protocol/prefetch.ts';
import type { GrainsLog } from '../collect-grains.ts';
import { divertOutput } from '../divert-output.ts';
import { idleContext } from '../idle-context.ts';
import type { Registry } from '../registry-types.ts';
import { Session } from '../session/session.ts';
import { openWire } from '../wire.ts';
import { claimWorkspace, sweepWorkspaces, workspaceHolder } from '../workspaces.ts';
import { requestHandlers } from './handlers.ts';
import { Outbox } from './outbox.ts';
import { Shutdown } from './shutdown.ts';
import { receiveFrom, watchErrors, watchSignals } from './wire-end.ts';

export type ServeOptions = {
  readonly registry: Registry;
  readonly collectGrains: (log: GrainsLog) => Promise<PlainDict>;
  /** The hello comes without grains: they are collected when something needs them. */
  readonly isLazy?: boolean;
  /** Its call came with the command that started it: it need not say hello before it reads. */
  readonly isCallSent?: boolean;
  /** User modules may compute endlessly, so earlier results are flushed before they run. */
  readonly hasUserModules?: boolean;
  /** The artifact's hash. */
  readonly sha: string;
  /** The workspace of this host: the absolute path of a folder that only its user can read. */
  readonly dir: string;
  /** The random part of its name, if the workspace belongs to this run only. */
  readonly suffix?: string;
  /** It is removed after the run. */
  readonly wipe?: boolean;
  /** Bytes of the wire that the bootstrap has already read. */
  readonly preloaded?: Uint8Array;
};

/**
 * Serves one control node on stdin and stdout until the wire ends: sends `hello`, answers requests,
 * and answers `ping` with `pong`. Ends the process.
 */
export const serve = (options: ServeOptions): void => {
  const { registry, dir, suffix = '', isLazy = false, isCallSent = false, preloaded } = options;
  const usual = dir.endsWith(suffix) ? dir.slice(0, dir.length - suffix.length) : dir;
  const wire = openWire();
  const outbox = new Outbox((name, payload) => void peer.event(name, payload));
  setContext(idleContext(registry, dir, { test: true, log: outbox.log }));
  const session = new Session({
    registry,
    collectGrains: () =>
      options.collectGrains((level, message, stack) => outbox.log(level, 'grains', message, stack)),
    dir,
    lockDir: usual,
    sha: options.sha,
    request: (method, params, sink) => {
      outbox.sendStart();
      read();
      return peer.request(method, params, sink);
    },
    emit: {
      stateStart: payload => {
        outbox.start(payload);
        if (!options.hasUserModules) return;
        outbox.sendStart();
        wire.push();
      },
      state: payload => outbox.finish(payload),
      output: payload => outbox.send('output', payload),
      event: payload => outbox.send('event', payload),
      log: outbox.log,
    },
  });
  const hello = makeHello(session, isLazy);
  const shutdown = new Shutdown({
    session,
    closePeer: error => peer.close(error),
    release: () => outbox.release(),
    flush: wire.flush,
  });
  let isLast = false;
  let hasBegun = false;
  let read = (): void => {};
  const peer: Peer = new Peer({
    write: wire.write,
    onCompressed: wire.compress,
    onIdle: () => {
      if (!isLast) return;
      // Promises that a module left behind fail first: that is logged.
      if (options.hasUserModules) setImmediate(() => void shutdown.end('link lost'));
      else void shutdown.finish();
    },
    handlers: requestHandlers(session, shutdown, hello, {
      begins: () => {
        isLast = true;
      },
      goesOn: () => {
        isLast = false;
        read();
      },
    }),
    events: {
      ping: () => {
        shutdown.beat();
        void peer.event('pong', null);
      },
      pong: () => {},
      rendered: (piece: RenderedPiece) => session.rendered(piece),
    },
  });
  hello.then(
    payload => {
      void peer.event('hello', payload);
      outbox.release();
      keepOrder(options, usual, message => outbox.log('warning', 'workspace', message));
      begin(true);
    },
    error => void shutdown.fail(error),
  );
  divertOutput((level, message) => outbox.log(level, 'console', message));
  watchErrors(shutdown, outbox);
  /** @param isWaiting it has nothing to do but to wait for its first request; until then, a signal ends it */
  const begin = (isWaiting: boolean): void => {
    if (hasBegun) return;
    hasBegun = true;
    wire.push();
    const first = preloaded?.length || !isWaiting ? preloaded : wire.readFirst();
    watchSignals(shutdown);
    read = receiveFrom({ wire, peer, shutdown, first, isLast: () => isLast });
  };
  if (isCallSent || preloaded?.length) begin(true);
  // It has said hello by then, unless grains of the user take longer.
  else setImmediate(begin, false);
};

/** Removes the remains of killed runs, and reports a workspace that will stay. */
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
    warn(`The remains of killed runs could not be removed: ${messageOf(error)}`);
  }
};

const makeHello = async (session: Session, isLazy: boolean): Promise<Hello> => {
  const self = { protocol: protocolVersion, node: process.version, pid: process.pid };
  if (isLazy) return { ...self, grains: null };
  const grains = await session.grains();
  return { ...self, user: String(grains.username ?? process.env.USER ?? ''), grains };
};
