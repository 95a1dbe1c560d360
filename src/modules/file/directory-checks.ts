import { dirname, join, relative, resolve } from 'node:path';
import { type DesiredPerms, permDifferences, readPerms } from '../_shared/files/check-perms.ts';
import { isDir, isLink, linkExists } from '../_shared/files/file-paths.ts';
import { readdirSync } from '../_shared/safe-fs/fs.ts';
import { getContext, type LowChunk, type PlainDict } from '../api.ts';
import { isIncluded } from './glob-match.ts';
import { type RecurseSelection, recursedFiles } from './recursed-files.ts';

export type Walked = { readonly path: string; readonly isDir: boolean };

/**
 * Returns everything below a directory, without following links, down to `maxDepth` (0: only the
 * directory itself).
 */
export const walk = (top: string, maxDepth: number | null = null, depth = 0): Walked[] => {
  if (!isDir(top)) return [];
  const found: Walked[] = [];
  for (const entry of readdirSync(top, { withFileTypes: true })) {
    const path = join(top, entry.name);
    const dir = entry.isDirectory() || (entry.isSymbolicLink() && isDir(path));
    if (dir && maxDepth !== null && depth >= maxDepth) continue;
    found.push({ path, isDir: dir });
    if (entry.isDirectory()) for (const below of walk(path, maxDepth, depth + 1)) found.push(below);
  }
  return found;
};

const kinds = ['user', 'group', 'mode', 'ignore_files', 'ignore_dirs', 'silent'];

/** Returns the `recurse` argument as a set, or an error message if it is invalid. */
export const recurseSet = (recurse: unknown): Set<string> | string => {
  if (!recurse || (Array.isArray(recurse) && recurse.length === 0)) return new Set();
  if (!Array.isArray(recurse)) return '"recurse" must be formed as a list of strings';
  const set = new Set(recurse.map(String));
  if ([...set].some(kind => !kinds.includes(kind)))
    return `Types for "recurse" limited to ${kinds.map(kind => `"${kind}"`).join(', ')}.`;
  if (set.has('ignore_files') && set.has('ignore_dirs'))
    return 'Must not specify "recurse" options "ignore_files" and "ignore_dirs" at the same time.';
  return set;
};

/** Returns the permissions that `recurse` requires for one entry below the directory. */
export const desiredBelow = (
  { isDir: dir }: Walked,
  recurse: Set<string>,
  perms: { dir: DesiredPerms; file: DesiredPerms },
): DesiredPerms | undefined => {
  if (recurse.has(dir ? 'ignore_dirs' : 'ignore_files')) return undefined;
  const { user, group, mode, follow = false } = dir ? perms.dir : perms.file;
  return {
    follow,
    ...(recurse.has('user') && { user }),
    ...(recurse.has('group') && { group }),
    ...(recurse.has('mode') && { mode }),
  };
};

/**
 * Returns the differences in owner and mode of a directory or file. The mode of a symlink is not
 * compared.
 */
export const metaChanges = (path: string, wanted: DesiredPerms): PlainDict => {
  if (!linkExists(path)) return { directory: 'new' };
  const asLink = isLink(path) && !wanted.follow;
  const { mode: _, ...owners } = wanted;
  return permDifferences(readPerms(path, wanted.follow ?? false), asLink ? owners : wanted);
};

/**
 * Paths that are not removed from a cleaned directory: single paths, and directories with all their
 * contents.
 */
export type RequiredPaths = {
  readonly paths: readonly string[];
  readonly trees: readonly string[];
};

/**
 * Returns the paths that required file states protect in a cleaned directory: for `file.recurse` the
 * paths it manages, for other states their path with all its contents.
 */
export const requiredPaths = async (require: unknown): Promise<RequiredPaths> => {
  const paths: string[] = [];
  const trees: string[] = [];
  const { lowstate = [] } = getContext();
  for (const requisite of Array.isArray(require) ? require : []) {
    const wanted: unknown = requisite?.file;
    if (typeof wanted !== 'string') continue;
    const named = lowstate.filter(
      low => low.state === 'file' && (low.name === wanted || low.__id__ === wanted),
    );
    if (named.length === 0) paths.push(wanted);
    for (const low of named)
      if (low.fun === 'recurse') for (const path of await keptByRecurse(low)) paths.push(path);
      else {
        paths.push(String(low.name));
        trees.push(String(low.name));
      }
  }
  return { paths, trees };
};

const keptByRecurse = async (low: LowChunk): Promise<string[]> => {
  const path = String(low.name);
  const sources = [low.source].flat().map(each => String(each).replace(/\/+$/, ''));
  const found = await recursedFiles(path, sources, low.__env__, low as RecurseSelection);
  if (!found) return [path];
  const { files, dirs, links } = found;
  return [path, ...dirs, ...[...files, ...links.map(([link]) => link)].map(one => join(path, one))];
};

/**
 * Returns the paths that cleaning a directory removes: those that are neither kept nor parents of
 * kept paths.
 */
export const superfluous = (
  root: string,
  keep: RequiredPaths,
  excludePat: string | string[] | null | undefined,
): string[] => {
  const kept = new Set<string>([root]);
  for (const path of keep.paths.map(item => resolve(item)))
    for (let at = path; !kept.has(at) && at !== dirname(at); at = dirname(at)) kept.add(at);
  const trees = keep.trees.filter(isDir).map(dir => `${resolve(dir)}/`);
  return walk(root)
    .map(({ path }) => path)
    .filter(path => !kept.has(path) && !trees.some(tree => path.startsWith(tree)))
    .filter(path => isIncluded(relative(root, path), null, excludePat));
};

/** Drops paths whose parent directory was removed too, for the list of removed paths. */
export const topmost = (removed: readonly string[]): string[] => {
  const gone = new Set(removed);
  const wentWithOther = (path: string): boolean => {
    const above = dirname(path);
    return above !== path && (gone.has(above) || wentWithOther(above));
  };
  return removed.filter(path => !wentWithOther(path));
};
