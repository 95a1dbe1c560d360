import { TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import { onAbort } from '../../protocol/on-abort.ts';
import type { HostAddress } from '../known-hosts.ts';
import type { SshConfig } from '../ssh-config.ts';
import type { Connection } from '../transport.ts';
import { cancelled, readable, unreachable } from '../unreachable.ts';
import { type OpenWay, openWay } from './socket.ts';

/** The jump hosts of one run. Each is connected once, and verified like any host. */
export class Jumps {
  readonly #config: SshConfig;
  readonly #connect: (hop: Host) => Promise<Connection>;
  readonly #opened = new Map<string, Promise<Connection>>();

  constructor(config: SshConfig, connect: (hop: Host) => Promise<Connection>) {
    this.#config = config;
    this.#connect = connect;
  }

  /** `a,b,c`: c is reached through b, which is reached through a. */
  async through(
    jump: string,
    host: Host,
    address: HostAddress,
    signal?: AbortSignal,
  ): Promise<OpenWay> {
    const hops = jump.split(',');
    const last = hops.pop() ?? '';
    const key = JSON.stringify([jump, host.user, host.priv]);
    const hop = this.#opened.get(key) ?? this.#connectHop(last, hops.join(','), host);
    this.#opened.set(key, hop);
    hop.catch(() => this.#forget(key, hop));
    // Other hosts use this connection too, so aborting one host must not end it.
    const connection = await unlessAborted(hop, signal, host.id);
    if (connection.lost() !== undefined) {
      this.#forget(key, hop);
      return this.through(jump, host, address, signal);
    }
    const { forward, isFar = false } = connection;
    if (!forward) throw new Error('a jump host that cannot forward');
    const opened = await openWay(() => forward(address.host, address.port)).catch(error => {
      throw unreachable(`${host.id} (${address.host}:${address.port}) through ${last}`, error);
    });
    return { ...opened, isFar: isFar || opened.isFar };
  }

  #forget(key: string, opened: Promise<Connection>): void {
    if (this.#opened.get(key) === opened) this.#opened.delete(key);
  }

  close(): void {
    for (const jump of this.#opened.values())
      jump.then(
        connection => connection.close(),
        () => undefined,
      );
    this.#opened.clear();
  }

  async #connectHop(text: string, before: string, target: Host): Promise<Connection> {
    const hop = parseHop(text);
    const settings = await this.#config.settings(hop.host, hop.user, hop.port);
    return await this.#connect({
      id: hop.host,
      host: hop.host,
      user: hop.user ?? settings.user ?? target.user,
      port: hop.port ?? settings.port ?? 22,
      timeout: target.timeout,
      minion_opts: {},
      grains: {},
      ...(target.priv === undefined ? {} : { priv: target.priv }),
      ...(target.priv_passwd === undefined ? {} : { priv_passwd: target.priv_passwd }),
      ...(before === '' ? {} : { proxy_jump: before }),
    });
  }
}

const unlessAborted = <T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  id: string,
): Promise<T> =>
  new Promise((resolve, reject) => {
    const release = onAbort(signal, () => reject(cancelled(id)));
    work.then(resolve, reject).finally(release);
  });

const parseHop = (text: string): { host: string; user?: string; port?: number } => {
  const match = /^(?:ssh:\/\/)?(?:([^@\s]+)@)?(\[[^\]\s]+\]|[^:@\s]+)(?::(\d+))?\/?$/.exec(
    text.trim(),
  );
  const host = match?.[2]?.replace(/^\[|\]$/g, '');
  if (!host)
    throw new TsaltError('proxy-jump', `"${readable(text, 80)}" is not a jump host.`, {
      hint: 'Write [user@]host[:port], several with commas between.',
    });
  return {
    host,
    ...(match?.[1] === undefined ? {} : { user: match[1] }),
    ...(match?.[3] === undefined ? {} : { port: Number(match[3]) }),
  };
};
