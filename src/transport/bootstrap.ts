import { randomBytes } from 'node:crypto';
import type { Artifact } from '../protocol/artifact.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Phase } from '../protocol/event.ts';
import type { Host, Secret } from '../protocol/host.ts';
import { type Hello, protocolVersion } from '../protocol/job.ts';
import { type Handler, Peer } from '../protocol/peer.ts';
import { type Become, becomeOf, becomePassword } from './become.ts';
import { Conversation, type Said } from './conversation.ts';
import { cancelled, readable } from './faults.ts';
import { artifactFrame, type LoaderConfig, loaderSource } from './loader.ts';
import type { NodeSource, Platform } from './node-source.ts';
import { runPreFlight } from './pre-flight.ts';
import { findNode } from './scripts.ts';
import { quoteWord, shCommand } from './shell.ts';
import type { Connection } from './transport.ts';
import { uploadNode } from './upload-node.ts';

export type RuntimeOptions = {
  readonly connection: Connection;
  readonly host: Host;
  readonly artifact: Pick<Artifact, 'sha256' | 'size' | 'compressed'>;
  /** Where a Node for the host comes from when it has none. */
  readonly nodeSource?: NodeSource;
  /** What the host may ask, and what it may tell; `hello`, `ping` and `pong` are the link's own. */
  readonly handlers: Readonly<Record<string, Handler>>;
  readonly events: Readonly<Record<string, (payload: never) => void>>;
  /**
   * Called once, before anything is known of the host: what it sends by the peer travels with the
   * command, and the runtime finds it when it begins.
   */
  readonly early?: (peer: Peer) => void;
  readonly onPhase?: (phase: Phase, detail?: string) => void;
  readonly signal?: AbortSignal;
  readonly timeouts?: Timeouts;
  /** Asked when sudo wants a password that the roster does not have. */
  readonly askSudoPassword?: () => Promise<Secret>;
  /** Run `ssh_pre_flight` even where it has run. */
  readonly preFlight?: boolean;
  /** What sort of run it is, a word: see `LoaderConfig`. */
  readonly kind?: 'state';
  /** Leave nothing on the host. */
  readonly wipe?: boolean;
  /** A workspace with a random name, for this run only; implies `wipe`. */
  readonly randomDir?: boolean;
};

export type Timeouts = {
  /** Seconds a host may take for each step until its runtime says hello. Default: the host's `timeout`. */
  readonly hello?: number;
  /** Seconds between pings; after three without any byte the link counts as lost. Default 10. */
  readonly heartbeat?: number;
  /** Seconds the runtime may live in all. Default: no bound. */
  readonly total?: number;
};

/** A running runtime. */
export type Link = {
  readonly hello: Hello;
  readonly peer: Peer;
  /** Was the artifact there already? */
  readonly cached: boolean;
  /** Node's version on the host. */
  readonly node: string;
  /** What the host printed beside the wire, cleaned, for diagnostics. */
  readonly diagnostics: () => string;
  /** Resolves with the reason when the runtime is gone, whoever ended it. Never rejects. */
  readonly ended: Promise<unknown>;
  /** Ends the runtime; open requests reject. */
  readonly close: () => void;
};

/**
 * From a connection to a running runtime by one command on one channel: finds Node, gets the
 * artifact there if it is missing, and speaks frames from then on.
 * @throws {TsaltError} kind `auth` (sudo), `unreachable` (silence, lost link) or `host`
 */
export const openRuntime = async (options: RuntimeOptions): Promise<Link> => {
  const { host, signal } = options;
  if (signal?.aborted) throw cancelled(host.id);
  const suffix = options.randomDir ? `-${randomBytes(8).toString('hex')}` : '';
  const run = new Run(options, suffix);
  let password = becomePassword(host);
  let prepared = host.ssh_pre_flight === undefined;
  let uploaded = false;
  for (;;) {
    try {
      if (!prepared) await runPreFlight({ ...options, suffix, become: becomeOf(host, password) });
      prepared = true;
      const begun = await run.attempt(becomeOf(host, password));
      if ('link' in begun) return begun.link;
      if (uploaded) throw uselessNode(host, begun.platform);
      uploaded = true;
      await uploadNode({
        ...options,
        suffix,
        platform: begun.platform,
        become: becomeOf(host, password),
      });
    } catch (error) {
      const mayAsk = password === undefined && options.askSudoPassword !== undefined;
      if (!mayAsk || !(error instanceof TsaltError) || error.code !== 'sudo-refused') throw error;
      password = await options.askSudoPassword?.();
    }
  }
};

