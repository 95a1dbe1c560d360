import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { posix } from 'node:path';
import { checkTrusted } from '../trust/check.ts';
import { isWithinRoot, newFile } from './new-file.ts';
import { normalise, resolvedPath } from './root-paths.ts';

/** A file of the roots. */
export type FoundFile = {
  /** Absolute path on the control node. */
  readonly path: string;
  /** Path inside the roots, with slashes. */
  readonly rel: string;
  readonly saltenv: string;
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  readonly mtimeMs: number;
};

/** A file that was found, with the look that found it, if it was just made; unsaved ones have none. */
export type LookedAt = { readonly file: FoundFile; readonly stat: Stats | undefined };

type Places = {
  /** Returns the folders of a saltenv, in order. */
  readonly folders: (saltenv: string) => readonly string[];
  readonly ignored: (path: string) => boolean;
  readonly unsaved: ReadonlyMap<string, string> | undefined;
};

type OfEnv = {
  /** The folders with what their names have before the path of a file in them. */
  readonly roots: readonly { readonly folder: string; readonly prefix: string }[];
  /** By path in the roots; null for those that do not exist. */
  readonly found: Map<string, FoundFile | null>;
};

/** Limit of cached look-ups: hosts may request any number of paths. */
const mostFound = 50_000;

/** Finds the files of saltenvs, each once until `refresh()`. */
export class FileFinder {
  readonly #places: Places;
  readonly #envs = new Map<string, OfEnv>();
  /** Cached paths, without those of listings. */
  #asked = 0;
  readonly #realFolders = new Map<string, string | undefined>();

  constructor(places: Places) {
    this.#places = places;
  }

  /** @throws TsaltError `untrusted` */
  find(path: string, saltenv: string): FoundFile | undefined {
    const known = this.#envs.get(saltenv)?.found.get(path);
    if (known !== undefined) return known ?? undefined;
    if (this.#asked >= mostFound) {
      this.#envs.clear();
      this.#asked = 0;
    }
    this.#asked += 1;
    return this.#findNew(path, saltenv)?.file;
  }

  /**
   * Finds a file of a listing: there are no more of these than files, whatever hosts request.
   *
   * @throws TsaltError `untrusted`
   */
  findListed(path: string, saltenv: string): LookedAt | undefined {
    const known = this.#envs.get(saltenv)?.found.get(path);
    if (known === undefined) return this.#findNew(path, saltenv);
    return known ? { file: known, stat: undefined } : undefined;
  }

  /** Whether something is at the path of a folder. */
  isThere(folder: string): boolean {
    return this.#realFolder(folder) !== undefined;
  }

  /** Discards what was found. */
  refresh(): void {
    this.#envs.clear();
    this.#asked = 0;
    this.#realFolders.clear();
  }

  #findNew(path: string, saltenv: string): LookedAt | undefined {
    const { roots, found } = this.#ofEnv(saltenv);
    const result = this.#find(path, saltenv, roots);
    found.set(path, result?.file ?? null);
    return result;
  }

  #ofEnv(saltenv: string): OfEnv {
    const known = this.#envs.get(saltenv);
    if (known) return known;
    const roots = this.#places
      .folders(saltenv)
      .map(folder => ({ folder, prefix: posix.join(folder, '-').slice(0, -1) }));
    const made: OfEnv = { roots, found: new Map() };
    this.#envs.set(saltenv, made);
    return made;
  }

  #find(path: string, saltenv: string, roots: OfEnv['roots']): LookedAt | undefined {
    const rel = normalise(path);
    if (rel === undefined) return undefined;
    const { ignored, unsaved } = this.#places;
    for (const { folder, prefix } of roots) {
      const root = this.#realFolder(folder);
      const full = `${prefix}${rel}`;
      const text = unsaved?.get(full);
      const saved = root === undefined ? undefined : this.#stat(root, full);
      const file = saved?.stat ?? (text === undefined ? undefined : newFile(folder, full, text));
      if (!file || ignored(rel)) continue;
      checkTrusted(full, `The file salt://${rel}`, saved?.entry);
      const { size, mode, mtimeMs } = file;
      return {
        file: { path: full, rel, saltenv, size, mode: mode & 0o7777, mtimeMs },
        stat: saved?.stat,
      };
    }
    return undefined;
  }

  #stat(root: string, full: string): { entry: Stats; stat: Stats } | undefined {
    try {
      const entry = lstatSync(full, unlessMissing);
      if (!entry) return undefined;
      const isLink = entry.isSymbolicLink();
      const above = this.#realFolder(posix.dirname(full));
      if (above === undefined) return undefined;
      const real = isLink ? realpathSync.native(full) : above;
      if (!isWithinRoot(root, real)) return undefined;
      const stat = isLink ? statSync(real) : entry;
      return stat.isFile() ? { entry, stat } : undefined;
    } catch {
      return undefined;
    }
  }

  /** The path of a folder without links; undefined if there is none. */
  #realFolder(folder: string): string | undefined {
    const known = this.#realFolders.get(folder);
    if (known !== undefined || this.#realFolders.has(folder)) return known;
    const real = resolvedPath(folder);
    if (this.#realFolders.size >= mostFound) this.#realFolders.clear();
    this.#realFolders.set(folder, real);
    return real;
  }
}

const unlessMissing = { throwIfNoEntry: false } as const;
