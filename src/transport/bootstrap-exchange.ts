import { TsaltError } from '../protocol/error.ts';
import { onAbort } from '../protocol/on-abort.ts';
import { openWriteQueue } from '../protocol/write-queue.ts';
import { type Become, PasswordPrompt, wrongBecomePassword } from './become.ts';
import { Handshake, type HandshakeMessage } from './handshake-messages.ts';
import { afterListening } from './listening.ts';
import { notBegun, showExit } from './not-begun.ts';
import { shortLines } from './refusal-messages.ts';
import type { Channel, Connection, Exit } from './transport.ts';
import { readable } from './unreachable.ts';

/** Receives bytes; a returned promise delays the next ones. */
type Receiver = (chunk: Uint8Array) => Promise<void> | undefined;

const keptStderr = 64 * 1024;

/**
 * Returns how many seconds sent bytes may need: they wait in buffers of the system, so a slow link
 * looks like a silent one. SSH's keepalive detects a broken link.
 *
 * @param bytes how many were written
 */
export const secondsToSend = (bytes: number): number => Math.ceil(bytes / slowestLink);

/** Bytes per second: 16 kbit/s. */
const slowestLink = 2048;

/** Bytes that can be on their way: OpenSSH takes no more before a runtime has read some. */
const mostOnTheWay = 2 * 1024 * 1024;

/** Milliseconds within which a command must end after its last message. */
const patience = 500;

/**
 * One command on a host: finds its messages among the login shell's output, sends sudo its
 * password, and then hands the streams over to the frame protocol.
 */
