import { messageOf, TsaltError } from './error.ts';
import { parseExact } from './exact-json.ts';
import {
  encodeData,
  encodeJson,
  type Frame,
  FrameDecoder,
  frameType,
  maxJsonFrame,
} from './frame.ts';
import { type Position, positionsOf, readPositions } from './stack.ts';

/** What a request may bring besides its JSON answer: a stream of bytes. */
export type Content = AsyncIterable<Uint8Array> | Uint8Array;

/** A handler's answer with bytes: `value` crosses as JSON, then `content` as raw frames. */
export class WithContent {
  readonly value: unknown;
  readonly content: Content;
  constructor(value: unknown, content: Content) {
    this.value = value;
    this.content = content;
  }
}

export type Handler = (params: never, peer: Peer) => unknown;

export type PeerOptions = {
  /** Puts bytes on the wire; resolves when the wire wants more (backpressure). */
  readonly write: (bytes: Uint8Array) => Promise<void> | undefined;
  /** Requests this side answers, by method. Any other method is refused. */
  readonly handlers: Readonly<Record<string, Handler>>;
  /** One-way messages this side takes, by name. Any other name breaks the wire. */
  readonly events: Readonly<Record<string, (payload: never) => void>>;
  /** Says more of a request's failure, by where in the artifact it was thrown. */
  readonly explain?: ((error: TsaltError, stack: readonly Position[]) => TsaltError) | undefined;
};

/** The receiver of a request's raw bytes. */
export type ContentSink = (bytes: Uint8Array) => void;

type Pending = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly sink: ContentSink | undefined;
  answer?: { value: unknown };
  /** Why the sink takes no more: what is still on its way is dropped. */
  failure?: { cause: unknown };
};

type Message =
  | { t: 'req'; id: number; method: string; params: unknown }
  | { t: 'res'; id: number; value?: unknown; content?: boolean; error?: WireError }
  | { t: 'end'; id: number; error?: WireError }
  | { t: 'stop'; id: number }
  | { t: 'evt'; name: string; payload: unknown };

type WireError = {
  code: string;
  message: string;
  kind?: string;
  hint?: string;
  stack?: readonly Position[];
};

const chunkSize = 128 * 1024;
/** No honest peer has more requests open: each holds memory here until it is answered. */
const mostOpenRequests = 1024;

/**
 * One end of the framed two-way wire: numbered requests, answers with optional byte content,
 * and one-way events. Both ends run the same class. A frame that is malformed, of unknown
 * type, or answers nothing ends the peer with `wire-*`; every open request then rejects.
 */
export class Peer {
  readonly #options: PeerOptions;
  readonly #decoder = new FrameDecoder();
  readonly #pending = new Map<number, Pending>();
  #next = 1;
  #answering = 0;
  /** The other side's requests whose content is on its way, until it is sent or stopped. */
  readonly #streaming = new Set<number>();
  #closed: unknown;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** Sends a request; resolves with its JSON value. Bytes that come with it go to `sink`. */
  request<T>(method: string, params: unknown, sink?: ContentSink): Promise<T> {
    if (this.#closed) return Promise.reject(this.#closed);
    const id = this.#next++;
    const answer = new Promise<T>((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject, sink });
    });
    // When the wire breaks, whoever holds the link reports it; an answer that nobody awaits yet
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

  /** Sends a one-way message. Throws `wire-length` when it is longer than a frame may be. */
  event(name: string, payload: unknown): Promise<void> | undefined {
    return this.#closed ? undefined : this.#send({ t: 'evt', name, payload });
  }

