import type { Manifest } from '../protocol/manifest.ts';
import { collectGrains } from './collect-grains.ts';
import { createRegistry } from './registry.ts';
import { serve } from './serve.ts';

/** What the bootstrap hands to the artifact it runs (`transport/loader.ts`). */
declare const TS: {
  /** The workspace. */
  readonly dir: string;
  /** Bytes of the wire that came before the artifact ran. */
  readonly pre?: Uint8Array;
};

/** The artifact's start: serves the control node with the modules of the manifest. */
export const start = ({ manifest }: { readonly manifest: Manifest }): void => {
  const registry = createRegistry(manifest);
  serve({
    registry,
    collectGrains: log => collectGrains(registry, log),
    dir: TS.dir,
    ...(TS.pre === undefined ? {} : { preloaded: TS.pre }),
  });
};
