import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AnyAuthMethod, Client, ConnectConfig } from 'ssh2';
import type { Connection } from '../transport.ts';
import { openTunnels } from '../tunnels.ts';
import { cancelled, timedOut } from '../unreachable.ts';
import { connectionOf } from './connection.ts';
import { BrokenOff, handshakeError, loginCut, type Ssh2Error, unknownAlgorithm } from './errors.ts';
import { hostKeyAlgorithms } from './host-keys.ts';
import { joinWrites } from './join-writes.ts';
import { LoginAttempts } from './login.ts';
import type { ConnectionPlan } from './plan.ts';
import { limitInflation, liveByBytes, nudge, pipelineAuth } from './tuning.ts';

const heartbeat = 10;
const heartbeatsMissed = 3;

/** Characters of a banner that are kept for a message. */
const longestBanner = 4000;

export type HandshakeOptions = {
  readonly client: Client;
  readonly sock: Duplex;
  readonly plan: ConnectionPlan;
  /** The host's name in messages. */
  readonly where: string;
  /** Send the first login request together with the handshake. */
  readonly pipelined: boolean;
  /** Seconds until the host is verified, and from then until the login has succeeded. */
  readonly limits: { readonly verified: number; readonly login: number };
  /** Throws if the host key is wrong. */
  readonly verify: (key: Buffer) => void;
  readonly onVerified: (() => void) | undefined;
  readonly signal: AbortSignal | undefined;
};

/** Logs in on an open socket. */
export const handshake = (options: HandshakeOptions): Promise<Connection> =>
  new Promise((resolve, reject) => {
    new Handshake(options, resolve, reject).begin();
  });

class Handshake {
  readonly #options: HandshakeOptions;
  readonly #resolve: (connection: Connection) => void;
  readonly #reject: (error: unknown) => void;
  readonly #login: LoginAttempts;
  readonly #abort = (): void => this.#fail(cancelled(this.#options.where));
  #timer: NodeJS.Timeout | undefined;
  #settled = false;
  #verified = false;
  #verdict: unknown;
  #greeting = '';
  /** The last part of the host's output during the login. */
  #banner = '';

  constructor(
    options: HandshakeOptions,
    resolve: (connection: Connection) => void,
    reject: (error: unknown) => void,
  ) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#login = new LoginAttempts(options.plan.methods, options.plan.host.user);
  }

  begin(): void {
    const { client, sock, where, limits, pipelined, signal } = this.#options;
    if (signal?.aborted) {
      this.#abort();
      return;
    }
    this.#limit(limits.verified, 'host key');
    signal?.addEventListener('abort', this.#abort, { once: true });
    client.on('error', error => this.#fault(error));
    client.on('close', () => this.#fault(new Error('closed')));
    client.on('handshake', () => this.#isVerified());
    client.on('banner', (text: string) => {
      this.#banner = (this.#banner + text).slice(-longestBanner);
    });
    client.on('ready', () => this.#isLoggedIn());
    joinWrites(sock);
    try {
      client.connect(this.#settings());
    } catch (error) {
      // ssh2 checks the names of algorithms here.
      this.#fail(unknownAlgorithm(where, error));
      return;
    }
    sock.once('data', (chunk: Buffer) => {
      this.#greeting = chunk.toString('latin1', 0, 200);
    });
    if (pipelined) pipelineAuth(client);
    nudge(client);
    limitInflation(client);
  }

  #settings(): ConnectConfig {
    const { sock, plan, verify } = this.#options;
    const { host, given } = plan;
    return {
      sock: sock as Socket,
      username: host.user,
      readyTimeout: 0,
      keepaliveInterval: (given.aliveInterval ?? heartbeat) * 1000,
      keepaliveCountMax: given.aliveCount ?? heartbeatsMissed,
      algorithms: {
        // ssh2's own list has more, of which the host could choose by offering nothing else.
        compress: ['none'],
        ...given.algorithms,
        serverHostKey: hostKeyAlgorithms(plan),
      },
      authHandler: (left, _partial, next) => {
        const method = this.#login.next(left as readonly string[] | null);
        // ssh2 takes false as "no more methods"; its type does not say so.
        next(method ?? (false as unknown as AnyAuthMethod));
      },
      hostVerifier: (key: Buffer) => {
        try {
          verify(key);
          return true;
        } catch (error) {
          this.#verdict = error;
          return false;
        }
      },
    };
  }

  #isVerified(): void {
    const { limits, onVerified } = this.#options;
    this.#verified = true;
    onVerified?.();
    this.#limit(limits.login, 'end of the login');
  }

  #isLoggedIn(): void {
    const { client, plan, where } = this.#options;
    const tunnels = plan.host.remote_port_forwards ?? [];
    if (tunnels.length === 0) this.#succeed();
    else
      openTunnels(client, tunnels, where).then(
        () => this.#succeed(),
        error => this.#fail(error),
      );
  }

  #limit(seconds: number, what: string): void {
    clearTimeout(this.#timer);
    const { where } = this.#options;
    this.#timer = setTimeout(() => this.#fail(timedOut(where, what, seconds)), seconds * 1000);
  }

  #fault(error: Ssh2Error): void {
    const { plan, pipelined, where } = this.#options;
    const broken = this.#verified
      ? loginCut(where, error, this.#login.tried, this.#banner)
      : handshakeError(where, error, this.#greeting);
    if (this.#verdict !== undefined) this.#fail(this.#verdict);
    else if (error.level === 'client-authentication') this.#fail(this.#login.refused(plan.host));
    else this.#fail(this.#verified && pipelined ? new BrokenOff(broken) : broken);
  }

  #succeed(): void {
    if (!this.#settle()) return;
    const { client, plan, sock, where } = this.#options;
    liveByBytes(client, sock);
    const { aliveInterval = heartbeat, aliveCount = heartbeatsMissed } = plan.given;
    this.#resolve(connectionOf(client, plan.host, where, aliveInterval * (aliveCount + 1)));
  }

  #fail(error: unknown): void {
    if (!this.#settle()) return;
    this.#reject(error);
    this.#options.client.destroy();
    this.#options.sock.destroy();
  }

  /** @returns whether this is the first end */
  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener('abort', this.#abort);
    return true;
  }
}
