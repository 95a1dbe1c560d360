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
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a directory walk in one loop, without recursion
export const listTree = (folders: readonly string[], rules: Rules): Tree => {
  const files = new Set<string>();
  const dirs = new Set<string>();
  const empty = new Set<string>();
  const links = new Map<string, string>();

  for (const folder of folders) {
    const root = realpathSync(folder);
    const pending: { rel: string; above: readonly string[] }[] = [{ rel: '', above: [root] }];
    for (let next = pending.pop(); next; next = pending.pop()) {
      const { rel: parent, above } = next;
      const entries = entriesOf(join(folder, parent));
      if (entries.length === 0 && parent !== '') empty.add(parent);
      for (const entry of entries) {
        const rel = parent === '' ? entry.name : `${parent}/${entry.name}`;
        const isLink = entry.isSymbolicLink();
        if ((isLink && rules.skipLinks) || rules.ignored(rel)) continue;
        const full = join(folder, rel);
        const target = isLink ? targetOf(full, root) : undefined;
        if (isLink && !target) continue;
        if (isLink) links.set(rel, readlinkSync(full));
        if (target ? target.isDirectory : entry.isDirectory()) {
          dirs.add(rel);
          const real = target?.path ?? join(above.at(-1) ?? root, entry.name);
          if ((rules.follow || !isLink) && !above.includes(real))
            pending.push({ rel, above: [...above, real] });
        } else if (target ? target.isFile : entry.isFile()) files.add(rel);
      }
    }
  }
  return {
    files: [...files].sort(),
    dirs: [...dirs].sort(),
    emptyDirs: [...empty].sort(),
    links,
  };
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
