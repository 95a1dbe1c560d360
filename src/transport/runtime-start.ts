import { artifactFrame, codeFrame, type LoaderConfig } from '../loader/config.ts';
import { loaderArgument, program } from '../loader/programs.ts';
import { beginCompression } from '../protocol/frame.ts';
import type { Hello } from '../protocol/job.ts';
import { Peer } from '../protocol/peer.ts';
import type { Become } from './become.ts';
import { BootstrapExchange, secondsToSend } from './bootstrap-exchange.ts';
import { handshakeTextError, type LoaderLine, platformOf } from './handshake-messages.ts';
import type { Platform } from './node-source.ts';
import { runRaw } from './raw-shell.ts';
import { checkHello, loaderError, noHello, runtimeStuck } from './runtime-errors.ts';
import type { Link, RuntimeOptions } from './runtime-link.ts';
import { quoteForAnyShell, shCommand } from './shell.ts';
import { cancelled, readable } from './unreachable.ts';
import { watch } from './watch.ts';

export type Begun = { readonly link: Link } | { readonly platform: Platform };

/** The attempts of one `openRuntime`. Early messages are made once and sent in each attempt. */
export class RuntimeStart {
  readonly #options: RuntimeOptions;
  readonly #suffix: string;
  readonly #peer: Peer;
  readonly #early: Uint8Array[] = [];
  #conversation: BootstrapExchange | undefined;
  #heard = 0;
  #isPonging = false;
  #hello: ((hello: Hello) => void) | undefined;

