import { messageOf, TsaltError } from './error.ts';
import { encodeData, encodeJson } from './frame.ts';
import { Inbox, type Incoming, type LongMessages } from './inbox.ts';
import { broken, type Message, safeText, shown, type WireError } from './message.ts';
import { monotonic } from './monotonic.ts';
import { ownTurn } from './own-turn.ts';
import type { JsonLimits } from './parse-yielding.ts';
import { positionsOf, readPositions, type StackPosition } from './stack.ts';

/**
 * A stream of bytes that a request may return in addition to its JSON response. Each piece is copied
 * before the next one is requested.
 */
export type TransferContent = AsyncIterable<Uint8Array> | Uint8Array;

/** A handler's response with bytes: `value` is sent as JSON, then `content` as raw frames. */
export class WithContent {
  readonly value: unknown;
  readonly content: TransferContent;
  constructor(value: unknown, content: TransferContent) {
    this.value = value;
    this.content = content;
  }
}

export type Handler = (params: never, peer: Peer) => unknown;

export type PeerOptions = {
  /** Writes bytes to the wire; resolves when the wire accepts more (backpressure). */
  readonly write: (bytes: Uint8Array) => Promise<void> | undefined;
  /** Handlers for requests, by method. Any other method is refused. */
  readonly handlers: Readonly<Record<string, Handler>>;
  /** Handlers for one-way messages, by name. Any other name breaks the wire. */
  readonly events: Readonly<Record<string, (payload: never) => void>>;
  /** Adds to an error of a request the position in the artifact at which it was thrown. */
  readonly explain?:
    | ((error: TsaltError, stack: readonly StackPosition[]) => TsaltError)
    | undefined;
  /** Limits for the other side; none if it is trusted. */
  readonly limits?: PeerLimits | undefined;
  /** Allows the other side to compress; called whenever it has. */
  readonly onCompressed?: (() => void) | undefined;
  /** Called after an answer if neither side waits for another one. */
  readonly onIdle?: (() => void) | undefined;
};

/** Limits for an untrusted peer. */
export type PeerLimits = {
  readonly json: JsonLimits;
  /** Storage for long messages; without it they are kept in memory until they are complete. */
  readonly long?: LongMessages;
  /** Requests without a response, and their bytes. */
  readonly requests: number;
  readonly requestBytes: number;
  /**
   * Called with the name and size of each event and request; returns whether to accept it, or
   * throws.
   */
  readonly admits: (name: string, bytes: number) => boolean;
};

/** The receiver of a request's raw bytes. */
export type ContentSink = (bytes: Uint8Array) => void;

type Pending = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly sink: ContentSink | undefined;
  readonly mostBytes: number | undefined;
  answer?: { value: unknown };
  /** Why the sink failed: the remaining bytes are dropped. */
  failure?: { cause: unknown };
};

const chunkSize = 128 * 1024;
/** Milliseconds after which other work may continue, however much one side has sent. */
const turn = 25;

/**
 * One end of the framed two-way wire: numbered requests, responses with optional bytes, and one-way
 * events. Both ends run the same class. A frame that is malformed, of unknown type, or answers no
 * request ends the peer with `wire-*`; every open request then rejects.
 */
export class Peer {
  readonly #options: PeerOptions;
  readonly #inbox: Inbox;
  readonly #pending = new Map<number, Pending>();
  #next = 1;
  /** The other side's open requests, with the bytes of each. */
  readonly #answering = new Map<number, number>();
  #answeringBytes = 0;
  /** The other side's requests whose content is being sent. */
  readonly #streaming = new Set<number>();
  #closed: unknown;
  /** The parsing of the current received message. */
  #working: Promise<void> | undefined;
  /** Resolves when the wire accepts more. */
  #blocked: Promise<void> | undefined;

  constructor(options: PeerOptions) {
    this.#options = options;
    this.#inbox = new Inbox(options.limits?.json, options.limits?.long, options.onCompressed);
  }

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** Whether neither side waits for a response. */
  get isIdle(): boolean {
    return this.#answering.size === 0 && this.#pending.size === 0;
  }

