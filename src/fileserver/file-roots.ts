import {
  createReadStream,
  existsSync,
  openSync,
  type ReadStream,
  readFileSync,
  statSync,
} from 'node:fs';
import { posix } from 'node:path';
import { TsaltError } from '../protocol/error.ts';
import { FileFinder, type FoundFile, type LookedAt } from './file-finder.ts';
import { type FileStamp, FolderHashes, type HashStore, isSameFile } from './folder-hashes.ts';
import { readAhead, sha256Of, sha256OfFile, smallFile } from './hash-file.ts';
import { type IgnoreRules, ignoreTest } from './ignore.ts';
import { listTree, type Tree } from './list-tree.ts';
import { isSaltenvName, normalise } from './root-paths.ts';
import { parseSaltUrl } from './url.ts';

export type FileRootsOptions = IgnoreRules & {
  /** List the content of linked folders. Default true. Links out of a root are never followed. */
  readonly fileserver_followsymlinks?: boolean;
  /** List no links at all. Default false. */
  readonly fileserver_ignoresymlinks?: boolean;
  /**
   * Texts that replace files, by absolute path: unsaved changes of an editor. Files that are only
   * there are found and listed as well.
   */
  readonly unsaved?: ReadonlyMap<string, string>;
  /** Hashes of earlier runs. */
  readonly keptHashes?: HashStore;
};

/**
 * The files of `file_roots` (or `pillar_roots`): for each saltenv a list of folders, of which the
 * first with the file wins. Paths are relative with slashes, or `salt://` URLs. Files outside of
 * the roots are never served: `..`, absolute paths and links that lead out find nothing. A file
 * that another user could write is an error. Listings are read once per instance, until
 * `refresh()`.
 */
export class FileRoots {
  readonly #roots: ReadonlyMap<string, readonly string[]>;
  readonly #ignored: (path: string) => boolean;
  readonly #options: FileRootsOptions;
  readonly #trees = new Map<string, Tree>();
  readonly #finder: FileFinder;
  readonly #contents: Map<string, Content>;
  readonly #hashes = new Map<string, Hashed>();
  /** Folders whose hashes of earlier runs were read. */
  readonly #listed = new Set<string>();

