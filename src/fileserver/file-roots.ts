import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  lstatSync,
  openSync,
  type ReadStream,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { posix } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { TsaltError } from '../protocol/error.ts';
import { checkTrusted } from '../trust/check.ts';
import { type IgnoreRules, ignoreTest } from './ignore.ts';
import { listTree, type Tree } from './list-tree.ts';
import { isWithinRoot, newFile } from './new-file.ts';
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
};

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
  readonly #realFolders = new Map<string, string | undefined>();
  readonly #found = new Map<string, FoundFile | null>();
  readonly #contents: Map<string, Content>;
  readonly #hashes = new Map<string, Promise<string>>();

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
    if (!isName(saltenv)) return [];
    return (this.#roots.get('__env__') ?? []).map(root => root.replaceAll('__env__', saltenv));
  }

  /** Finds the file of a path or `salt://` URL; the URL's saltenv overrides the argument. */
  find(path: string, saltenv = 'base'): FoundFile | undefined {
    // No system opens longer paths, and caching them would fill the memory.
    if (path.length > longestPath || saltenv.length > longestPath) return undefined;
    const url = parseSaltUrl(path);
    const env = url.saltenv ?? saltenv;
    const key = `${env}\0${url.path}`;
    const known = this.#found.get(key);
    if (known !== undefined) return known ?? undefined;
    const found = this.#find(url.path, env);
    if (this.#found.size >= mostFound) this.#found.clear();
    this.#found.set(key, found ?? null);
    return found;
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
  hash(path: string, saltenv = 'base'): Promise<string> {
    const file = this.#need(path, saltenv);
    const unsaved = this.#options.unsaved?.get(file.path);
    if (unsaved !== undefined)
      return Promise.resolve(createHash('sha256').update(unsaved).digest('hex'));
    const stat = statSync(file.path);
    const key = `${stampOf(stat)}\0${file.path}`;
    const known = this.#hashes.get(key);
    if (known) return known;
    const hash = hashFile(file.path, stat.size);
    this.#hashes.set(key, hash);
    hash.catch(() => this.#hashes.delete(key));
    return hash;
  }

  /** Discards the cached listings. */
  refresh(): void {
    this.#trees.clear();
    this.#found.clear();
    this.#realFolders.clear();
  }

  #content({ path }: FoundFile): Content {
    const unsaved = this.#options.unsaved?.get(path);
    if (unsaved !== undefined) return { stamp: '', bytes: Buffer.from(unsaved), text: unsaved };
    const stamp = stampOf(statSync(path));
    const known = this.#contents.get(path);
    if (known?.stamp === stamp) return known;
    const content: Content = { stamp, bytes: readFileSync(path) };
    if (content.bytes.length <= cachedSize) this.#contents.set(path, content);
    return content;
  }

  #find(path: string, saltenv: string): FoundFile | undefined {
    const rel = normalise(path);
    if (rel === undefined) return undefined;
    for (const folder of this.folders(saltenv)) {
      const root = this.#realFolder(folder);
      const full = posix.join(folder, rel);
      const unsaved = this.#options.unsaved?.get(full);
      const file =
        (root === undefined ? undefined : this.#stat(root, full)) ??
        (unsaved === undefined ? undefined : newFile(folder, full, unsaved));
      if (!file || this.#ignored(rel)) continue;
      checkTrusted(full, `The file salt://${rel}`);
      return { path: full, rel, saltenv, ...file };
    }
    return undefined;
  }

  #stat(root: string, full: string): Pick<FoundFile, 'size' | 'mode' | 'mtimeMs'> | undefined {
    try {
      const entry = lstatSync(full);
      const isLink = entry.isSymbolicLink();
      const above = this.#realFolder(posix.dirname(full));
      if (above === undefined) return undefined;
      const real = isLink ? realpathSync.native(full) : posix.join(above, posix.basename(full));
      if (!isWithinRoot(root, real)) return undefined;
      const stat = isLink ? statSync(real) : entry;
      if (!stat.isFile()) return undefined;
      return { size: stat.size, mode: stat.mode & 0o7777, mtimeMs: stat.mtimeMs };
    } catch {
      return undefined;
    }
  }

  /** The path of a folder without links; undefined if there is none. */
  #realFolder(folder: string): string | undefined {
    const known = this.#realFolders.get(folder);
    if (known !== undefined || this.#realFolders.has(folder)) return known;
    const real = realPath(folder);
    if (this.#realFolders.size >= mostFound) this.#realFolders.clear();
    this.#realFolders.set(folder, real);
    return real;
  }

  #tree(saltenv: string): Tree {
    const known = this.#trees.get(saltenv);
    if (known) return known;
    const folders = this.folders(saltenv).filter(folder => this.#realFolder(folder) !== undefined);
    const saved = listTree(folders, {
      ignored: this.#ignored,
      follow: this.#options.fileserver_followsymlinks ?? true,
      skipLinks: this.#options.fileserver_ignoresymlinks ?? false,
    });
    const files = new Set([...saved.files, ...this.#newFiles(saltenv)]);
    const tree = files.size === saved.files.length ? saved : { ...saved, files: [...files].sort() };
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

/** The content of a file; its text after the first use. */
type Content = { readonly stamp: string; readonly bytes: Buffer; text?: string };

const cachedSize = 1024 * 1024;
const readAhead = 256 * 1024;
/** Up to this size, handing a file to another thread takes longer than reading it. */
const smallFile = 64 * 1024;
/** Limit of cached look-ups: hosts may request any number of paths. */
const mostFound = 50_000;

/** Characters of a path, as Linux's PATH_MAX. */
const longestPath = 4096;

const isName = (saltenv: string): boolean =>
  saltenv !== '' && !/[/\\\0]/.test(saltenv) && saltenv !== '.' && saltenv !== '..';

/** Normalizes a path; undefined if it leads out of the roots. */
const normalise = (path: string): string | undefined => {
  if (path === '' || path.includes('\0') || posix.isAbsolute(path)) return undefined;
  const rel = posix.normalize(path);
  return rel === '..' || rel.startsWith('../') || rel === '.' || rel.endsWith('/')
    ? undefined
    : rel;
};

const realPath = (path: string): string | undefined => {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
};

const stampOf = ({ size, mtimeMs, ino, ctimeMs }: Stats): string =>
  `${size}:${mtimeMs}:${ctimeMs}:${ino}`;

const hashFile = async (path: string, size: number): Promise<string> => {
  if (size <= smallFile) return createHash('sha256').update(readFileSync(path)).digest('hex');
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: readAhead }), hash);
  return hash.digest('hex');
};

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
