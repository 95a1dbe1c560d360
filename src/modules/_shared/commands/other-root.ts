import { join } from 'node:path';

/** A file of the system, or of another system below a folder. */
export const inRoot = (path: string, root: string | null | undefined): string =>
  root ? join(root, path) : path;

/** Options that make a tool of the shadow suite work on the system below a folder. */
export const rootFlags = (root: string | null | undefined): string[] =>
  root ? ['--root', root] : [];
