import { setTimeout as sleep } from 'node:timers/promises';
import { TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import type { ParseKey } from '../keys.ts';
import { proxyCommand } from '../proxy-command.ts';
import { SshConfig } from '../ssh-config.ts';
import type { Connection, ConnectOptions, Transport, TransportOptions } from '../transport.ts';
import { cancelled } from '../unreachable.ts';
import { BrokenOff, dropped } from './errors.ts';
import { handshake } from './handshake.ts';
import { verifyKeyOf } from './host-keys.ts';
import { Jumps } from './jumps.ts';
import { type ConnectionPlan, Planner, type Route } from './plan.ts';
import { type OpenWay, openWay, tcp } from './socket.ts';

/** About 10 seconds in all: by then, a server with MaxStartups unfinished logins has ended some. */
const mostRetries = 6;
const longestPause = 2000;

/** SSH inside this process. Features that it lacks (certificates, FIDO, GSSAPI) need `openssh`. */
export const ssh2Transport = (options: TransportOptions): Transport => new Ssh2Transport(options);

class Ssh2Transport implements Transport {
  readonly #options: TransportOptions;
  readonly #config: SshConfig;
  readonly #planner: Planner;
  readonly #jumps: Jumps;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#config = new SshConfig({ file: options.sshConfig, env: options.env ?? process.env });
    this.#planner = new Planner(options, this.#config, async () => {
      const { default: ssh2 } = await import('ssh2');
      return ssh2.utils.parseKey as ParseKey;
    });
    this.#jumps = new Jumps(this.#config, hop => this.connect(hop));
  }

  async connect(host: Host, options: ConnectOptions = {}): Promise<Connection> {
    const { signal, keysOnly = false } = options;
    const route = await this.#planner.route(host);
    // Connect while ssh2 is being loaded and keys are read.
    const early = this.#start(route, signal);
    const plan = await this.#planner.plan(route, keysOnly).catch(error => {
      void early.then(hangUp, () => undefined);
      throw error;
    });
    for (let tries = 0; ; tries++) {
      try {
        return await this.#attempt(plan, tries === 0 ? early : this.#start(route, signal), options);
      } catch (error) {
        // sshd drops connections beyond MaxStartups unread. Nothing has happened yet, so try again.
        const code = error instanceof TsaltError ? error.code : '';
        const again =
          code === 'connect-dropped'
            ? tries < mostRetries
            : /^connect-(failed|timeout)$/.test(code) && tries + 1 < (plan.given.attempts ?? 1);
        if (!again || signal?.aborted) throw error;
        this.#options.log?.(`${host.id}: no connection (${code}), trying again`);
        await sleep(Math.min(150 * 2 ** tries, longestPause) * (1 + Math.random()), undefined, {
          signal,
        }).catch(() => {
          throw cancelled(host.id);
        });
      }
    }
  }

  close(): void {
    this.#jumps.close();
  }

  /** Begins to connect. A failure is reported to the code that awaits the socket. */
  #start(route: Route, signal: AbortSignal | undefined): Promise<OpenWay> {
    const opened = this.#socket(route, signal);
    // A failure before the socket is awaited is noticed then.
    opened.then(
      ({ socket }) => socket.on('error', () => undefined),
      () => undefined,
    );
    return opened;
  }

  async #attempt(
    plan: ConnectionPlan,
    opened: Promise<OpenWay>,
    options: ConnectOptions,
  ): Promise<Connection> {
    try {
      return await this.#open(plan, opened, plan.oneKey, options);
    } catch (error) {
      // If the server disconnects because of the early login, use the usual order.
      if (!(error instanceof BrokenOff)) throw error;
      const again = this.#start(plan, options.signal);
      return await this.#open(plan, again, false, options).catch(fault => {
        throw fault instanceof BrokenOff ? fault.fault : fault;
      });
    }
  }

  /** Makes one attempt: host key, then login. */
  async #open(
    plan: ConnectionPlan,
    opened: Promise<OpenWay>,
    pipelined: boolean,
    { signal, onPhase }: ConnectOptions,
  ): Promise<Connection> {
    const where = nameOf(plan);
    const { default: ssh2 } = await import('ssh2');
    const { socket, isFar } = await opened;
    if (socket.destroyed) throw dropped(where);
    const connection = await handshake({
      client: new ssh2.Client(),
      sock: socket,
      plan,
      where,
      pipelined,
      limits: {
        verified: this.#seconds(plan),
        login: this.#options.authTimeout ?? plan.host.timeout,
      },
      verify: key => verifyKeyOf(plan, key, this.#options),
      onVerified: onPhase && (() => onPhase('auth')),
      signal,
    });
    return isFar && plan.given.compression === undefined ? { ...connection, isFar } : connection;
  }

  /** Seconds until the socket is open, and from then until the host is verified. */
  #seconds({ host, given }: Route): number {
    return this.#options.connectTimeout ?? given.connectTimeout ?? host.timeout;
  }

  async #socket(route: Route, signal: AbortSignal | undefined): Promise<OpenWay> {
    const { host, address, settings, given } = route;
    const where = nameOf(route);
    if (signal?.aborted) throw cancelled(where);
    const jump = host.proxy_jump ?? settings.proxyJump;
    if (jump !== undefined && jump !== 'none')
      return await this.#jumps.through(jump, host, address, signal);
    const { proxyCommand: command } = settings;
    if (command !== undefined) return { socket: proxyCommand(command, where), isFar: false };
    return await openWay(() => tcp(address, given, this.#seconds(route), where, signal));
  }
}

const nameOf = ({ host, address }: Route): string => `${host.id} (${address.host}:${address.port})`;

const hangUp = ({ socket }: OpenWay): void => {
  socket.destroy();
};
