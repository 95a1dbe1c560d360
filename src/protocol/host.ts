import type { PlainDict } from './plain.ts';

/** A secret that is never printed: wrapped when it is read, revealed where it is used. */
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
  /** Those of these that the roster does not set: an ssh configuration may set them. */
  readonly unsaid?: readonly ('user' | 'port')[];
  readonly passwd?: Secret;
  /** Path of a private key, or `agent-forwarding` to use the agent only. */
  readonly priv?: string;
  readonly priv_passwd?: Secret;
  readonly identities_only?: boolean;
  readonly sudo?: boolean;
  readonly sudo_user?: string;
  /**
   * The program that makes the login user root (or `sudo_user`); `sudo` if only `sudo: true` is
   * set.
   */
  readonly become?: 'sudo' | 'su' | 'doas';
  /** The password for `become`, if it differs from `passwd`. */
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
  /** A program that runs on the control node before the connection, as argv. */
  readonly ssh_pre_hook?: readonly string[];
  /** Tunnels `bind:port:host:port` from the host to the control node's network. */
  readonly remote_port_forwards?: readonly string[];
  /** Keep the workspace even when `--wipe` is given. */
  readonly disable_wipe?: boolean;
  /** Umask of the runtime, an octal string like `0022`. */
  readonly cmd_umask?: string;
  /** The segment whose workers connect to it instead of this machine. */
  readonly via?: string;
};
