import { type FunctionTable, setContext } from '../modules/api.ts';
import type { ArtifactStart } from '../protocol/artifact-head.ts';
import { type Hello, protocolVersion } from '../protocol/job.ts';
import type { Manifest } from '../protocol/manifest.ts';
import { Peer } from '../protocol/peer.ts';
import { collectGrains } from './collect-grains.ts';
import { divertOutput } from './divert-output.ts';
import { idleContext } from './idle-context.ts';
import { createRegistry } from './registry.ts';
import { Outbox } from './serve/outbox.ts';
import { Shutdown } from './serve/shutdown.ts';
import { receiveFrom, watchErrors, watchSignals } from './serve/wire-end.ts';
import { openWire } from './wire.ts';
import { claimWorkspace, workspaceHolder } from './workspaces.ts';

declare const TS: ArtifactStart;

/**
 * The start of the program that only collects grains: it tells the control node whether the host is
 * a target, before the whole artifact is sent there. It has the grains modules and no others, so
 * its hello is partial where one of them calls a function of another module.
 */
export const start = ({ manifest }: { readonly manifest: Manifest }): void => {
  TS.isFree = () => workspaceHolder(TS.dir) === undefined;
  if (TS.suffix) claimWorkspace(TS.dir);
  const wire = openWire();
  const outbox = new Outbox((name, payload) => void peer.event(name, payload));
  let isPartial = false;
  const noted = (table: FunctionTable): FunctionTable =>
    new Proxy(table, {
      get: (_, name) => {
        isPartial = true;
        return Reflect.get(table, name);
      },
      has: (_, name) => {
        isPartial = true;
        return Reflect.has(table, name);
      },
    });
  const whole = createRegistry(manifest);
  const registry = { ...whole, salt: noted(whole.salt), states: noted(whole.states) };
  setContext(idleContext(registry, TS.dir, { test: true, log: outbox.log }));
  const shutdown = new Shutdown({
    session: nothingRuns,
    closePeer: error => peer.close(error),
    release: () => outbox.release(),
    flush: wire.flush,
  });
  const peer: Peer = new Peer({
    write: wire.write,
    onCompressed: wire.compress,
    handlers: {
      cancel: async () => {
        await shutdown.cancel();
        return null;
      },
    },
    events: { ping: () => void peer.event('pong', null), pong: () => undefined },
  });
  const greet = async (): Promise<void> => {
    const grains = await collectGrains(registry, (level, message, stack) =>
      outbox.log(level, 'grains', message, stack),
    );
    const hello: Hello = {
      protocol: protocolVersion,
      node: process.version,
      pid: process.pid,
      user: String(grains.username ?? process.env.USER ?? ''),
      grains,
      ...(isPartial ? { isPartial } : {}),
    };
    void peer.event('hello', hello);
    // The artifact will collect the grains again, without these errors.
    if (!isPartial) outbox.release();
  };
  greet().catch(error => void shutdown.fail(error));
  divertOutput((level, message) => outbox.log(level, 'console', message));
  watchErrors(shutdown, outbox);
  watchSignals(shutdown);
  receiveFrom({ wire, peer, shutdown, first: TS.pre, isLast: () => false });
};

const nothingRuns = { stop: () => undefined, idle: async () => undefined, grace: 0 };
