import { TsaltError } from '../../protocol/error.ts';
import type { RunEvent } from '../../protocol/event.ts';
import type { Handler, PeerLimits } from '../../protocol/peer.ts';
import type { Link } from '../../transport/runtime-link.ts';
import type { Connection, Transport } from '../../transport/transport.ts';
import type { SharedFiles } from '../facts/shared.ts';
import type { HostAttempt } from './attempt.ts';
import type { HostRun } from './host-run.ts';

/** The run that a runtime works for. */
export type Served = {
  readonly run: HostRun;
  /** The attempt whose states run. */
  readonly attempt: () => HostAttempt;
  readonly handlers: Readonly<Record<string, Handler>>;
  /** New ones for each run, since a session may be long. */
  readonly limits: PeerLimits;
};

/** A runtime and the run that it serves. Between two runs requests are refused and events dropped. */
export class RuntimeSlot {
  served: Served | undefined;
  readonly stop = new AbortController();
  connection: Connection | undefined;
  link: Link | undefined;
  /** The artifact that it runs. */
  artifact = '';
  #isEnded = false;

  /** Stores the opened connection and link. */
  opened(connection: Connection, link: Link, artifact: string): void {
    this.connection = connection;
    this.link = link;
    this.artifact = artifact;
    void link.ended.then(() => {
      this.#isEnded = true;
    });
  }

  get isAlive(): boolean {
    return this.link !== undefined && !this.#isEnded && !this.stop.signal.aborted;
  }

  /** Dispatches the requests of the host to the run that is served. */
  handlers(methods: readonly string[]): Record<string, Handler> {
    return Object.fromEntries(
      methods.map((method): [string, Handler] => [
        method,
        (params, peer) => {
          const handler = this.served?.handlers[method];
          if (handler) return handler(params, peer);
          throw new TsaltError('no-run', 'No run is active.', { kind: 'host' });
        },
      ]),
    );
  }

  close(): void {
    this.served = undefined;
    this.link?.close();
    this.connection?.close();
  }
}

/**
 * Connections, runtimes and files of a session of several runs. A host serves one run at a time.
 */
export class KeptRuntimes {
  /** Opened by the first run. */
  transport: Transport | undefined;
  /** Files that the last run read, with the texts rendered from them. The next one reads what changed. */
  files: SharedFiles | undefined;
  /** Emits what the transport logs, as an event of the current run. */
  emit: (event: RunEvent) => void = () => undefined;
  readonly #slots = new Map<string, RuntimeSlot>();
  #isClosed = false;

  /** Takes a host's runtime for a run; undefined where none is alive or it runs another artifact. */
  take(host: string, artifact: string): RuntimeSlot | undefined {
    const slot = this.#slots.get(host);
    this.#slots.delete(host);
    if (slot?.isAlive && slot.artifact === artifact) return slot;
    slot?.close();
    return undefined;
  }

  /** Returns the runtime of a run that has succeeded. */
  give(host: string, slot: RuntimeSlot): void {
    slot.served = undefined;
    if (this.#isClosed || !slot.isAlive || this.#slots.has(host)) slot.close();
    else this.#slots.set(host, slot);
  }

  /** Ends all runtimes that are not in use. */
  close(): void {
    this.#isClosed = true;
    for (const slot of this.#slots.values()) slot.close();
    this.#slots.clear();
    this.transport?.close();
  }
}