  /**
   * Sends a request; resolves with its JSON value. Bytes of the response go to `sink`. A response
   * of more than `mostBytes` fails the request.
   */
  request<T>(method: string, params: unknown, sink?: ContentSink, mostBytes?: number): Promise<T> {
    if (this.#closed) return Promise.reject(this.#closed);
    const id = this.#next++;
    const answer = new Promise<T>((resolve, reject) => {
      this.#pending.set(id, {
        resolve: resolve as (value: unknown) => void,
        reject,
        sink,
        mostBytes,
      });
    });
    // When the wire breaks, the owner of the link reports it; a response that is not awaited yet
    // must not end the whole program.
    answer.catch(() => undefined);
    try {
      void this.#send({ t: 'req', id, method, params });
    } catch (error) {
      this.#pending.delete(id);
      return Promise.reject(error);
    }
    return answer;
  }

  /** Sends a one-way message. Throws `wire-length` if it is longer than a frame may be. */
  event(name: string, payload: unknown): Promise<void> | undefined {
    return this.#closed ? undefined : this.#send({ t: 'evt', name, payload });
  }

  /**
   * Processes bytes from the wire. Throws or rejects with the error that ended the wire; the caller
   * then closes the channel.
   *
   * @returns undefined, or a promise if the work does not fit into one time slice: until it
   *   resolves, no more bytes should be passed
   */
  receive(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#closed) return undefined;
    this.#inbox.push(chunk);
    if (this.#working !== undefined) return this.#working;
    try {
      const rest = this.#work();
      if (!rest) return undefined;
      this.#working = this.#goOn(rest);
    } catch (error) {
      this.close(error);
      throw error;
    }
    this.#working.catch(() => undefined);
    return this.#working;
  }

  /** Closes the peer: open and later requests reject with `reason`. */
  close(reason: unknown): void {
    if (this.#closed !== undefined) return;
    this.#closed =
      reason ?? new TsaltError('wire-closed', 'The connection was closed.', { kind: 'host' });
    for (const { reject } of this.#pending.values()) reject(this.#closed);
    this.#pending.clear();
    this.#inbox.close();
  }

  /** Works for one time slice. @returns a promise if some work is left */
  #work(): Promise<Incoming | undefined> | undefined {
    const began = monotonic();
    for (let next = this.#inbox.next(); next; next = this.#inbox.next()) {
      if (next instanceof Promise) return next;
      this.#take(next);
      if (this.#closed) return undefined;
      if (monotonic() - began > turn) return ownTurn();
    }
    return undefined;
  }

  async #goOn(first: Promise<Incoming | undefined>): Promise<void> {
    try {
      for (let rest: typeof first | undefined = first; rest; rest = this.#work()) {
        const next = await rest;
        if (this.#closed) return;
        if (next) this.#take(next);
      }
    } catch (error) {
      this.close(error);
      throw error;
    } finally {
      this.#working = undefined;
    }
  }

  #take(next: Incoming): void {
    if (next instanceof Uint8Array) this.#data(next);
    else this.#message(next.message, next.size);
  }

  #message(message: Message, size: number): void {
    const { limits, events } = this.#options;
    switch (message.t) {
      case 'req':
        this.#admit(message, size);
        this.#answer(message.id, message.method, message.params).catch(error => this.close(error));
        return;
      case 'res':
        this.#settle(message, size);
        return;
      case 'end':
        this.#finish(message.id, message.error);
        return;
      case 'stop':
        this.#streaming.delete(message.id);
        return;
      case 'evt': {
        const take = own(events, message.name);
        if (!take) throw broken(`an unknown event "${shown(message.name)}"`);
        if (limits?.admits(message.name, size) ?? true) take(message.payload as never);
        return;
      }
      default:
        throw broken('a message of unknown type');
    }
  }

  #admit({ id, method }: Message & { t: 'req' }, size: number): void {
    const { limits, handlers } = this.#options;
    if (this.#answering.has(id)) throw broken(`request ${id} twice`);
    this.#answering.set(id, size);
    this.#answeringBytes += size;
    if (!limits) return;
    if (own(handlers, method)) limits.admits(method, size);
    if (this.#answering.size > limits.requests) throw broken('too many requests at once');
    if (this.#answeringBytes > limits.requestBytes) throw broken('too long requests at once');
  }

  #settle(message: Message & { t: 'res' }, size: number): void {
    const pending = this.#pending.get(message.id);
    if (!pending || pending.answer)
      throw broken(`an answer to request ${message.id} that was not asked`);
    if (message.error) {
      this.#pending.delete(message.id);
      pending.reject(this.#fault(message.error));
    } else if (size > (pending.mostBytes ?? size)) {
      this.#pending.delete(message.id);
      pending.reject(tooLong(size, pending.mostBytes ?? size));
    } else if (message.content) {
      if (!pending.sink) throw broken('content that was not asked for');
      pending.answer = { value: message.value };
    } else {
      this.#pending.delete(message.id);
      pending.resolve(message.value);
    }
  }

  #finish(id: number, error: WireError | undefined): void {
    const pending = this.#pending.get(id);
    if (!pending?.answer) throw broken('the end of a transfer that was not begun');
    this.#pending.delete(id);
    if (pending.failure) pending.reject(pending.failure.cause);
    else if (error) pending.reject(this.#fault(error));
    else pending.resolve(pending.answer.value);
  }

  #fault(said: WireError): TsaltError {
    const error = fromWire(said);
    const stack = readPositions(said.stack);
    return stack.length > 0 ? (this.#options.explain?.(error, stack) ?? error) : error;
  }

  #data(payload: Uint8Array): void {
    if (payload.length < 4) throw broken('a data frame without its transfer id');
    const id = new DataView(payload.buffer, payload.byteOffset).getUint32(0);
    const pending = this.#pending.get(id);
    if (!pending?.answer || !pending.sink) throw broken('data for a transfer that was not begun');
    if (pending.failure) return;
    try {
      pending.sink(payload.subarray(4));
    } catch (cause) {
      // A full disk is an error of this request, not of the wire.
      pending.failure = { cause };
      void this.#send({ t: 'stop', id });
    }
  }

  async #answer(id: number, method: string, params: unknown): Promise<void> {
    try {
      const handler = own(this.#options.handlers, method);
      if (!handler)
        throw new TsaltError('wire-method', `No such request: "${shown(method)}".`, {
          kind: 'host',
        });
      const value = await handler(params as never, this);
      // Responses are not buffered for a peer that sends requests and does not read.
      while (this.#blocked && !this.#closed) await this.#blocked;
      if (!(value instanceof WithContent)) {
        await this.#send({ t: 'res', id, value: value ?? null });
        return;
      }
      await this.#send({ t: 'res', id, value: value.value ?? null, content: true });
      await this.#stream(id, value.content);
    } catch (error) {
      await this.#send({ t: 'res', id, error: toWire(error) });
    } finally {
      this.#answeringBytes -= this.#answering.get(id) ?? 0;
      this.#answering.delete(id);
      if (this.isIdle) this.#options.onIdle?.();
    }
  }

  async #stream(id: number, content: TransferContent): Promise<void> {
    this.#streaming.add(id);
    try {
      for await (const bytes of content instanceof Uint8Array ? [content] : content) {
        for (let at = 0; at < bytes.length; at += chunkSize) {
          if (this.#closed) return;
          if (!this.#streaming.has(id)) throw stopped();
          await this.#write(encodeData(id, bytes.subarray(at, at + chunkSize)));
        }
      }
      await this.#send({ t: 'end', id });
    } catch (error) {
      await this.#send({ t: 'end', id, error: toWire(error) });
    } finally {
      this.#streaming.delete(id);
    }
  }

  #send(message: Message): Promise<void> | undefined {
    return this.#write(encodeJson(message));
  }

  #write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#closed) return undefined;
    const blocked = this.#options.write(bytes);
    if (blocked !== undefined) {
      this.#blocked = blocked;
      const free = (): void => {
        if (this.#blocked === blocked) this.#blocked = undefined;
      };
      blocked.then(free, free);
    }
    return blocked;
  }
}

const own = <T>(table: Readonly<Record<string, T>>, key: unknown): T | undefined =>
  typeof key === 'string' && Object.hasOwn(table, key) ? table[key] : undefined;

const tooLong = (size: number, most: number): TsaltError =>
  new TsaltError(
    'answer-length',
    `The answer is ${Math.ceil(size / megabyte)} MB long; at most ${most / megabyte} MB are taken here.`,
    { kind: 'host' },
  );

const megabyte = 1024 * 1024;

const stopped = (): TsaltError =>
  new TsaltError('wire-stopped', 'The other side takes no more of this content.', { kind: 'host' });

const toWire = (error: unknown): WireError => {
  const positions = positionsOf(error);
  const stack = positions === undefined ? {} : { stack: positions };
  // It may quote the other side's data, and must fit into a frame itself.
  const message = messageOf(error).slice(0, longestMessage);
  if (error instanceof TsaltError) {
    const { code, kind, hint } = error;
    return { code, message, kind, ...(hint === undefined ? {} : { hint }), ...stack };
  }
  return { code: error instanceof Error ? error.name : 'Error', message, ...stack };
};

const longestMessage = 1024 * 1024;

/** An error from a module has no kind; all other errors are from the other side. */
const fromWire = ({ code, message, kind, hint }: WireError): TsaltError =>
  new TsaltError(safeText(code), safeText(message), {
    kind: kind === undefined ? 'function' : 'host',
    hint: hint === undefined ? undefined : safeText(hint),
  });
