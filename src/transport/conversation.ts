import { TsaltError } from '../protocol/error.ts';
import {
  type Become,
  becomeRefused,
  becomesOther,
  PasswordPrompt,
  wrongBecomePassword,
} from './become.ts';
import { readable } from './faults.ts';
import type { Channel, Connection, Exit } from './transport.ts';

/** What the far side says before frames flow: a JSON line of the loader, or a line of a shell script. */
export type Said =
  | { readonly by: 'loader'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly by: 'shell'; readonly words: readonly string[] };

const marker = Buffer.from('\n\0TSALT1 ', 'latin1');
const shellMarker = Buffer.from('\nTSALT1-', 'latin1');
const longestLine = 64 * 1024;
const keptNoise = 64 * 1024;
const mostNoise = 32 * 1024 * 1024;

/**
 * One command on a host, seen from here: waits for what it says amid the login shell's noise,
 * gives sudo its password, and then hands the streams over to whoever speaks frames.
 */
export class Conversation {
  readonly channel: Channel;
  readonly #connection: Connection;
  readonly #become: Become;
  readonly #pty: boolean;
  readonly #waiting: { resolve: (said: Said) => void; reject: (error: unknown) => void }[] = [];
  readonly #said: Said[] = [];
  #buffer: Buffer = Buffer.from('\n');
  #noise: Buffer = Buffer.alloc(0);
  #noiseSize = 0;
  #stderr: Buffer = Buffer.alloc(0);
  /** The runtime has begun: what follows its line is frames, kept until `handOver`. */
  #started = false;
  readonly #prompt: PasswordPrompt;
  /** Writers that wait until the channel takes more. */
  readonly #blocked: (() => void)[] = [];
  #failure: unknown;
  #isOver: (reason: unknown) => void = () => undefined;
  readonly #over = new Promise<unknown>(resolve => {
    this.#isOver = resolve;
  });
  #receive: ((chunk: Uint8Array) => void) | undefined;
  #onEnd: ((reason: unknown) => void) | undefined;

  constructor(connection: Connection, channel: Channel, become: Become) {
    this.#connection = connection;
    this.channel = channel;
    this.#become = become;
    this.#pty = become.pty;
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
    void channel.exited.then(exit => this.#fail(this.#ended(exit)));
  }

  /** What the host printed that was not for us, for diagnostics. */
  get noise(): string {
    const rest = this.#started ? Buffer.alloc(0) : this.#buffer;
    return readable(Buffer.concat([this.#noise, rest]).toString('utf8'));
  }

  get stderr(): string {
    return readable(this.#stderr.toString('utf8'));
  }

  /** The next thing said. Rejects when the command ends, or after `seconds`. */
  async next(seconds: number, signal?: AbortSignal): Promise<Said> {
    const said = this.#said.shift();
    if (said) return said;
    if (this.#failure !== undefined) throw this.#failure;
    const promise = new Promise<Said>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
    });
    const timer = setTimeout(() => this.#fail(this.#silent(seconds)), seconds * 1000);
    const abort = (): void => this.#fail(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** From now on every byte of stdout goes to `receive`; `onEnd` hears why it stopped. */
  handOver(receive: (chunk: Uint8Array) => void, onEnd: (reason: unknown) => void): void {
    this.#receive = receive;
    this.#onEnd = onEnd;
    const rest = this.#buffer;
    this.#buffer = Buffer.alloc(0);
    if (rest.length > 0) this.#deliver(rest);
    if (this.#failure !== undefined) onEnd(this.#failure);
  }

  /** Puts bytes on stdin; the promise tells when more may follow. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    const { stdin } = this.channel;
    if (this.#failure !== undefined || !stdin.writable) return;
    if (stdin.write(bytes)) return;
    return new Promise(resolve => {
      this.#blocked.push(resolve);
    });
  }

  get over(): boolean {
    return this.#failure !== undefined;
  }

  /** Resolves with the reason when the command is over, however it came. */
  get ended(): Promise<unknown> {
    return this.#over;
  }

  /** Ends the command and everything that waits for it. */
  close(reason: unknown): void {
    this.#fail(reason);
  }

  #output(chunk: Buffer): void {
    if (this.#failure !== undefined) return;
    if (this.#receive) {
      this.#deliver(chunk);
      return;
    }
    this.#buffer = this.#buffer.length > 0 ? Buffer.concat([this.#buffer, chunk]) : chunk;
    if (this.#started) return;
    if (this.#pty) this.#prompt.push(chunk);
    this.#scan();
  }

  #deliver(chunk: Uint8Array): void {
    try {
      this.#receive?.(chunk);
    } catch (error) {
      this.#fail(this.#withOutput(error));
    }
  }

  /** A broken wire often comes with the reason on stderr. */
  #withOutput(error: unknown): unknown {
    if (!(error instanceof TsaltError) || this.stderr === '') return error;
    const { code, message, kind, hint } = error;
    return new TsaltError(code, message, { kind, hint, excerpt: this.stderr, cause: error });
  }

  #errors(chunk: Buffer): void {
    this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-keptNoise);
    if (!this.#pty && !this.#receive) this.#prompt.push(chunk);
  }

  #scan(): void {
    for (;;) {
      const buffer = this.#buffer;
      const loader = buffer.indexOf(marker);
      const shell = buffer.indexOf(shellMarker);
      const isLoader = loader >= 0 && (shell < 0 || loader < shell);
      const at = isLoader ? loader : shell;
      if (at < 0) {
        this.#dropNoise(buffer.length - marker.length + 1);
        return;
      }
      const from = at + (isLoader ? marker : shellMarker).length;
      const end = buffer.indexOf(0x0a, from);
      if (end < 0) {
        if (buffer.length - from > longestLine) this.#fail(this.#broken('an endless first line'));
        return;
      }
      const line = buffer.toString('utf8', from, end);
      this.#dropNoise(at);
      // The line's end stays for a shell's next line; after the loader's come frames.
      this.#buffer = buffer.subarray(isLoader ? end + 1 : end);
      const said = isLoader ? parseLoader(line) : parseShell(line);
      if (!said) {
        this.#fail(this.#broken('a first line that is no JSON'));
        return;
      }
      const waiting = this.#waiting.shift();
      if (waiting) waiting.resolve(said);
      else this.#said.push(said);
      if (said.by === 'loader' && said.value.start === true) {
        this.#started = true;
        return;
      }
    }
  }

  #dropNoise(count: number): void {
    if (count <= 0) return;
    this.#noise = Buffer.concat([this.#noise, this.#buffer.subarray(0, count)]).subarray(
      -keptNoise,
    );
    this.#buffer = this.#buffer.subarray(count);
    this.#noiseSize += count;
    if (this.#noiseSize > mostNoise)
      this.#fail(this.#broken('endless output instead of an answer'));
  }

  #fail(reason: unknown): void {
    if (this.#failure !== undefined) return;
    const cause = reason ?? linkClosed(this.#connection);
    this.#failure = cause;
    this.#isOver(cause);
    for (const { reject } of this.#waiting.splice(0)) reject(cause);
    this.#onEnd?.(cause);
    this.channel.close();
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
    if (becomesOther(host) && exit.code === 1) return becomeRefused(host, this.#become, excerpt);
    return new TsaltError(
      'bootstrap-ended',
      `${host.id}: the host ended the command ${showExit(exit)} before it answered.`,
      {
        kind: 'host',
        excerpt,
        hint: 'The user needs a login shell that runs commands, and /bin/sh.',
      },
    );
  }

  #silent(seconds: number): TsaltError {
    const { host } = this.#connection;
    return new TsaltError('host-silent', `${host.id}: no answer within ${seconds} s.`, {
      kind: 'unreachable',
      excerpt: [this.noise, this.stderr].filter(text => text !== '').join('\n'),
    });
  }

  #broken(what: string): TsaltError {
    return new TsaltError('wire-greeting', `${this.#connection.host.id}: the host sent ${what}.`, {
      kind: 'host',
      excerpt: this.noise,
    });
  }
}

const parseLoader = (line: string): Said | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    return { by: 'loader', value: value as Readonly<Record<string, unknown>> };
  } catch {
    return;
  }
};

const parseShell = (line: string): Said => ({
  by: 'shell',
  words: line.replace(/\r$/, '').split(' '),
});

const showExit = ({ code, signal }: Exit): string =>
  signal
    ? `by ${readable(signal, 20)}`
    : code === null
      ? 'without a status'
      : `with status ${code}`;

const linkClosed = ({ host }: Connection): TsaltError =>
  new TsaltError('link-closed', `${host.id}: the link was closed.`, { kind: 'host' });
