/** The argument of the loader, as base64 JSON. */
export type LoaderConfig = {
  /** SHA-256 of the artifact. */
  readonly sha: string;
  /** Bytes of the artifact, unpacked. */
  readonly size: number;
  /** Runs instead where the workspace lacks the artifact: the program that only collects grains. */
  readonly grains?: { readonly sha: string; readonly size: number };
  /** Workspace of the roster (`thin_dir`), else the usual places. */
  readonly thin?: string;
  /** Added to the usual names: a workspace for this run only. */
  readonly suffix?: string;
  readonly wipe?: boolean;
  /** Octal umask of the runtime. */
  readonly umask?: string;
  /** Runs of one kind share a code cache: V8 reads it whole, so it holds what they use. */
  readonly kind?: RuntimeKind;
};

/**
 * `state`: it runs states; `lazy`: it calls one function, and collects grains only when it is asked
 * for them; `state-lazy`: it runs states, and collects grains only when something needs them.
 */
export type RuntimeKind = 'state' | 'state-lazy' | 'lazy';

/** The type of the frame that contains the artifact: only the loader knows it. */
export const artifactFrame = 3;

/** The type of a frame before it, with a code cache of the artifact. It too is only the loader's. */
export const codeFrame = 7;
