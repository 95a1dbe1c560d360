import { join } from 'node:path';

/** The files in the cache for one project's artifact. */
export type CachePaths = {
  readonly js: string;
  /** The text in the compressed form that is sent. */
  readonly packed: string;
  /** Its code cache in the form that is sent; `-` and a hash of the V8 follow. */
  readonly code: string;
  readonly meta: string;
  /** Maps the text to its sources; read only to locate an error. */
  readonly map: string;
};

/**
 * Projects with the same modules share the text, but not the data about its sources, which contain
 * paths.
 */
export const pathsOf = (
  dir: string,
  key: string,
  { sha256: name }: { sha256: string },
): CachePaths => ({
  js: join(dir, `${name}.js`),
  packed: join(dir, `${name}.br`),
  code: join(dir, `${name}.code`),
  meta: join(dir, `${name}-${key}.meta`),
  map: join(dir, `${name}-${key}.map`),
});
