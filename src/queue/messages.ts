import { openBytes, sealBytes } from './cipher.ts';
import type { StreamWriter } from './stream.ts';

/** Milliseconds in which messages are collected. */
const together = 15;

/** The two sides of a run: the control node, and one process of a worker. */
export type MessageRoute = {
  readonly jid: string;
  /** The name of the process of the worker. */
  readonly instance: string;
  readonly to: 'control' | 'worker';
};

const aboutOf = ({ jid, instance, to }: MessageRoute, sequence: number): string =>
  `tsalt-ssh message ${jid} ${instance} ${to} ${sequence}`;

/** An entry of a stream of messages. */
type Envelope = {
  readonly jid: string;
  readonly instance: string;
  readonly sequence: number;
  readonly sealed: string;
};

/** Sends messages in order; messages of the same moment share one entry. */
export class MessageSender {
  readonly #stream: Pick<StreamWriter, 'append'>;
  readonly #key: Uint8Array;
  readonly #route: MessageRoute;
  #texts: string[] = [];
  #sequence = 0;
  #timer: NodeJS.Timeout | undefined;
  #last = 0;
  #work: Promise<unknown> = Promise.resolve();

  constructor(stream: Pick<StreamWriter, 'append'>, key: Uint8Array, route: MessageRoute) {
    this.#stream = stream;
    this.#key = key;
    this.#route = route;
  }

  send(text: string): void {
    this.#texts.push(text);
    this.#timer ??= setTimeout(() => this.#flush(), together);
  }

  /** Sends this message if none was sent for so many milliseconds: any message is a sign of life. */
  sendIfQuiet(text: string, milliseconds: number): void {
    if (Date.now() - this.#last >= milliseconds) this.send(text);
  }

  /** Resolves when all messages are in Redis. */
  async sent(): Promise<void> {
    this.#flush();
    await this.#work;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#texts.length === 0) return;
    const bytes = Buffer.from(JSON.stringify(this.#texts.splice(0)), 'utf8');
    const { jid, instance } = this.#route;
    const sequence = this.#sequence;
    this.#sequence += 1;
    this.#last = Date.now();
    const sealed = sealBytes(bytes, this.#key, aboutOf(this.#route, sequence)).toString('base64');
    const envelope: Envelope = { jid, instance, sequence, sealed };
    this.#work = this.#work.then(() => this.#stream.append(envelope)).catch(() => undefined);
  }
}

/** Decrypts messages in order. */
export class MessageReceiver {
  readonly #key: Uint8Array;
  readonly #route: MessageRoute;
  #next = 0;
  #heard = Date.now();

  constructor(key: Uint8Array, route: MessageRoute) {
    this.#key = key;
    this.#route = route;
  }

  /** The time of the last new message. Repeated messages do not count. */
  get heard(): number {
    return this.#heard;
  }

  /**
   * Decrypts an entry. One that was already received is empty: a writer that was cut off may write it
   * twice, and an attacker may replay an old one.
   *
   * @throws Error if it is not from the other side, or if an earlier one is missing
   */
  open({ sequence, sealed }: Envelope): readonly string[] {
    const bytes = openBytes(
      Buffer.from(sealed, 'base64'),
      this.#key,
      aboutOf(this.#route, sequence),
    );
    if (sequence < this.#next) return [];
    if (sequence > this.#next) throw new LostMessages();
    this.#next += 1;
    this.#heard = Date.now();
    return JSON.parse(bytes.toString('utf8')) as string[];
  }
}

/** The queue has lost messages: Redis was restarted without them. */
export class LostMessages extends Error {
  constructor() {
    super('the queue has lost messages');
  }
}

/** Reads an entry of a stream of messages; undefined for other data. */
export const envelopeOf = (data: unknown): Envelope | undefined => {
  const { jid, instance, sequence, sealed } = (data ?? {}) as Partial<Envelope>;
  const isRight =
    typeof jid === 'string' &&
    typeof instance === 'string' &&
    typeof sealed === 'string' &&
    Number.isSafeInteger(sequence);
  return isRight ? (data as Envelope) : undefined;
};
