import { messageOf, TsaltError } from '../../protocol/error.ts';
import type { Session } from '../session/session.ts';

/** Milliseconds: a control node that has asked for something and then is silent for so long has gone. */
const silence = 35_000;

/** The parts that a shutdown stops. */
export type ShutdownParts = {
  readonly session: Session;
  /** Ends all requests that are open, on both sides. */
  readonly closePeer: (error: TsaltError) => void;
  /** Sends the events that wait for the hello. */
  readonly release: () => void;
  /** Resolves when all that was written has left. */
  readonly flush: () => Promise<void>;
};

/**
 * Ends the process: in order when the control node cancels or has gone, soon after an error that
 * nothing caught.
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

  /** Awaits work, or throws when the process fails. */
  orCrash<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#crashed]);
  }

  /** Notes that the control node is there. Once it asks for something, it pings until its end. */
  beat(): void {
    clearTimeout(this.#heartbeat);
    this.#heartbeat = setTimeout(() => void this.end('link lost'), silence);
  }

  /** Stops what runs. The control node then closes the link. */
  async cancel(): Promise<void> {
    this.#isCancelled = true;
    this.#parts.session.stop('cancelled');
    await killAllChildren();
  }

  /** Ends the process when what runs has ended, as far as there is time for that. */
  async end(why: 'cancelled' | 'link lost'): Promise<void> {
    const { session, closePeer, flush } = this.#parts;
    if (why === 'cancelled' || this.#isCancelled) this.#hurry();
    if (this.#isEnding) return;
    this.#isEnding = true;
    clearTimeout(this.#heartbeat);
    session.stop(this.#isCancelled ? 'cancelled' : why);
    const gone = new TsaltError('wire-closed', 'The control node has gone.', { kind: 'host' });
    // A cancelled run needs no time to continue.
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

  /** Ends the process after an error that nothing caught: every open request fails. */
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

/** Loads what starts processes only where some run: most hosts need none of it. */
const killAllChildren = async (): Promise<void> => (await commands())?.killAllChildren();

/** Ends the process. A function whose command was ended may have begun the next one meanwhile. */
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