export class BootstrapExchange {
  readonly channel: Channel;
  readonly #connection: Connection;
  readonly #become: Become;
  readonly #pty: boolean;
  readonly #waiting: {
    resolve: (said: HandshakeMessage) => void;
    reject: (error: unknown) => void;
  }[] = [];
  readonly #said: HandshakeMessage[] = [];
  #stderr: Buffer = Buffer.alloc(0);
  readonly #greeting: Handshake;
  readonly #prompt: PasswordPrompt;
  /** Writers that wait until the channel accepts more. */
  readonly #blocked: (() => void)[] = [];
  readonly #queue = openWriteQueue(bytes => void this.write(bytes));
  /** Bytes that were sent since the last ones of the host. */
  #unanswered = 0;
  #failure: unknown;
  #isOver: (reason: unknown) => void = () => undefined;
  readonly #over = new Promise<unknown>(resolve => {
    this.#isOver = resolve;
  });
  #receive: Receiver | undefined;
  #onEnd: ((reason: unknown) => void) | undefined;
  #expectedEnd: unknown;
  #expected: Promise<void> | undefined;
  /** The receiver's work on what it has. */
  #taking: Promise<void> | undefined;

  constructor(connection: Connection, channel: Channel, become: Become) {
    this.#connection = connection;
    this.channel = channel;
    this.#become = become;
    this.#pty = become.pty;
    if (connection.isFar) this.#queue.compress();
    this.#greeting = new Handshake(connection.host.id, said => this.#hear(said));
    this.#prompt = new PasswordPrompt(
      become,
      line => void channel.stdin.write(line),
      () => this.#fail(wrongBecomePassword(connection.host)),
    );
    const unblock = (): void => {
      for (const resolve of this.#blocked.splice(0)) resolve();
    };
    channel.stdin.on('drain', unblock);
    void this.#over.then(unblock);
    channel.stdout.on('data', (chunk: Buffer) => this.#output(chunk));
    channel.stderr.on('data', (chunk: Buffer) => this.#errors(chunk));
    for (const stream of [channel.stdin, channel.stdout, channel.stderr])
      stream.on('error', () => undefined);
    void channel.exited.then(exit => this.#exited(exit));
  }

  /** Other output of the host, for diagnostics. */
  get noise(): string {
    return this.#greeting.noise;
  }

  get stderr(): string {
    return readable(shortLines(this.#stderr.toString('utf8')));
  }

  /** Returns the next message. Rejects when the command ends, or after `seconds`. */
  async next(seconds: number, signal?: AbortSignal): Promise<HandshakeMessage> {
    const said = this.#said.shift();
    if (said) return said;
    if (this.#failure !== undefined) throw this.#failure;
    const promise = new Promise<HandshakeMessage>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
    });
    const stop = afterListening(seconds, () => this.#fail(this.#silent(seconds)));
    const release = onAbort(signal, () => this.#fail(signal?.reason));
    try {
      return await promise;
    } finally {
      stop();
      release();
    }
  }

  /**
   * Passes all further bytes of stdout to `receive`, and waits for its promise before the next
   * ones. Calls `onEnd` with the reason when they end.
   */
  handOver(receive: Receiver, onEnd: (reason: unknown) => void): void {
    this.#receive = receive;
    this.#onEnd = onEnd;
    const rest = this.#greeting.takeRest();
    if (rest.length > 0) this.#deliver(rest);
    if (this.#failure !== undefined) onEnd(this.#failure);
  }

  /** Writes bytes to stdin; the promise resolves when more may follow. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    const { stdin } = this.channel;
    if (this.#failure !== undefined || !stdin.writable) return;
    stdin.write(bytes);
    this.#unanswered += bytes.length;
    return this.#drained();
  }

  /** Bytes that the channel has not taken yet. */
  get pending(): number {
    return this.channel.stdin.writableLength;
  }

  /** Seconds that the last bytes may still be on their way to a host which then answers. */
  get secondsBehind(): number {
    return secondsToSend(Math.min(this.#unanswered, mostOnTheWay));
  }

  /**
   * Writes a message of the runtime's peer, joined with others; the promise resolves when more may
   * follow.
   */
  send(bytes: Uint8Array): Promise<void> | undefined {
    const { stdin } = this.channel;
    if (this.#failure !== undefined || !stdin.writable) return;
    this.#queue.add(bytes);
    return this.#drained();
  }

  /** Resolves when the channel accepts more; undefined if it does now. */
  #drained(): Promise<void> | undefined {
    if (!this.channel.stdin.writableNeedDrain) return;
    return new Promise(resolve => {
      this.#blocked.push(resolve);
    });
  }

  /** Ends stdin, after what was sent. */
  finish(): void {
    this.#queue.flush();
    this.channel.stdin.end();
  }

  get over(): boolean {
    return this.#failure !== undefined;
  }

  /** Resolves with the reason when the command has ended in any way. */
  get ended(): Promise<unknown> {
    return this.#over;
  }

  /**
   * Waits for a command to end after its last message before the next one begins: dropbear may
   * close a new channel when a process of an old one ends (its issue 321).
   */
  async settle(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>(resolve => {
      timer = setTimeout(resolve, patience);
    });
    await Promise.race([this.channel.exited, late]);
    clearTimeout(timer);
    this.close(undefined);
  }

  /**
   * Announces that the command will be killed: `reason`, once known, is then reported as the reason
   * of its end.
   */
  expectEnd(reason: Promise<unknown>): void {
    this.#expected ??= reason.then(known => {
      this.#expectedEnd = known;
    });
  }

  /** Ends the command and rejects everything that waits for it. */
  close(reason: unknown): void {
    this.#fail(reason);
  }

  #output(chunk: Buffer): void {
    if (this.#failure !== undefined) return;
    this.#unanswered = 0;
    if (this.#receive) {
      this.#deliver(chunk);
      return;
    }
    if (this.#pty && !this.#greeting.started) this.#prompt.push(chunk);
    try {
      this.#greeting.push(chunk);
    } catch (error) {
      this.#fail(error);
    }
  }

  #hear(said: HandshakeMessage): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting.resolve(said);
    else this.#said.push(said);
  }

  #deliver(chunk: Uint8Array): void {
    const { stdout } = this.channel;
    const fail = (error: unknown): void => this.#fail(this.#withOutput(error));
    try {
      const busy = this.#receive?.(chunk);
      if (!busy) return;
      stdout.pause();
      const goOn = (): void => {
        this.#taking = undefined;
        stdout.resume();
      };
      this.#taking = busy.then(goOn, fail);
    } catch (error) {
      fail(error);
    }
  }

  /** Adds the output on stderr: it often contains the reason of a broken wire. */
  #withOutput(error: unknown): unknown {
    if (!(error instanceof TsaltError) || this.stderr === '') return error;
    const { code, message, kind, hint } = error;
    return new TsaltError(code, message, { kind, hint, excerpt: this.stderr, cause: error });
  }

  #errors(chunk: Buffer): void {
    this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-keptStderr);
    if (!this.#pty && !this.#receive) this.#prompt.push(chunk);
  }

  #fail(reason: unknown): void {
    if (this.#failure !== undefined) return;
    const cause = this.#expectedEnd ?? reason ?? linkClosed(this.#connection);
    this.#failure = cause;
    this.#isOver(cause);
    for (const { reject } of this.#waiting.splice(0)) reject(cause);
    this.#onEnd?.(cause);
    this.channel.close();
  }

  async #exited(exit: Exit): Promise<void> {
    await this.#expected;
    // A runtime may end right after its answer: who waits for its start takes the bytes first.
    await nextTurn();
    while (this.#taking && this.#failure === undefined) await this.#taking;
    this.#fail(this.#ended(exit));
  }

  #ended(exit: Exit): unknown {
    const { host } = this.#connection;
    const stderr = this.stderr;
    const fault = this.#connection.lost() ?? this.#connection.explain?.(exit, stderr);
    if (fault) return fault;
    const excerpt = [this.noise, stderr].filter(text => text !== '').join('\n');
    if (this.#receive)
      return new TsaltError(
        'runtime-ended',
        `${host.id}: the runtime ended ${showExit(exit)} before its work was done.`,
        { kind: 'host', excerpt },
      );
    return notBegun(host, this.#become, exit, excerpt);
  }

  #silent(seconds: number): TsaltError {
    const { host } = this.#connection;
    return new TsaltError('host-silent', `${host.id}: no answer within ${seconds} s.`, {
      kind: 'unreachable',
      excerpt: [this.noise, this.stderr].filter(text => text !== '').join('\n'),
      hint: 'A login shell that waits for input does not answer either; timeout in the roster sets how long to wait.',
    });
  }
}

const nextTurn = (): Promise<void> =>
  new Promise(resolve => {
    setImmediate(resolve);
  });

const linkClosed = ({ host }: Connection): TsaltError =>
  new TsaltError('link-closed', `${host.id}: the link was closed.`, { kind: 'host' });
