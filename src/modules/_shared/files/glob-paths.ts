import { join } from 'node:path';
import { fnmatch } from '../../../data/python/glob.ts';
import { readdirSync } from '../safe-fs/fs.ts';
import { isDir, linkExists } from './file-paths.ts';

const magic = /[*?[]/;

/** Paths that match a glob, sorted. As in Python, `*` does not match a leading dot or a slash. */
export const globPaths = (pattern: string): string[] => {
  if (!magic.test(pattern)) return linkExists(pattern) ? [pattern] : [];
  let found = [pattern.startsWith('/') ? '/' : '.'];
  for (const part of pattern.split('/').filter(Boolean))
    found = magic.test(part)
      ? found.filter(isDir).flatMap(dir => matching(dir, part))
      : found.map(dir => join(dir, part)).filter(linkExists);
  return found.sort();
};

const matching = (dir: string, part: string): string[] =>
  readdirSync(dir)
    .filter(name => (part.startsWith('.') || !name.startsWith('.')) && fnmatch(name, part))
    .map(name => join(dir, name));
