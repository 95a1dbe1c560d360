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

/** A position in a source of the artifact. */
export type TracedLocation = SourceLocation & {
  /** The source is the user's, not tsalt-ssh's or a package's. */
  readonly own: boolean;
};
