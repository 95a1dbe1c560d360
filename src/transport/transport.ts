import type { Readable, Writable } from 'node:stream';
import type { Host, Secret } from '../protocol/host.ts';

/** How a command on a host ended. */
export type Exit = { readonly code: number | null; readonly signal: string | null };

/** A running command on a host: its three streams and its end. */
export type Channel = {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once, after both output streams are finished. Never rejects. */
  readonly exited: Promise<Exit>;
  /** Sends a signal to the command's process group, if the transport can. */
  readonly signal: (name: 'INT' | 'TERM' | 'KILL') => void;
  /** Ends the channel at once; the command sees end of file on its stdin. */
  readonly close: () => void;
  /** Sets the size of the command's terminal, if it has one. */
  readonly resize?: (size: TerminalSize) => void;
};

export type TerminalSize = { readonly columns: number; readonly rows: number };

/** An interactive terminal, with echo and line editing. */
export type PersonsTerminal = TerminalSize & { readonly term: string };

export type ExecOptions = {
  /**
   * A terminal for the command: a raw one (`true`), which sudo's `requiretty` needs, or an
   * interactive one. stderr is then part of stdout.
   */
  readonly pty?: boolean | PersonsTerminal;
};

/** A program of this machine that uses this process's terminal. */
export type Foreground = {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
};

/** An authenticated link to one host. */
export type Connection = {
  readonly host: Host;
  /** Which implementation this is, for messages. */
  readonly transport: TransportName;
  /** The host is so far away that it is worth the time to compress what is sent. */
  readonly isFar?: boolean;
  /** Runs one command line through the user's login shell. */
  readonly exec: (command: string, options?: ExecOptions) => Promise<Channel>;
  /** Starts the user's login shell at a terminal; absent where `foreground` does that. */
  readonly shell?: (terminal: PersonsTerminal) => Promise<Channel>;
  /** Returns the program that runs a command, or a login shell, at this process's terminal. */
  readonly foreground?: (command?: string) => Foreground;
  /** Opens a TCP connection from the host (jump hosts); absent if that is not possible. */
  readonly forward?: (host: string, port: number) => Promise<import('node:stream').Duplex>;
  /** Returns the error that ended the link, if it ended by itself. */
  readonly lost: () => Error | undefined;
  /**
   * Returns the login error behind a command that ended before it began, if that was the reason.
   */
  readonly explain?: (exit: Exit, stderr: string) => Error | undefined;
  readonly close: () => void;
};

export type TransportName = NonNullable<Host['transport']>;

export type ConnectOptions = {
  readonly signal?: AbortSignal;
  readonly keysOnly?: boolean;
  /** Called when the host is verified and the login begins. */
  readonly onPhase?: (phase: 'auth') => void;
};

/** Opens connections for one run; keys, known hosts and jump hosts are read and opened once. */
export type Transport = {
  /**
   * Connects, verifies the host, and logs in (`keysOnly`: without password or prompt). Throws a
   * `TsaltError` of kind `unreachable`, `host-key` or `auth`.
   */
  readonly connect: (host: Host, options?: ConnectOptions) => Promise<Connection>;
  /** Closes connections that the run shares (jump hosts). */
  readonly close: () => void;
};

/** The subject of a prompt; the same shape as the request's `Question`. */
export type SecretQuestion = {
  readonly host: string;
  readonly what: 'password' | 'sudo-password' | 'passphrase' | 'keyboard-interactive';
  readonly prompt: string;
};

export type AskSecret = (question: SecretQuestion) => Promise<Secret>;

export type HostKeyMode = 'strict' | 'accept-new' | 'ignore';

export type TransportOptions = {
  /**
   * `strict` (default), `accept-new` (unknown keys are recorded) or `ignore`. A changed key is
   * always refused.
   */
  readonly hostKeys?: HostKeyMode;
  /**
   * Files of known host keys that replace the user's and the system's. New keys are added to the
   * first.
   */
  readonly knownHostsFiles?: readonly string[];
  /** The ssh configuration to use; `false` for none. Default: the user's and the system's. */
  readonly sshConfig?: string | false;
  /** `--transport`: for every host whose roster entry does not set one. */
  readonly transport?: TransportName;
  readonly ask?: AskSecret;
  /** Seconds until a connection is open and the host verified. Default: the host's `timeout`. */
  readonly connectTimeout?: number;
  /** Seconds until the login has succeeded. Default: the host's `timeout`. */
  readonly authTimeout?: number;
  /** Offers only the configured key. */
  readonly identitiesOnly?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Writes a line to the log: never a secret. */
  readonly log?: (message: string) => void;
};
