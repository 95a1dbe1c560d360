import { dirname, join } from 'node:path';
import { renderRequest, type TemplateArguments } from '../../protocol/prefetch.ts';
import { Turns } from '../../protocol/turns.ts';
import type { DesiredPerms } from '../_shared/files/check-perms.ts';
import { accountIds } from '../_shared/files/file-checks.ts';
import { keepsMode, modeText } from '../_shared/files/file-mode.ts';
import { lstatOf } from '../_shared/files/file-paths.ts';
import { expectFiles, listedFile } from '../_shared/sources/control-files.ts';
import { accumulatedFor } from './accumulators.ts';
import { isAlready } from './already.ts';
import { type ControlFolder, controlFolder, type ListedFolder } from './control-folder.ts';
import { isIncluded } from './glob-match.ts';

/** The entries of a folder in the file roots that `file.recurse` creates below a directory. */
export type RecursedFiles = {
  readonly folder: ControlFolder;
  /** Relative to the folder. */
  readonly files: readonly string[];
  /** Absolute paths: all directories, and those that contain no file. */
  readonly dirs: readonly string[];
  readonly emptyDirs: readonly string[];
  /** Symlinks, relative to the folder, and their targets. */
  readonly links: readonly (readonly [link: string, target: string])[];
};

export type RecurseSelection = {
  readonly include_empty?: boolean;
  readonly keep_symlinks?: boolean;
  readonly include_pat?: string | string[] | null;
  readonly exclude_pat?: string | string[] | null;
  readonly maxdepth?: number | null;
  /** Whether the files are used: their hashes come along. */
  readonly hashes?: boolean;
  /** Compares files that have arrived, while the hashes of others are computed. */
  readonly compare?: ((folder: ListedFolder, file: string) => void) | undefined;
};

/**
 * Returns the entries that `file.recurse` manages at `path`; undefined if none of its sources
 * exists.
 */
export const recursedFiles = async (
  path: string,
  sources: readonly string[],
  saltenv: string,
  {
    include_empty = false,
    keep_symlinks = false,
    include_pat = null,
    exclude_pat = null,
    maxdepth = null,
    hashes = false,
    compare,
  }: RecurseSelection,
): Promise<RecursedFiles | undefined> => {
  const wanted = (relative: string): boolean =>
    (maxdepth === null || relative.split('/').length - 1 <= maxdepth) &&
    !relative.split('/').includes('..') &&
    isIncluded(relative, include_pat, exclude_pat);
  const folder = await controlFolder(sources, saltenv, {
    dirs: include_empty,
    symlinks: keep_symlinks,
    hashes,
    onPiece: (of, names) => {
      for (const name of names) if (wanted(name)) compare?.(of, name);
    },
  });
  if (!folder) return undefined;
  const links = Object.entries(folder.symlinks).filter(([link]) => wanted(link));
  const behindLink = (relative: string): boolean =>
    links.some(([link]) => relative === link || relative.startsWith(`${link}/`));
  const files = folder.files.filter(file => wanted(file) && !behindLink(file));
  const emptyDirs = folder.dirs
    .filter(dir => wanted(dir) && !behindLink(dir))
    .map(dir => join(path, dir));
  const fileDirs = files.map(file => dirname(join(path, file)));
  return {
    folder,
    files,
    emptyDirs,
    links,
    dirs: [...new Set([...fileDirs, ...emptyDirs])].sort(),
  };
};

/** The URL of a file of the folder. */
export const sourceIn = ({ source, query }: ControlFolder, file: string): string =>
  `${source}/${file}${query}`;

/** Whether a file is as it should be, does not exist, or differs. */
type Finding = 'present' | 'absent' | 'other';

/**
 * Finds the files of a folder that are already on the host as they should be. Most runs find all of
 * them: a state for each file would take several times as long as the comparison.
 */
