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
  /** Asks the command's process group to end, where the transport can. */
  readonly signal: (name: 'INT' | 'TERM' | 'KILL') => void;
  /** Ends the channel at once; the command sees end of file on its stdin. */
  readonly close: () => void;
  /** Sets the size of the command's terminal, where it has one. */
  readonly resize?: (size: TerminalSize) => void;
};

export type TerminalSize = { readonly columns: number; readonly rows: number };

/** A terminal as a person has it, with echo and line editing. */
export type PersonsTerminal = TerminalSize & { readonly term: string };

export type ExecOptions = {
  /**
   * A terminal for the command: needed by sudo's `requiretty`, where `true` is a raw one, and by
   * people. stderr is then part of stdout.
   */
  readonly pty?: boolean | PersonsTerminal;
};

/** A program of this machine that has the terminal of this process. */
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
  /** Runs one command line through the user's login shell. */
  readonly exec: (command: string, options?: ExecOptions) => Promise<Channel>;
  /** Starts the user's login shell at a terminal; absent where `foreground` does that. */
  readonly shell?: (terminal: PersonsTerminal) => Promise<Channel>;
  /** Returns what runs a command, or a login shell, at this process's own terminal. */
  readonly foreground?: (command?: string) => Foreground;
  /** A TCP connection made by the host (jump hosts); absent where that is not possible. */
  readonly forward?: (host: string, port: number) => Promise<import('node:stream').Duplex>;
  /** What made the link end, where it ended by itself. */
  readonly lost: () => Error | undefined;
  /** A command that ended before it began: the login fault behind it, if that was the reason. */
  readonly explain?: (exit: Exit, stderr: string) => Error | undefined;
  readonly close: () => void;
};

export type TransportName = NonNullable<Host['transport']>;

export type ConnectOptions = {
  readonly signal?: AbortSignal;
  readonly keysOnly?: boolean;
  /** Hears that the host is verified and the login begins. */
  readonly onPhase?: (phase: 'auth') => void;
};

/** Opens connections for one run; keys, known hosts and jump hosts are read and opened once. */
export type Transport = {
  /** Connects, verifies the host, logs in (`keysOnly`: by no password, and asking nobody). Throws a `TsaltError` of kind `unreachable`, `host-key` or `auth`. */
  readonly connect: (host: Host, options?: ConnectOptions) => Promise<Connection>;
  /** Closes what the run shares (jump hosts). */
  readonly close: () => void;
};

/** What a prompt is about; the same shape as the request's `Question`. */
export type SecretQuestion = {
  readonly host: string;
  readonly what: 'password' | 'sudo-password' | 'passphrase' | 'keyboard-interactive';
  readonly prompt: string;
};

export type AskSecret = (question: SecretQuestion) => Promise<Secret>;

export type HostKeyMode = 'strict' | 'accept-new' | 'ignore';

export type TransportOptions = {
  /** `strict` (default), `accept-new` (unknown keys are written down) or `ignore`. A changed key is refused in each. */
  readonly hostKeys?: HostKeyMode;
  /** Files of known host keys instead of the user's and the system's. New keys go to the first. */
  readonly knownHostsFiles?: readonly string[];
  /** The ssh configuration to use; `false` for none. Default: the user's and the system's. */
  readonly sshConfig?: string | false;
  /** `--transport`: for every host whose roster entry names none. */
  readonly transport?: TransportName;
  readonly ask?: AskSecret;
  /** Seconds until a connection stands and the host is verified. Default: the host's `timeout`. */
  readonly connectTimeout?: number;
  /** Seconds until the login is through. Default: the host's `timeout`. */
  readonly authTimeout?: number;
  /** Offers no key but the configured one. */
  readonly identitiesOnly?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Takes a line for the log: never a secret. */
  readonly log?: (message: string) => void;
};