/** Milliseconds that a host has to end its processes when the run is cancelled. */
const goodbye = 200;

type Begun = { readonly link: Link } | { readonly platform: Platform };

/** The attempts of one `openRuntime`: what is sent early is made once and sent in each. */
class Run {
  readonly #options: RuntimeOptions;
  readonly #suffix: string;
  readonly #peer: Peer;
  readonly #early: Uint8Array[] = [];
  #conversation: Conversation | undefined;
  #heard = 0;
  #hello: ((hello: Hello) => void) | undefined;

  constructor(options: RuntimeOptions, suffix: string) {
    this.#options = options;
    this.#suffix = suffix;
    this.#peer = new Peer({
      write: bytes => this.#write(bytes),
      handlers: options.handlers,
      events: {
        ...options.events,
        hello: (hello: Hello) => this.#hello?.(hello),
        ping: () => void this.#peer.event('pong', null),
        pong: () => undefined,
      },
    });
    options.early?.(this.#peer);
  }

  async attempt(become: Become): Promise<Begun> {
    const { connection, host, onPhase, signal, timeouts } = this.#options;
    onPhase?.('bootstrap');
    const channel = await connection.exec(this.#command(become), { pty: become.pty });
    const conversation = new Conversation(connection, channel, become);
    const seconds = timeouts?.hello ?? host.timeout;
    try {
      // Whatever comes before sudo's answer would be taken for the password.
      let sent = become.nonce === undefined;
      if (sent) this.#sendEarly(conversation);
      for (;;) {
        const said = await conversation.next(seconds, signal);
        if (said.by === 'shell') return { platform: platformOf(host, said) };
        const { value } = said;
        if (value.error !== undefined) throw loaderFault(host, value);
        if (value.need === 'node') {
          conversation.close(undefined);
          return { platform: platformOf(host, said) };
        }
        if (!sent) this.#sendEarly(conversation);
        sent = true;
        if (value.need === 'artifact') await this.#sendArtifact(conversation);
        else if (value.start === true)
          return { link: await this.#start(conversation, value, seconds) };
        else
          throw new TsaltError(
            'wire-greeting',
            `${host.id}: the host sent an unknown first line.`,
            { kind: 'host' },
          );
      }
    } catch (error) {
      const reason = signal?.aborted ? cancelled(host.id) : error;
      conversation.close(reason);
      throw reason;
    }
  }

  #command(become: Become): string {
    const { artifact, host, randomDir, wipe } = this.#options;
    const config: LoaderConfig = {
      sha: artifact.sha256,
      size: artifact.size,
      ...(host.thin_dir === undefined ? {} : { thin: host.thin_dir }),
      ...(this.#suffix === '' ? {} : { suffix: this.#suffix }),
      ...((wipe && !host.disable_wipe) || randomDir ? { wipe: true } : {}),
      ...(host.cmd_umask === undefined ? {} : { umask: host.cmd_umask }),
      ...(this.#options.kind === undefined ? {} : { kind: this.#options.kind }),
    };
    const base64 = (text: string): string => `'${Buffer.from(text).toString('base64')}'`;
    return become.wrap(
      shCommand(findNode, [
        base64(loaderSource),
        base64(JSON.stringify(config)),
        quoteWord(host.thin_dir ?? '', 'thin_dir'),
        `'${this.#suffix}'`,
        quoteWord(host.node_bin ?? '', 'node_bin'),
        quoteWord(host.set_path ?? '', 'set_path'),
      ]),
    );
  }

  #write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#conversation) return this.#conversation.write(bytes);
    this.#early.push(bytes);
    return;
  }

  #sendEarly(conversation: Conversation): void {
    for (const bytes of this.#early) void conversation.write(bytes);
  }

  async #sendArtifact(conversation: Conversation): Promise<void> {
    const { artifact, onPhase } = this.#options;
    const bytes = await artifact.compressed();
    onPhase?.('upload', `${bytes.length} bytes`);
    const head = Buffer.alloc(5);
    head.writeUInt32BE(bytes.length, 0);
    head[4] = artifactFrame;
    void conversation.write(head);
    await conversation.write(bytes);
  }

  async #start(
    conversation: Conversation,
    said: Readonly<Record<string, unknown>>,
    seconds: number,
  ): Promise<Link> {
    const { host, onPhase, signal } = this.#options;
    onPhase?.('hello');
    const peer = this.#peer;
    this.#conversation = conversation;
    const hello = await new Promise<Hello>((resolve, reject) => {
      const timer = setTimeout(() => conversation.close(noHello(host, seconds)), seconds * 1000);
      const abort = (): void => conversation.close(cancelled(host.id));
      signal?.addEventListener('abort', abort, { once: true });
      this.#hello = value => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        resolve(value);
      };
      conversation.handOver(
        chunk => {
          this.#heard = Date.now();
          peer.receive(chunk);
        },
        reason => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
          peer.close(reason);
          reject(reason);
        },
      );
    });
    checkHello(host, hello);
    this.#watch(conversation);
    return {
      hello,
      peer,
      cached: said.cached === true,
      ended: conversation.ended,
      node: readable(String(said.node), 40),
      diagnostics: () => [conversation.noise, conversation.stderr].filter(Boolean).join('\n'),
      close: () => conversation.close(undefined),
    };
  }

  /** Heartbeat, total time and cancelling, until the command ends. */
  #watch(conversation: Conversation): void {
    const { host, signal, timeouts } = this.#options;
    const every = (timeouts?.heartbeat ?? 10) * 1000;
    this.#heard = Date.now();
    const beat = setInterval(() => {
      if (Date.now() - this.#heard > every * 3) conversation.close(lost(host, (every * 3) / 1000));
      else void this.#peer.event('ping', null);
    }, every);
    const { total } = timeouts ?? {};
    const limit =
      total === undefined
        ? undefined
        : setTimeout(() => conversation.close(tooLong(host, total)), total * 1000);
    const abort = (): void => {
      const close = (): void => conversation.close(cancelled(host.id));
      // Told so, the host ends its processes at once; of a lost link it would let them finish.
      this.#peer.request('cancel', {}).then(close, close);
      setTimeout(close, goodbye);
    };
    signal?.addEventListener('abort', abort, { once: true });
    void conversation.ended.then(() => {
      clearInterval(beat);
      clearTimeout(limit);
      signal?.removeEventListener('abort', abort);
    });
  }
}