export class PresentFiles {
  readonly #path: string;
  readonly #mode: DesiredPerms['mode'];
  readonly #owners: Pick<DesiredPerms, 'user' | 'group'>;
  readonly #ids: ReturnType<typeof accountIds>;
  readonly #isUsed: boolean;
  readonly #found = new Map<string, Finding>();
  /** The directory of the file that was looked at last. */
  #dir = '';
  #isThere = false;

  /**
   * @param path the directory they are written below
   * @param perms of all of them; the mode may be `keep`
   * @param isUsed false: each file has a state of its own
   */
  constructor(
    path: string,
    { mode, ...owners }: Pick<DesiredPerms, 'user' | 'group' | 'mode'>,
    isUsed: boolean,
  ) {
    this.#isUsed = isUsed;
    this.#path = path;
    this.#mode = mode;
    this.#owners = owners;
    this.#ids = accountIds(owners.user, owners.group);
  }

  /** Compares a file whose hash has arrived. What fails then is compared again later. */
  compare = (folder: ListedFolder, file: string): void => {
    if (!this.#isUsed) return;
    try {
      this.#found.set(file, this.#look(folder, file));
    } catch {
      // `missing` reports it.
    }
  };

  /** Returns the files that are not as they should be. */
  async missing({ files, folder }: RecursedFiles): Promise<readonly string[]> {
    if (!this.#isUsed) return files;
    const turns = new Turns();
    const others: string[] = [];
    // The directories have been made.
    this.#dir = '';
    for (const file of files) {
      if (turns.areOver) await turns.pause();
      const finding = this.#found.get(file) ?? this.#look(folder, file);
      if (finding === 'present') continue;
      this.#found.set(file, finding);
      others.push(file);
    }
    return others;
  }

  /** Whether nothing is in the place of a file of `missing`. */
  isAbsent = (file: string): boolean => this.#found.get(file) === 'absent';

  /** Files in a directory that is not there need no look. */
  #isFolderThere(dir: string): boolean {
    if (dir !== this.#dir) {
      this.#dir = dir;
      this.#isThere = lstatOf(dir) !== undefined;
    }
    return this.#isThere;
  }

  #look(folder: ListedFolder, file: string): Finding {
    const name = join(this.#path, file);
    if (!this.#isFolderThere(dirname(name))) return 'absent';
    const entry = lstatOf(name);
    if (!entry) return 'absent';
    const known = listedFile(`${folder.path}/${file}`, folder.saltenv);
    if (!known) return 'other';
    const mode = keepsMode(this.#mode) ? modeText(known.mode) : this.#mode;
    const source = { sum: { hash_type: 'sha256', hsum: known.sha256 }, size: known.size };
    return isAlready({ name, source, perms: { ...this.#owners, mode } }, entry, this.#ids)
      ? 'present'
      : 'other';
  }
}

/**
 * Announces the files of a folder, in the order in which `file.managed` will ask for them.
 *
 * @param path the directory they are written below
 * @param isAbsent whether nothing is in the place of a file, whose content is needed then
 * @param options arguments that all of them share
 * @returns ends it
 */
export const expectRecursed = (
  path: string,
  folder: ControlFolder,
  files: readonly string[],
  isAbsent: (file: string) => boolean,
  {
    template,
    ...options
  }: Omit<TemplateArguments, 'name' | 'source' | 'template' | 'text'> & {
    readonly template: string | null;
  },
): (() => void) =>
  expectFiles(
    files
      .map(file => ({ file, dest: join(path, file) }))
      // The accumulated text of a file can still change before its state runs.
      .filter(({ dest }) => !template || !accumulatedFor(dest))
      .map(({ file, dest }) => {
        const source = sourceIn(folder, file);
        const { saltenv } = folder;
        return {
          path: `${folder.path}/${file}`,
          saltenv,
          ...(!isAbsent(file) && { dest }),
          ...(template && {
            template: renderRequest({ ...options, name: dest, source, template }, saltenv),
          }),
        };
      }),
  );
