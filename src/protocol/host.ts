import type { PlainDict } from './plain.ts';

/** A secret that never prints: wrapped where it enters, opened where it is used. */
export class Secret {
  readonly #value: string;
  constructor(value: string) {
    this.#value = value;
  }
  reveal(): string {
    return this.#value;
  }
  toString(): string {
    return '**********';
  }
  toJSON(): string {
    return '**********';
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return 'Secret(**********)';
  }
}

/** One roster entry, checked and with defaults filled in. Times are in seconds. */
export type Host = {
  /** The minion id. */
  readonly id: string;
  readonly host: string;
  readonly user: string;
  readonly port: number;
  /** What of these nobody has said: an ssh configuration may. */
  readonly unsaid?: readonly ('user' | 'port')[];
  readonly passwd?: Secret;
  /** Path of a private key, or `agent-forwarding` to use the agent only. */
  readonly priv?: string;
  readonly priv_passwd?: Secret;
  readonly identities_only?: boolean;
  readonly sudo?: boolean;
  readonly sudo_user?: string;
  /** What makes root (or `sudo_user`) of the login user; `sudo` where only `sudo: true` is said. */
  readonly become?: 'sudo' | 'su' | 'doas';
  /** The password that `become` asks for where it is not `passwd`. */
  readonly sudo_passwd?: Secret;
  readonly tty?: boolean;
  readonly timeout: number;
  readonly minion_opts: PlainDict;
  readonly grains: PlainDict;
  readonly thin_dir?: string;
  readonly node_bin?: string;
  /** Pinned host key: `SHA256:…` fingerprint or a public key line. */
  readonly host_key?: string;
  readonly set_path?: string;
  readonly proxy_jump?: string;
  readonly transport?: 'ssh2' | 'openssh' | 'local' | 'chroot' | 'container';
  readonly ssh_options?: readonly string[];
  readonly ssh_pre_flight?: string;
  readonly ssh_pre_flight_args?: readonly string[];
  /** A program of the control node, run before the connection: its words. */
  readonly ssh_pre_hook?: readonly string[];
  /** Tunnels `bind:port:host:port` from the host to the control node's side. */
  readonly remote_port_forwards?: readonly string[];
  /** Keep the workspace even when `--wipe` is given. */
  readonly disable_wipe?: boolean;
  /** Umask of the runtime, octal text like `0022`. */
  readonly cmd_umask?: string;
  /** The segment whose workers connect to it, in place of this machine. */
  readonly via?: string;
};
