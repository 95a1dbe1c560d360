import { dirname } from 'node:path';
import type { AccountName } from '../_shared/files/check-perms.ts';
import { keepsMode, modeText } from '../_shared/files/file-mode.ts';
import { isDir, lstatOf } from '../_shared/files/file-paths.ts';
import { listedFile, requestMany } from '../_shared/sources/control-files.ts';
import type { PlainDict, StateReturn } from '../api.ts';
import type { ListedFolder } from './control-folder.ts';
import { fetchNow, type ListedSource, RequestBatches } from './fetch-now.ts';
import { kindOfNew, type NewFileKind, placeSource, type RecursedAnswer } from './managed-file.ts';

type NewFile = ListedSource & {
  /** Relative to the folder. */
  readonly file: string;
  readonly name: string;
  readonly kind: NewFileKind;
};

/** Makes the directories that new files are in. */
type MakeDirs = {
  /** Makes the directory that the folder is written below, if it is not there. */
  readonly root: () => Promise<void>;
  /** Makes one below it, whose parent exists. */
  readonly dir: (dir: string) => Promise<StateReturn>;
};

type NewPerms = {
  readonly user: AccountName;
  readonly group: AccountName;
  /** May be `keep`. */
  readonly mode: string | number | null;
};

/** Arguments of `file.recurse` for all of its files. */
export type RecursedOptions = NewPerms & {
  readonly template: string | null;
  readonly context: PlainDict | null;
  readonly defaults: PlainDict | null;
};

/**
 * Creates files of a folder where nothing is yet, also while others are still listed. A state for each
 * file would look at its path six times more, and make many promises. What is not made here is left to
 * `file.managed`, which makes it or reports why that fails.
 */
export class NewFiles {
  /** The answers for the files that were made, by their paths in the folder. */
  readonly made = new Map<string, RecursedAnswer>();
  /** The answers for the directories that were made for them, by their absolute paths. */
  readonly dirs = new Map<string, StateReturn>();
  readonly #below: string;
  readonly #kindOf: (mode: number) => NewFileKind;
  readonly #make: MakeDirs;
  readonly #batches = new RequestBatches();
  #folder: ListedFolder | undefined;
  #fetching: Promise<void> | undefined;
  /** Directories are made one after the other. */
  #makingDirs: Promise<void> | undefined;

  /**
   * @param path the directory that the folder is written below
   * @param perms of all files
   */
  constructor(path: string, perms: NewPerms, make: MakeDirs) {
    this.#below = path === '/' ? '' : path;
    this.#kindOf = kindsByMode(perms);
    this.#make = make;
  }

  get hasBegun(): boolean {
    return this.#fetching !== undefined;
  }

  /** Adds a listed file of the folder, in whose place nothing is. */
  add(folder: ListedFolder, file: string): void {
    const known = listedFile(`${folder.path}/${file}`, folder.saltenv);
    if (!known) return;
    this.#folder = folder;
    this.#batches.add(file, known.size);
  }

  /** Begins to make what is added. */
  begin(): void {
    this.#fetching ??= fetchNow(
      () => this.#take(),
      requestMany,
      (file, bytes) => {
        // Something else may have made it while the content came.
        if (lstatOf(file.name) === undefined)
          this.made.set(file.file, placeSource(file.name, file.kind, bytes));
      },
    );
  }

  /** Nothing more is added. Resolves when all is done. */
  async end(): Promise<void> {
    this.#batches.end();
    await this.#fetching;
  }

  async #take(): Promise<readonly NewFile[]> {
    const files: NewFile[] = [];
    for (const name of await this.#batches.take()) {
      const file = this.#fileOf(name);
      if (file) files.push(file);
    }
    this.#makingDirs = (this.#makingDirs ?? this.#make.root())
      .then(() => this.#makeDirs(files))
      // Writing the files fails, and their states report the directory.
      .catch(() => undefined);
    await this.#makingDirs;
    return files;
  }

  #fileOf(file: string): NewFile | undefined {
    if (!this.#folder) return undefined;
    const { path: source, saltenv } = this.#folder;
    const path = `${source}/${file}`;
    const known = listedFile(path, saltenv);
    if (!known) return undefined;
    const { sha256, size, mode } = known;
    const name = `${this.#below}/${file}`;
    return { path, saltenv, sha256, size, file, name, kind: this.#kindOf(mode) };
  }

  async #makeDirs(files: readonly NewFile[]): Promise<void> {
    let last = '';
    for (const { name } of files) {
      const dir = dirname(name);
      if (dir !== last) await this.#makeWithParents(dir);
      last = dir;
    }
  }

  /** Each directory has an answer of its own, which is reported if files are directly in it. */
  async #makeWithParents(dir: string): Promise<void> {
    const missing: string[] = [];
    for (
      let at = dir;
      at.length > this.#below.length && !this.dirs.has(at) && !isDir(at);
      at = dirname(at)
    )
      missing.push(at);
    for (const each of missing.toReversed()) this.dirs.set(each, await this.#make.dir(each));
  }
}

/** Returns a function that returns the kind of the files that have a mode at their source. */
const kindsByMode = (perms: NewPerms): ((mode: number) => NewFileKind) => {
  const kinds = new Map<string | number | null, NewFileKind>();
  return mode => {
    const wanted = keepsMode(perms.mode) ? modeText(mode) : perms.mode;
    const known = kinds.get(wanted);
    if (known) return known;
    const kind = kindOfNew({ ...perms, mode: wanted }, true);
    kinds.set(wanted, kind);
    return kind;
  };
};
