import { join } from 'node:path';

/** A file of the system, or of another system below a folder. */
export const inRoot = (path: string, root: string | null | undefined): string =>
  root ? join(root, path) : path;

/** Tells a tool of the shadow suite to work on the system below a folder. */
export const rootFlags = (root: string | null | undefined): string[] =>
  root ? ['--root', root] : [];
