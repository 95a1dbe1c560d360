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
  readonly artifact: Pick<Artifact, 'sha256' | 'size' | 'compressed'>;
  /** Where a Node for the host comes from when it has none. */
  readonly nodeSource?: NodeSource;
  /** What the host may ask, and what it may tell; `hello`, `ping` and `pong` are the link's own. */
  readonly handlers: Readonly<Record<string, Handler>>;
  readonly events: Readonly<Record<string, (payload: never) => void>>;
  /**
   * Called once, before anything is known of the host: what it sends by the peer travels with the
   * command, and the runtime finds it when it begins.
   */
  readonly early?: (peer: Peer) => void;
  /** See `PeerOptions`. */
  readonly explain?: PeerOptions['explain'];
  readonly limits?: PeerOptions['limits'];
  readonly onPhase?: (phase: Phase, detail?: string) => void;
  /** The command is there: the host is busy for a while. */
  readonly onSent?: () => void;
  readonly signal?: AbortSignal;
  readonly timeouts?: Timeouts;
  /** Asked when sudo wants a password that the roster does not have. */
  readonly askSudoPassword?: () => Promise<Secret>;
  /** Run `ssh_pre_flight` even where it has run. */
  readonly preFlight?: boolean;
  /** What sort of run it is, a word: see `LoaderConfig`. */
  readonly kind?: 'state';
  /** Leave nothing on the host. */
  readonly wipe?: boolean;
  /** A workspace with a random name, for this run only; implies `wipe`. */
  readonly randomDir?: boolean;
};

export type Timeouts = {
  /** Seconds a host may take for each step until its runtime says hello. Default: the host's `timeout`. */
  readonly hello?: number;
  /** Seconds between pings; after three without any byte the link counts as lost. Default 10. */
  readonly heartbeat?: number;
  /** Seconds the runtime may live in all. Default: no bound. */
  readonly total?: number;
};

/** A running runtime. */
export type Link = {
  readonly hello: Hello;
  readonly peer: Peer;
  /** Was the artifact there already? */
  readonly cached: boolean;
  /** Node's version on the host. */
  readonly node: string;
  /** What the host printed beside the wire, cleaned, for diagnostics. */
  readonly diagnostics: () => string;
  /** Resolves with the reason when the runtime is gone, whoever ended it. Never rejects. */
  readonly ended: Promise<unknown>;
  /** Ends the runtime; open requests reject. */
  readonly close: () => void;
};
