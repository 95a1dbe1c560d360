import { join } from 'node:path';

/** The files that the cache has for one project's artifact. */
export type CachePaths = {
  readonly js: string;
  /** The text as it travels. */
  readonly packed: string;
  readonly meta: string;
  /** From the text to its sources; read only to place a fault. */
  readonly map: string;
};

/** Projects with the same modules share the text; what is known of its sources tells their paths. */
export const pathsOf = (
  dir: string,
  key: string,
  { sha256: name }: { sha256: string },
): CachePaths => ({
  js: join(dir, `${name}.js`),
  packed: join(dir, `${name}.br`),
  meta: join(dir, `${name}-${key}.meta`),
  map: join(dir, `${name}-${key}.map`),
});
