import { messageOf, TsaltError } from '../../protocol/error.ts';
import type { Session } from '../session/session.ts';

/** Milliseconds without a message after which an active control node counts as gone. */
const silence = 35_000;

/** The parts that a shutdown stops. */
export type ShutdownParts = {
  readonly session: Pick<Session, 'stop' | 'idle' | 'grace'>;
  /** Rejects all open requests, on both sides. */
  readonly closePeer: (error: TsaltError) => void;
  /** Sends the events that wait for the hello. */
  readonly release: () => void;
  /** Resolves when everything was written. */
  readonly flush: () => Promise<void>;
};

/**
 * Ends the process: in order if the control node cancels or disappears, quickly after an uncaught
 * error.
 */
export class Shutdown {
  readonly #parts: ShutdownParts;
  #isEnding = false;
  #isCancelled = false;
  #heartbeat: NodeJS.Timeout | undefined;
  #hurry: () => void = () => {};
  readonly #hurried = new Promise<void>(resolve => {
    this.#hurry = resolve;
  });
  #crash: (error: unknown) => void = () => {};
  readonly #crashed = new Promise<never>((_, reject) => {
    this.#crash = reject;
  });

  constructor(parts: ShutdownParts) {
    this.#parts = parts;
    this.#crashed.catch(() => {});
  }

  /** Awaits work; throws if the process fails meanwhile. */
  orCrash<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#crashed]);
  }

  /** Notes a sign of life. After its first request, the control node pings until it ends. */
  beat(): void {
    clearTimeout(this.#heartbeat);
    this.#heartbeat = setTimeout(() => void this.end('link lost'), silence);
  }

  /** Stops the current work. The control node then closes the link. */
  async cancel(): Promise<void> {
    this.#isCancelled = true;
    this.#parts.session.stop('cancelled');
    await killAllChildren();
  }

  /** Ends the process when the current work has ended, or its time is up. */
  async end(why: 'cancelled' | 'link lost'): Promise<void> {
    const { session, closePeer, flush } = this.#parts;
    if (why === 'cancelled' || this.#isCancelled) this.#hurry();
    if (this.#isEnding) return;
    this.#isEnding = true;
    clearTimeout(this.#heartbeat);
    session.stop(this.#isCancelled ? 'cancelled' : why);
    const gone = new TsaltError('wire-closed', 'The control node has gone.', { kind: 'host' });
    // A cancelled run needs no time to finish.
    if (why === 'link lost' && !this.#isCancelled) {
      closePeer(gone); // a state that waits for the control node would wait forever
      await Promise.race([within(session.idle(), session.grace), this.#hurried]);
    }
    await killAllChildren();
    await within(session.idle(), 1000);
    closePeer(gone);
    await within(flush(), 1000);
    await leave(0);
  }

  /** Ends the process after the answer to its last request. Nothing runs there any more. */
  async finish(): Promise<void> {
    const { session, flush } = this.#parts;
    if (this.#isEnding || (await commands())) return this.end('link lost');
    this.#isEnding = true;
    session.stop('link lost');
    await within(flush(), 1000);
    process.exit(0);
  }

  /** Ends the process after an uncaught error: every open request fails. */
  async fail(error: unknown): Promise<void> {
    this.#parts.release();
    this.#parts.session.stop('cancelled');
    this.#crash(
      new TsaltError('host-crash', `The runtime on the host failed: ${messageOf(error)}`, {
        kind: 'host',
        cause: error,
      }),
    );
    await new Promise(resolve => setImmediate(resolve)); // the open requests are answered first
    await killAllChildren();
    await within(this.#parts.flush(), 1000);
    await leave(70);
  }
}

/** Loads the code for child processes only if there are some: most hosts never need it. */
const killAllChildren = async (): Promise<void> => (await commands())?.killAllChildren();

/**
 * Ends the process. Kills children again, since a function may start the next command after one was
 * killed.
 */
const leave = async (code: number): Promise<never> => {
  (await commands())?.forceAllChildren();
  process.exit(code);
};

const commands = async (): Promise<
  typeof import('../../modules/_shared/commands/run-command.ts') | undefined
> =>
  process.getActiveResourcesInfo().includes('ProcessWrap')
    ? await import('../../modules/_shared/commands/run-command.ts')
    : undefined;

const within = (work: Promise<unknown>, milliseconds: number): Promise<unknown> => {
  if (milliseconds === Number.POSITIVE_INFINITY) return work;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise(resolve => {
    timer = setTimeout(resolve, milliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
};
