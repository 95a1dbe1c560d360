import { type Dirent, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

export type Tree = {
  readonly files: readonly string[];
  readonly dirs: readonly string[];
  readonly emptyDirs: readonly string[];
  readonly links: ReadonlyMap<string, string>;
};

type Rules = {
  readonly ignored: (path: string) => boolean;
  /** Walk into linked folders. */
  readonly follow: boolean;
  readonly skipLinks: boolean;
};

/** Lists several folders as one tree. Links that are broken or lead out of it are left out. */
export const listTree = (folders: readonly string[], rules: Rules): Tree => {
  const trees = folders.map(folder => listRoot(folder, rules));
  const [only] = trees;
  if (only && trees.length === 1) return only;
  return {
    files: union(trees.map(({ files }) => files)),
    dirs: union(trees.map(({ dirs }) => dirs)),
    emptyDirs: union(trees.map(({ emptyDirs }) => emptyDirs)),
    links: new Map(trees.flatMap(({ links }) => [...links])),
  };
};

const union = (lists: readonly (readonly string[])[]): string[] => sorted(lists.flat());

/** Two names that are not UTF-8 may be read as one. */
const sorted = (paths: string[]): string[] =>
  paths.sort().filter((path, at) => path !== paths[at - 1]);

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a directory walk in one loop, without recursion
const listRoot = (folder: string, rules: Rules): Tree => {
  const files: string[] = [];
  const dirs: string[] = [];
  const empty: string[] = [];
  const links = new Map<string, string>();
  const root = realpathSync(folder);
  const pending: { rel: string; above: readonly string[] }[] = [{ rel: '', above: [root] }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { rel: parent, above } = next;
    const entries = entriesOf(join(folder, parent));
    if (entries.length === 0 && parent !== '') empty.push(parent);
    const here: string[] = [];
    for (const entry of entries) {
      const rel = parent === '' ? entry.name : `${parent}/${entry.name}`;
      const isLink = entry.isSymbolicLink();
      if ((isLink && rules.skipLinks) || rules.ignored(rel)) continue;
      const target = isLink ? targetOf(join(folder, rel), root) : undefined;
      if (isLink && !target) continue;
      if (isLink) links.set(rel, readlinkSync(join(folder, rel)));
      if (target ? target.isDirectory : entry.isDirectory()) {
        dirs.push(rel);
        const real = target?.path ?? join(above.at(-1) ?? root, entry.name);
        if ((rules.follow || !isLink) && !above.includes(real))
          pending.push({ rel, above: [...above, real] });
      } else if (target ? target.isFile : entry.isFile()) here.push(rel);
    }
    // Short lists are sorted faster, and the whole one hardly takes time after that.
    for (const file of here.sort()) files.push(file);
  }
  return { files: sorted(files), dirs: sorted(dirs), emptyDirs: sorted(empty), links };
};

const entriesOf = (folder: string): Dirent[] => {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
};

type Target = { readonly path: string; readonly isDirectory: boolean; readonly isFile: boolean };

const targetOf = (link: string, root: string): Target | undefined => {
  try {
    const path = realpathSync(link);
    if (path !== root && !path.startsWith(root + sep)) return undefined;
    const stat = statSync(path);
    return { path, isDirectory: stat.isDirectory(), isFile: stat.isFile() };
  } catch {
    return undefined;
  }
};
