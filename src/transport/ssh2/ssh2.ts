import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'ssh2';
import { TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import { cancelled } from '../faults.ts';
import type { ParseKey } from '../keys.ts';
import { proxyCommand } from '../proxy-command.ts';
import { SshConfig } from '../ssh-config.ts';
import type { Connection, ConnectOptions, Transport, TransportOptions } from '../transport.ts';
import { BrokenOff } from './faults.ts';
import { handshake } from './handshake.ts';
import { verifyKeyOf } from './host-keys.ts';
import { Jumps } from './jumps.ts';
import { type Plan, Planner } from './plan.ts';
import { tcp } from './socket.ts';

const mostRetries = 3;

/** SSH inside this process. What it cannot do (certificates, FIDO, GSSAPI) is left to `openssh`. */
export const ssh2Transport = async (options: TransportOptions): Promise<Transport> => {
  const { default: ssh2 } = await import('ssh2');
  return new Ssh2Transport(options, () => new ssh2.Client(), ssh2.utils.parseKey as ParseKey);
};

class Ssh2Transport implements Transport {
  readonly #options: TransportOptions;
  readonly #newClient: () => Client;
  readonly #config: SshConfig;
  readonly #planner: Planner;
  readonly #jumps: Jumps;

  constructor(options: TransportOptions, newClient: () => Client, parseKey: ParseKey) {
    this.#options = options;
    this.#newClient = newClient;
    this.#config = new SshConfig({ file: options.sshConfig, env: options.env ?? process.env });
    this.#planner = new Planner(options, this.#config, parseKey);
    this.#jumps = new Jumps(this.#config, hop => this.connect(hop));
  }

  async connect(host: Host, options: ConnectOptions = {}): Promise<Connection> {
    const { signal, keysOnly = false } = options;
    const plan = await this.#planner.plan(host, keysOnly);
    for (let tries = 0; ; tries++) {
      try {
        return await this.#attempt(plan, options);
      } catch (error) {
        // sshd drops connections over MaxStartups unread: nothing has happened yet, so again.
        const code = error instanceof TsaltError ? error.code : '';
        const again =
          code === 'connect-dropped'
            ? tries < mostRetries
            : /^connect-(failed|timeout)$/.test(code) && tries + 1 < (plan.given.attempts ?? 1);
        if (!again || signal?.aborted) throw error;
        this.#options.log?.(`${host.id}: no connection (${code}), trying again`);
        await sleep(150 * 2 ** tries * (1 + Math.random()));
      }
    }
  }

  close(): void {
    this.#jumps.close();
  }

  async #attempt(plan: Plan, options: ConnectOptions): Promise<Connection> {
    try {
      return await this.#open(plan, plan.oneKey, options);
    } catch (error) {
      // A server that breaks off over the early login gets the usual order.
      if (!(error instanceof BrokenOff)) throw error;
      return await this.#open(plan, false, options).catch(again => {
        throw again instanceof BrokenOff ? again.fault : again;
      });
    }
  }

  /** One try: socket, host key, login. */
  async #open(
    plan: Plan,
    pipelined: boolean,
    { signal, onPhase }: ConnectOptions,
  ): Promise<Connection> {
    const { host, address, given } = plan;
    const { connectTimeout, authTimeout } = this.#options;
    const where = `${host.id} (${address.host}:${address.port})`;
    if (signal?.aborted) throw cancelled(where);
    const seconds = connectTimeout ?? given.connectTimeout ?? host.timeout;
    const sock = await this.#socket(plan, seconds, where, signal);
    return await handshake({
      client: this.#newClient(),
      sock,
      plan,
      where,
      pipelined,
      limits: { verified: seconds, login: authTimeout ?? host.timeout },
      verify: key => this.#verify(plan, key),
      onVerified: onPhase && (() => onPhase('auth')),
      signal,
    });
  }

  #verify(plan: Plan, key: Buffer): void {
    const defaultFile = this.#config.defaults('').knownHostsFiles[0] ?? '';
    verifyKeyOf(plan, key, this.#options, defaultFile);
  }

  async #socket(
    { host, address, settings, given }: Plan,
    seconds: number,
    where: string,
    signal?: AbortSignal,
  ): Promise<Duplex> {
    const jump = host.proxy_jump ?? settings.proxyJump;
    if (jump !== undefined && jump !== 'none')
      return await this.#jumps.through(jump, host, address, signal);
    if (settings.proxyCommand !== undefined) return proxyCommand(settings.proxyCommand, where);
    return await tcp(address, given, seconds, where, signal);
  }
}
