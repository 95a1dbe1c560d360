import type { RuntimeKind } from '../loader/config.ts';
import type { Artifact } from '../protocol/artifact.ts';
import type { Phase } from '../protocol/event.ts';
import type { Host, Secret } from '../protocol/host.ts';
import type { Hello } from '../protocol/job.ts';
import type { Handler, Peer, PeerOptions } from '../protocol/peer.ts';
import type { NodeSource } from './node-source.ts';
import type { Connection } from './transport.ts';

export type RuntimeOptions = {
  readonly connection: Connection;
  readonly host: Host;
  readonly artifact: SentProgram;
  /**
   * A smaller program that only collects grains: it is sent and started instead where the host
   * lacks the artifact.
   */
  readonly grainsProgram?: SentProgram;
  /** `ssh_pre_flight` has run on this connection. */
  readonly isPrepared?: boolean;
  /** Supplies a Node for the host if it has none. */
  readonly nodeSource?: NodeSource;
  /** The host's requests and events; `hello`, `ping` and `pong` are handled by the link. */
  readonly handlers: Readonly<Record<string, Handler>>;
  readonly events: Readonly<Record<string, (payload: never) => void>>;
  /**
   * Called once, before anything is known of the host: messages that it sends through the peer
   * travel with the command, and the runtime reads them when it begins.
   */
  readonly early?: (peer: Peer) => void;
  /** See `PeerOptions`. */
  readonly explain?: PeerOptions['explain'];
  readonly limits?: PeerOptions['limits'];
  readonly onPhase?: (phase: Phase, detail?: string) => void;
  /** Called when the command was sent: the host is busy for a while. */
  readonly onSent?: () => void;
  /** Called before the first message of a program that the host starts. */
  readonly onStart?: (started: Pick<Link, 'isGrainsOnly'>) => void;
  readonly signal?: AbortSignal;
  readonly timeouts?: Timeouts;
  /** Called if sudo requires a password that the roster does not have. */
  readonly askSudoPassword?: () => Promise<Secret>;
  /** Run `ssh_pre_flight` even if it has already run. */
  readonly preFlight?: boolean;
  /** See `LoaderConfig`. */
  readonly kind?: RuntimeKind;
  /** Leave nothing on the host. */
  readonly wipe?: boolean;
  /** A workspace with a random name, for this run only; implies `wipe`. */
  readonly randomDir?: boolean;
};

/** A program that is sent to hosts that lack it. */
export type SentProgram = Pick<Artifact, 'sha256' | 'size' | 'compressed' | 'codeCache'>;

export type Timeouts = {
  /**
   * Seconds that a host may take for each step until its runtime's hello. Default: the host's
   * `timeout`.
   */
  readonly hello?: number;
  /**
   * Seconds between pings; after three of them without any byte the link counts as lost. Default
   * 10.
   */
  readonly heartbeat?: number;
  /** Seconds that the runtime may live in all. Default: no limit. */
  readonly total?: number;
};

/** A running runtime. */
export type Link = {
  readonly hello: Hello;
  readonly peer: Peer;
  /** Whether the host already had the program. */
  readonly cached: boolean;
  /** Whether the host compiled the program, for want of a code cache. */
  readonly compiled: boolean;
  /** The program that only collects grains runs, since the host lacks the artifact. */
  readonly isGrainsOnly: boolean;
  /** Node's version on the host. */
  readonly node: string;
  /** Other output of the host, cleaned, for diagnostics. */
  readonly diagnostics: () => string;
  /** Resolves with the reason when the runtime has ended in any way. Never rejects. */
  readonly ended: Promise<unknown>;
  /** Ends the runtime; open requests reject. */
  readonly close: () => void;
  /** Lets the runtime end by itself, before another one is started on the connection. */
  readonly finish: () => Promise<void>;
};