const platformOf = (host: Host, said: Said): Platform => {
  if (said.by === 'loader') {
    const { os, arch, have } = said.value;
    return {
      os: readable(String(os), 40),
      arch: readable(String(arch), 40),
      libc: 'unknown',
      have: readable(String(have), 40),
    };
  }
  const [word, os = '', arch = '', libc = ''] = said.words.map(text => readable(text, 40));
  if (word !== 'NONODE')
    throw new TsaltError('wire-greeting', `${host.id}: the host sent an unknown first line.`, {
      kind: 'host',
    });
  return { os, arch, libc: libc === 'glibc' || libc === 'musl' ? libc : 'unknown' };
};

const checkHello = (host: Host, hello: Hello): void => {
  if (typeof hello !== 'object' || hello === null || hello.protocol !== protocolVersion)
    throw new TsaltError('wire-version', `${host.id}: the runtime speaks another protocol.`, {
      kind: 'host',
    });
};

const loaderFault = (host: Host, value: Readonly<Record<string, unknown>>): TsaltError =>
  new TsaltError(
    readable(String(value.error), 40),
    `${host.id}: ${readable(String(value.message), 500)}`,
    { kind: 'host' },
  );

const uselessNode = (host: Host, { have }: Platform): TsaltError =>
  new TsaltError('node-useless', `${host.id}: the Node that was brought is not found there.`, {
    kind: 'host',
    hint: host.node_bin
      ? `node_bin is ${host.node_bin}${have ? `, which is Node ${have}` : ''}; it needs Node 18 or later.`
      : 'Set node_bin in the roster to a Node 18 or later.',
  });

const noHello = (host: Host, seconds: number): TsaltError =>
  new TsaltError('host-silent', `${host.id}: the runtime said nothing within ${seconds} s.`, {
    kind: 'unreachable',
  });

const lost = (host: Host, seconds: number): TsaltError =>
  new TsaltError('connection-lost', `${host.id}: the host has not answered for ${seconds} s.`, {
    kind: 'unreachable',
  });

const tooLong = (host: Host, seconds: number): TsaltError =>
  new TsaltError('host-timeout', `${host.id}: not done within ${seconds} s.`, { kind: 'host' });