  /** Takes bytes from the wire. Throws what ended the wire; the caller then closes the channel. */
  receive(chunk: Uint8Array): void {
    if (this.#closed) return;
    try {
      for (const frame of this.#decoder.push(chunk)) {
        if (frame.type === frameType.data) this.#data(frame.payload);
        else this.#message(parse(frame));
      }
    } catch (error) {
      this.close(error);
      throw error;
    }
  }

  /** Ends the peer: open and later requests reject with `reason`. */
  close(reason: unknown): void {
    if (this.#closed !== undefined) return;
    this.#closed =
      reason ?? new TsaltError('wire-closed', 'The connection was closed.', { kind: 'host' });
    for (const { reject } of this.#pending.values()) reject(this.#closed);
    this.#pending.clear();
  }

  #message(message: Message): void {
    switch (message.t) {
      case 'req':
        if (this.#answering >= mostOpenRequests) throw broken('too many requests at once');
        void this.#answer(message.id, message.method, message.params);
        return;
      case 'res':
        this.#settle(message);
        return;
      case 'end':
        this.#finish(message.id, message.error);
        return;
      case 'stop':
        this.#streaming.delete(message.id);
        return;
      case 'evt': {
        const take = own(this.#options.events, message.name);
        if (!take) throw broken(`an unknown event "${show(message.name)}"`);
        take(message.payload as never);
        return;
      }
      default:
        throw broken('a message of unknown type');
    }
  }

  #settle(message: Message & { t: 'res' }): void {
    const pending = this.#pending.get(message.id);
    if (!pending || pending.answer)
      throw broken(`an answer to request ${show(message.id)} that was not asked`);
    if (message.error) {
      this.#pending.delete(message.id);
      pending.reject(this.#fault(message.error));
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
      // A full disk is this request's trouble, not the wire's.
      pending.failure = { cause };
      void this.#send({ t: 'stop', id });
    }
  }

  async #answer(id: number, method: string, params: unknown): Promise<void> {
    this.#answering += 1;
    try {
      const handler = own(this.#options.handlers, method);
      if (!handler)
        throw new TsaltError('wire-method', `No such request: "${show(method)}".`, {
          kind: 'host',
        });
      const value = await handler(params as never, this);
      if (!(value instanceof WithContent)) {
        await this.#send({ t: 'res', id, value: value ?? null });
        return;
      }
      await this.#send({ t: 'res', id, value: value.value ?? null, content: true });
      await this.#stream(id, value.content);
    } catch (error) {
      await this.#send({ t: 'res', id, error: toWire(error) });
    } finally {
      this.#answering -= 1;
    }
  }

  async #stream(id: number, content: Content): Promise<void> {
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
    const frame = encodeJson(message);
    if (frame.length > maxJsonFrame) throw tooLong(frame.length);
    return this.#write(frame);
  }

  #write(bytes: Uint8Array): Promise<void> | undefined {
    return this.#closed ? undefined : this.#options.write(bytes);
  }
}

const own = <T>(table: Readonly<Record<string, T>>, key: unknown): T | undefined =>
  typeof key === 'string' && Object.hasOwn(table, key) ? table[key] : undefined;

const decoder = new TextDecoder('utf-8', { fatal: true });

const parse = ({ type, payload }: Frame): Message => {
  let message: unknown;
  try {
    const text = decoder.decode(payload);
    message = type === frameType.marked ? parseExact(text) : JSON.parse(text);
  } catch {
    throw broken('text that is not JSON');
  }
  if (typeof message !== 'object' || message === null) throw broken('a message that is no object');
  return message as Message;
};

/** Never by `String()`: an object of the other side may have a `toString` that is no function. */
const text = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

const show = (value: unknown): string => text(value).slice(0, 60);

const broken = (what: string): TsaltError =>
  new TsaltError('wire-protocol', `The other side broke the protocol: it sent ${what}.`, {
    kind: 'host',
  });

const tooLong = (bytes: number): TsaltError =>
  new TsaltError(
    'wire-length',
    `The answer is ${Math.ceil(bytes / megabyte)} MB long; at most ${maxJsonFrame / megabyte} MB can be sent at once.`,
    { kind: 'host' },
  );

const megabyte = 1024 * 1024;

const stopped = (): TsaltError =>
  new TsaltError('wire-stopped', 'The other side takes no more of this content.', { kind: 'host' });

const toWire = (error: unknown): WireError => {
  const positions = positionsOf(error);
  const stack = positions === undefined ? {} : { stack: positions };
  // It may quote what the other side sent, and must fit into a frame itself.
  const message = messageOf(error).slice(0, longestMessage);
  if (error instanceof TsaltError) {
    const { code, kind, hint } = error;
    return { code, message, kind, ...(hint === undefined ? {} : { hint }), ...stack };
  }
  return { code: error instanceof Error ? error.name : 'Error', message, ...stack };
};

const longestMessage = 1024 * 1024;

const fromWire = ({ code, message, hint }: WireError): TsaltError =>
  new TsaltError(text(code), text(message), {
    kind: 'host',
    hint: hint === undefined ? undefined : text(hint),
  });
