import type { SourceLocation } from './error.ts';
import type { ModuleMeta } from './meta.ts';
import type { StackPosition } from './stack.ts';

/** The one file that runs on every host, named by its hash. */
export type Artifact = {
  /** Hex SHA-256 of the JavaScript text. */
  readonly sha256: string;
  /** Bytes of the JavaScript text. */
  readonly size: number;
  /** The text compressed by brotli; read only when a host lacks it. */
  readonly compressed: () => Promise<Uint8Array>;
  /** The text's path on the control node, for transports that share its file system. */
  readonly path: string;
  /** What the artifact contains, for documentation and argument checks. */
  readonly modules: readonly ModuleMeta[];
  /** The sources of positions in the text, in the same order; those without one are left out. */
  readonly trace: (positions: readonly StackPosition[]) => readonly TracedPlace[];
};

/** A place in a source of the artifact. */
export type TracedPlace = SourceLocation & {
  /** The source is the user's: neither tsalt-ssh's own nor that of a package. */
  readonly own: boolean;
};