  constructor(options: RuntimeOptions, suffix: string) {
    this.#options = options;
    this.#suffix = suffix;
    this.#peer = new Peer({
      write: bytes => this.#write(bytes),
      handlers: options.handlers,
      explain: options.explain,
      limits: options.limits,
      onCompressed: options.connection.isFar ? () => undefined : undefined,
      events: {
        ...options.events,
        hello: (hello: Hello) => this.#hello?.(hello),
        ping: () => this.#pong(),
        pong: () => undefined,
      },
    });
    options.early?.(this.#peer);
  }

  /**
   * Starts the runtime.
   *
   * @param onlyOurNode ignore the Node in the host's PATH
   * @returns the link, or the platform for which the host needs a Node
   */
  async attempt(become: Become, onlyOurNode = false): Promise<Begun> {
    const { connection, host, onPhase, signal, timeouts } = this.#options;
    onPhase?.('bootstrap');
    const channel = await connection.exec(this.#command(become, onlyOurNode), { pty: become.pty });
    const conversation = new BootstrapExchange(connection, channel, become);
    const seconds = timeouts?.hello ?? host.timeout;
    try {
      // Bytes sent before sudo's answer would be read as the password.
      let sent = become.nonce === undefined;
      if (sent) this.#sendEarly(conversation);
      this.#options.onSent?.();
      let patience = seconds;
      for (;;) {
        const said = await conversation.next(patience, signal);
        if (said.by === 'shell' || said.value.need === 'node') {
          const platform = platformOf(host, said);
          await conversation.settle();
          return { platform };
        }
        const { value } = said;
        if (value.error !== undefined) throw loaderError(host, value);
        if (!sent) this.#sendEarly(conversation);
        sent = true;
        if (value.need === 'artifact')
          patience = seconds + secondsToSend(await this.#sendProgram(conversation, value));
        else if (value.start === true)
          return { link: await this.#start(conversation, value, seconds, become) };
        else throw handshakeTextError(host.id, 'an unknown first line');
      }
    } catch (error) {
      const reason = signal?.aborted ? cancelled(host.id) : error;
      conversation.close(reason);
      throw reason;
    }
  }

  #command(become: Become, onlyOurNode: boolean): string {
    const { artifact, grainsProgram, host, randomDir, wipe } = this.#options;
    const config: LoaderConfig = {
      sha: artifact.sha256,
      size: artifact.size,
      ...(grainsProgram ? { grains: { sha: grainsProgram.sha256, size: grainsProgram.size } } : {}),
      ...(host.thin_dir === undefined ? {} : { thin: host.thin_dir }),
      ...(this.#suffix === '' ? {} : { suffix: this.#suffix }),
      ...((wipe && !host.disable_wipe) || randomDir ? { wipe: true } : {}),
      ...(host.cmd_umask === undefined ? {} : { umask: host.cmd_umask }),
      ...(this.#options.kind === undefined ? {} : { kind: this.#options.kind }),
    };
    const base64 = (text: string): string => `'${Buffer.from(text).toString('base64')}'`;
    return become.wrap(
      shCommand(program('find-node'), [
        `'${loaderArgument()}'`,
        base64(JSON.stringify(config)),
        quoteForAnyShell(host.thin_dir ?? '', 'thin_dir'),
        `'${this.#suffix}'`,
        quoteForAnyShell(host.node_bin ?? '', 'node_bin'),
        quoteForAnyShell(host.set_path ?? '', 'set_path'),
        onlyOurNode ? "'own'" : "''",
      ]),
    );
  }

  /** Answers pings. A host that does not read gets no second pong. */
  #pong(): void {
    if (this.#isPonging) return;
    const sent = this.#peer.event('pong', null);
    this.#isPonging = sent !== undefined;
    void sent?.then(() => {
      this.#isPonging = false;
    });
  }

  #write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#conversation) return this.#conversation.send(bytes);
    this.#early.push(bytes);
    return;
  }

  #sendEarly(conversation: BootstrapExchange): void {
    if (this.#options.connection.isFar)
      void conversation.write(beginCompression(Buffer.concat(this.#early)));
    else for (const bytes of this.#early) void conversation.write(bytes);
  }

  /** @returns the number of bytes */
  async #sendProgram(conversation: BootstrapExchange, said: LoaderLine): Promise<number> {
    const { artifact, connection, onPhase } = this.#options;
    const sent = this.#grainsProgramOf(said) ?? artifact;
    // Far hosts compile the program in less time than its code cache takes to arrive.
    const codeCache = connection.isFar ? undefined : sent.codeCache;
    const [bytes, code] = await Promise.all([sent.compressed(), codeCache?.take(said.engine)]);
    const count = bytes.length + (code?.length ?? 0);
    onPhase?.('upload', `${count} bytes`);
    if (code) void this.#sendFrame(conversation, codeFrame, code);
    await this.#sendFrame(conversation, artifactFrame, bytes);
    return count;
  }

  #sendFrame(
    conversation: BootstrapExchange,
    type: number,
    bytes: Uint8Array,
  ): Promise<void> | undefined {
    const head = Buffer.alloc(5);
    head.writeUInt32BE(bytes.length, 0);
    head[4] = type;
    void conversation.write(head);
    return conversation.write(bytes);
  }

  /** Returns the program for grains, if the host was offered it and uses it. */
  #grainsProgramOf({ grains }: LoaderLine): RuntimeOptions['grainsProgram'] {
    return grains === true ? this.#options.grainsProgram : undefined;
  }

  async #start(
    conversation: BootstrapExchange,
    said: LoaderLine,
    seconds: number,
    { password }: Become,
  ): Promise<Link> {
    const { host, onPhase, onStart, signal } = this.#options;
    const isGrainsOnly = this.#grainsProgramOf(said) !== undefined;
    onStart?.({ isGrainsOnly });
    onPhase?.('hello');
    const peer = this.#peer;
    this.#conversation = conversation;
    const hello = await new Promise<Hello>((resolve, reject) => {
      const endByForce = watch(this.#options, conversation, {
        heard: () => this.#heard,
        ping: () => void peer.event('ping', null),
        cancel: () => peer.request('cancel', {}),
        kill: () => this.#kill(said.pid, password),
      });
      const timer = setTimeout(
        () => endByForce(noHello(host, seconds), runtimeStuck(host, seconds)),
        seconds * 1000,
      );
      this.#hello = value => {
        clearTimeout(timer);
        if (!signal?.aborted) resolve(value);
      };
      void conversation.ended.then(() => clearTimeout(timer));
      conversation.handOver(
        chunk => {
          this.#heard += 1;
          return peer.receive(chunk);
        },
        reason => {
          peer.close(reason);
          reject(reason);
        },
      );
    });
    checkHello(host, hello, this.#options.kind?.endsWith('lazy') === true);
    return {
      hello,
      peer,
      cached: said.cached === true,
      compiled: said.compiled === true,
      isGrainsOnly,
      ended: conversation.ended,
      node: readable(String(said.node), 40),
      diagnostics: () => [conversation.noise, conversation.stderr].filter(Boolean).join('\n'),
      close: () => conversation.close(undefined),
      finish: () => {
        conversation.finish();
        return conversation.settle();
      },
    };
  }

  /**
   * Kills the runtime by a separate command: in an endless loop it does not even notice the end of
   * the link.
   */
  async #kill(pid: unknown, password: Become['password']): Promise<boolean> {
    const { connection, host } = this.#options;
    if (!Number.isSafeInteger(pid)) return false;
    const { retcode } = await runRaw({
      connection,
      host,
      command: `kill -9 ${pid}`,
      ...(password ? { askSudoPassword: async () => password } : {}),
    });
    return retcode === 0;
  }
}