  /** @param before an earlier instance for these roots: only files that changed since are read again */
  constructor(
    roots: Readonly<Record<string, readonly string[]>>,
    options: FileRootsOptions = {},
    before?: FileRoots,
  ) {
    this.#contents = before ? before.#contents : new Map();
    this.#roots = new Map(Object.entries(roots));
    this.#ignored = ignoreTest(options);
    this.#options = options;
    this.#finder = new FileFinder({
      folders: saltenv => this.folders(saltenv),
      ignored: this.#ignored,
      unsaved: options.unsaved,
    });
  }

  /** Returns the configured saltenvs, sorted; `__env__` stands for any other name. */
  envs(): string[] {
    return [...this.#roots.keys()].sort();
  }

  /** Whether the saltenv has roots, its own or those of `__env__`. */
  hasEnv(saltenv: string): boolean {
    return this.#roots.has(saltenv) || this.#roots.has('__env__');
  }

  /** The folders of a saltenv, in order. */
  folders(saltenv: string): string[] {
    const own = this.#roots.get(saltenv);
    if (own) return [...own];
    if (!isSaltenvName(saltenv)) return [];
    return (this.#roots.get('__env__') ?? []).map(root => root.replaceAll('__env__', saltenv));
  }

  /** Finds the file of a path or `salt://` URL; the URL's saltenv overrides the argument. */
  find(path: string, saltenv = 'base'): FoundFile | undefined {
    // No system opens longer paths, and caching them would fill the memory.
    if (path.length > longestPath || saltenv.length > longestPath) return undefined;
    const url = parseSaltUrl(path);
    return this.#finder.find(url.path, url.saltenv ?? saltenv);
  }

  /** All files of a saltenv, sorted. */
  list(saltenv = 'base'): readonly string[] {
    return this.#tree(saltenv).files;
  }

  /** All folders of a saltenv, sorted. */
  listDirs(saltenv = 'base'): readonly string[] {
    return this.#tree(saltenv).dirs;
  }

  /** Folders without any file, sorted. */
  listEmptyDirs(saltenv = 'base'): readonly string[] {
    return this.#tree(saltenv).emptyDirs;
  }

  /** Returns links with their targets, by path. */
  listSymlinks(saltenv = 'base'): ReadonlyMap<string, string> {
    return this.#tree(saltenv).links;
  }

  /** SLS names of a saltenv: `a/b.sls` is `a.b`, `a/init.sls` is `a`. */
  listStates(saltenv = 'base'): string[] {
    return statesAmong(this.list(saltenv));
  }

  /**
   * Returns a file's bytes; read again only if size, time or inode changed.
   *
   * @throws TsaltError `file-missing`
   */
  bytes(path: string, saltenv = 'base'): Buffer {
    return this.#content(this.#need(path, saltenv)).bytes;
  }

  /**
   * A file's text. A byte order mark is not part of it.
   *
   * @throws TsaltError `file-missing`, and `file-encoding` for what is not UTF-8.
   */
  read(path: string, saltenv = 'base'): string {
    const content = this.#content(this.#need(path, saltenv));
    try {
      content.text ??= new TextDecoder('utf-8', { fatal: true }).decode(content.bytes);
      return content.text;
    } catch {
      throw new TsaltError('file-encoding', `${path} is not UTF-8 text.`, {
        kind: 'render',
        at: { file: path },
        hint: 'Save it as UTF-8, or use it as a plain file without `template:`.',
      });
    }
  }

  /** A file's bytes: those of a large file as a stream. `throws` as `bytes`. */
  content(path: string, saltenv = 'base'): Buffer | ReadStream {
    const file = this.#need(path, saltenv).path;
    if (statSync(file).size <= smallFile) return readFileSync(file);
    // Opened here: a stream that is destroyed before it has opened its file reports what fails then to
    // nobody, which ends the process.
    return createReadStream(file, { fd: openSync(file, 'r'), highWaterMark: readAhead });
  }

  /** Hex SHA-256 of a file; computed again only when size, time or inode changed. */
  async hash(path: string, saltenv = 'base'): Promise<string> {
    return this.hashOf({ file: this.#need(path, saltenv), stat: undefined });
  }

  /** Finds a file of `list()`. */
  listed(path: string, saltenv: string): LookedAt | undefined {
    const url = parseSaltUrl(path);
    return this.#finder.findListed(url.path, url.saltenv ?? saltenv);
  }

  /**
   * Begins a listing of a folder.
   *
   * @returns the hashes of earlier runs; undefined where they were read before, and for small folders
   */
  keptHashes(folder: string, saltenv: string, count: number): FolderHashes | undefined {
    const { keptHashes } = this.#options;
    if (!keptHashes || count < fewestKept) return undefined;
    const name = JSON.stringify([this.folders(saltenv), saltenv, folder]);
    if (this.#listed.has(name)) return undefined;
    this.#listed.add(name);
    return new FolderHashes(keptHashes, name);
  }

  /**
   * Hashes a listed file, which is looked at once. The hash of a small file is not a promise: a
   * listing of thousands would wait for each of them.
   *
   * @param kept of `keptHashes`
   */
  hashOf({ file, stat }: LookedAt, kept?: FolderHashes): string | Promise<string> {
    const { path, rel } = file;
    const unsaved = this.#options.unsaved?.get(path);
    if (unsaved !== undefined) return sha256Of(unsaved);
    const now = Date.now();
    const looked = stat ?? statSync(path);
    const known = this.#hashes.get(path);
    if (known && isSameFile(known, looked)) return known.sha256;
    const ofEarlierRun = kept?.get(rel, looked);
    const sha256 = ofEarlierRun ?? sha256OfFile(path, looked.size);
    const { size, mtimeMs, ctimeMs, ino, dev } = looked;
    const hashed = { size, mtimeMs, ctimeMs, ino, dev, sha256 };
    this.#hashes.set(path, hashed);
    if (typeof sha256 !== 'string') sha256.catch(() => this.#hashes.delete(path));
    else if (ofEarlierRun === undefined) kept?.put(rel, hashed, sha256, now);
    return sha256;
  }

  /** Discards the cached listings. */
  refresh(): void {
    this.#trees.clear();
    this.#finder.refresh();
  }

  #content({ path }: FoundFile): Content {
    const unsaved = this.#options.unsaved?.get(path);
    if (unsaved !== undefined) return { bytes: Buffer.from(unsaved), text: unsaved };
    const stat = statSync(path);
    const known = this.#contents.get(path);
    if (known?.stat && isSameFile(known.stat, stat)) return known;
    const content: Content = { stat, bytes: readFileSync(path) };
    if (content.bytes.length <= cachedSize) this.#contents.set(path, content);
    return content;
  }

  #tree(saltenv: string): Tree {
    const known = this.#trees.get(saltenv);
    if (known) return known;
    const folders = this.folders(saltenv).filter(folder => this.#finder.isThere(folder));
    const saved = listTree(folders, {
      ignored: this.#ignored,
      follow: this.#options.fileserver_followsymlinks ?? true,
      skipLinks: this.#options.fileserver_ignoresymlinks ?? false,
    });
    const unsaved = this.#newFiles(saltenv);
    const tree =
      unsaved.length === 0
        ? saved
        : { ...saved, files: [...new Set([...saved.files, ...unsaved])].sort() };
    this.#trees.set(saltenv, tree);
    return tree;
  }

  /** Files of a saltenv that are open in an editor and not saved yet. */
  #newFiles(saltenv: string): string[] {
    const { unsaved = new Map<string, string>() } = this.#options;
    return this.folders(saltenv).flatMap(folder =>
      [...unsaved.keys()]
        .map(path => posix.relative(folder, path))
        .filter(rel => normalise(rel) === rel && !existsSync(posix.join(folder, rel)))
        .filter(rel => this.find(rel, saltenv) !== undefined),
    );
  }

  #need(path: string, saltenv: string): FoundFile {
    const found = this.find(path, saltenv);
    if (found) return found;
    const env = parseSaltUrl(path).saltenv ?? saltenv;
    const folders = this.folders(env);
    throw new TsaltError('file-missing', `${path} was not found in saltenv '${env}'.`, {
      kind: 'render',
      hint:
        folders.length === 0
          ? `saltenv '${env}' has no roots; known are: ${this.envs().join(', ') || 'none'}.`
          : `Looked in ${folders.join(', ')}.`,
    });
  }
}

type Hashed = FileStamp & { readonly sha256: string | Promise<string> };

/** The content of a file; its text after the first use. */
type Content = { readonly stat?: FileStamp; readonly bytes: Buffer; text?: string };

const cachedSize = 1024 * 1024;
/** Hashing fewer files takes no longer than reading kept hashes. */
const fewestKept = 200;
/** Characters of a path, as Linux's PATH_MAX. */
const longestPath = 4096;

/** The names of the SLS among these files, sorted. */
export const statesAmong = (files: readonly string[]): string[] => {
  const states: string[] = [];
  for (const file of files) {
    if (!file.endsWith('.sls')) continue;
    const name = file.slice(0, -4);
    states.push((name.endsWith('/init') ? name.slice(0, -5) : name).replaceAll('/', '.'));
  }
  return states.sort();
};
