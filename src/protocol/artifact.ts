import type { SourceLocation } from './error.ts';
import type { ModuleMeta } from './meta.ts';
import type { StackPosition } from './stack.ts';

/** The one file that runs on every host, named by its hash. */
export type Artifact = {
  /** Hex SHA-256 of the JavaScript text. */
  readonly sha256: string;
  /** Size of the JavaScript text in bytes. */
  readonly size: number;
  /** The text compressed by brotli; read only when a host lacks it. */
  readonly compressed: () => Promise<Uint8Array>;
  /** Absent for programs that compile fast. */
  readonly codeCache?: ArtifactCode;
  /** The text's path on the control node, for transports that share its file system. */
  readonly path: string;
  /** The modules in the artifact, for documentation and argument checks. */
  readonly modules: readonly ModuleMeta[];
  /**
   * Maps positions in the text to the sources, in the same order; leaves out positions without a
   * source.
   */
  readonly trace: (positions: readonly StackPosition[]) => readonly TracedLocation[];
};

/** V8's code cache of an artifact, for hosts with the Node of the control node. */
export type ArtifactCode = {
  /**
   * Returns it compressed, in the form in which hosts keep it. Undefined if the host has another
   * Node, or if there is none yet: then it is made meanwhile, for later hosts.
   *
   * @param engine host-supplied: the hash of what the host's V8 is
   */
  readonly take: (engine: unknown) => Promise<Uint8Array | undefined>;
  /** Waits at the end of a run until one that is being made is kept, or stops making it. */
  readonly finish: (signal: AbortSignal) => Promise<void>;
};

/** A position in a source of the artifact. */
export type TracedLocation = SourceLocation & {
  /** The source is the user's, not tsalt-ssh's or a package's. */
  readonly own: boolean;
};
