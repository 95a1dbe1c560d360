/**
 * `node:fs` for modules: functions of the same names that, as root, follow no link and trust no
 * directory that another account controls (see `open-parent.ts`). What only looks at an entry, or works
 * on an open file, is node's own.
 */
import * as fs from 'node:fs';
import { mostOfOthers, openAt, openDir, openFile, readOpenFile, withEntry } from './open.ts';
import { hasHandles, nameOfFd, renamed, type SafePath, withParent } from './open-parent.ts';
import { copyFileAt, copyTree, listSafeTree, makeTree, removeTree } from './tree.ts';
import { forgetTrusted } from './verdicts.ts';

// biome-ignore lint/performance/noBarrelFile: modules import all of node:fs here, so that none is used unguarded
export {
  accessSync,
  closeSync,
  constants,
  type Dirent,
  existsSync,
  fchmodSync,
  fchownSync,
  fdatasyncSync,
  fstatSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';

type Options = { encoding?: BufferEncoding | null; flag?: string; mode?: number };

const optionsOf = (options: unknown): Options =>
  typeof options === 'string'
    ? { encoding: options as BufferEncoding }
    : ((options as Options | null | undefined) ?? {});

export const isRoot = (): boolean => process.geteuid?.() === 0;

/** Opens a file. */
export const openSync: typeof fs.openSync = (path, flags = 'r', mode) =>
  openFile(String(path), flags, mode === null || mode === undefined ? 0o666 : Number(mode));

/** Reads a file whole; where other users can change its directory, only up to a size. */
export const readFileSync = ((path: string | number, options?: unknown) => {
  if (typeof path === 'number') return fs.readFileSync(path, options as BufferEncoding);
  return withParent(path, true, place => {
    if (place.isRoots) return fs.readFileSync(place.path, options as BufferEncoding);
    const fd = openAt(place, fs.constants.O_RDONLY, 0);
    try {
      const bytes = readOpenFile(fd, place.shown, mostOfOthers);
      const { encoding } = optionsOf(options);
      return encoding ? bytes.toString(encoding) : bytes;
    } finally {
      fs.closeSync(fd);
    }
  });
}) as typeof fs.readFileSync;

type Data = string | NodeJS.ArrayBufferView;

/** Writes a file. */
export const writeFileSync = (path: string, data: Data, options?: unknown): void => {
  const { flag = 'w', mode } = optionsOf(options);
  const fd = openSync(path, flag, mode);
  try {
    fs.writeFileSync(fd, data, optionsOf(options).encoding ?? null);
  } finally {
    fs.closeSync(fd);
  }
};

/** Reads a file part by part. */
export const createReadStream = (
  path: string,
  options: { start?: number; end?: number } = {},
): fs.ReadStream => fs.createReadStream('', { ...options, fd: openSync(path, 'r') });

/** Names in a directory; with `recursive` of all below it, without following a link. */
export const readdirSync = ((path: string, options?: { recursive?: boolean }) =>
  withParent(path, true, place => {
    const { recursive, withFileTypes } = (options ?? {}) as {
      recursive?: boolean;
      withFileTypes?: boolean;
    };
    if (recursive && !withFileTypes && isRoot())
      return listSafeTree(place.path).map(entry => entry.path);
    const list = options as { withFileTypes: true };
    if (place.isRoots || !hasHandles()) return fs.readdirSync(place.path, list);
    const fd = openDir(place);
    try {
      const found = fs.readdirSync(nameOfFd(fd), list);
      if (withFileTypes) for (const entry of found) entry.parentPath = path;
      return found;
    } finally {
      fs.closeSync(fd);
    }
  })) as unknown as typeof fs.readdirSync;

/** Makes a directory, with `recursive` also those above it. */
export const mkdirSync = ((path: string, options?: number | fs.MakeDirectoryOptions) => {
  const { recursive = false, mode } =
    typeof options === 'object' && options !== null ? options : { mode: options };
  const bits = typeof mode === 'string' ? Number.parseInt(mode, 8) : (mode ?? undefined);
  // Node's own never returns where nothing can be made in a folder that exists, as in /proc.
  if (recursive) return makeTree(path, bits);
  return withParent(path, false, place => fs.mkdirSync(place.path, bits));
}) as typeof fs.mkdirSync;

/** Makes a directory whose name nobody can guess. */
export const mkdtempSync = (prefix: string): string =>
  withParent(prefix, false, place => fs.mkdtempSync(place.path).replace(place.path, place.shown));

/** Removes an entry, with `recursive` also what is below it. */
export const rmSync = (
  path: string,
  options: { recursive?: boolean; force?: boolean } = {},
): void => {
  try {
    withParent(path, false, place => {
      if (options.recursive && isRoot()) removeTree(place.path);
      else fs.rmSync(place.path, options);
    });
  } catch (error) {
    if (!options.force || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
};

export const unlinkSync = (path: string): void =>
  withParent(path, false, place => fs.unlinkSync(place.path));

export const rmdirSync = (path: string): void =>
  withParent(path, false, place => fs.rmdirSync(place.path));

/** Renames an entry. */
export const renameSync = (from: string, to: string): void => {
  withParent(from, false, source => {
    const isFile = fs.lstatSync(source.path, { throwIfNoEntry: false })?.isFile() ?? false;
    withParent(to, false, target => fs.renameSync(source.path, target.path));
    if (!isFile) forgetTrusted();
  });
};

/**
 * Renames a file within its directory, which leaves what is known of directories true.
 *
 * @param name without a slash
 */
export const renameBeside = (from: string, name: string): void =>
  withParent(from, false, source => {
    const beside = (path: string): string => `${path.slice(0, path.lastIndexOf('/') + 1)}${name}`;
    const path = beside(source.path);
    try {
      fs.renameSync(source.path, path);
    } catch (error) {
      throw renamed(error, { ...source, path, shown: beside(source.shown) });
    }
  });

export const symlinkSync = (target: string, path: string): void => {
  withParent(path, false, place => fs.symlinkSync(target, place.path));
  forgetTrusted();
};

/** Makes another name for a file, or for a link itself. */
export const linkSync = (from: string, to: string): void =>
  withParent(from, false, source =>
    withParent(to, false, target => fs.linkSync(source.path, target.path)),
  );

/** Copies a file's content. */
export const copyFileSync = (from: string, to: string, flags = 0): void => {
  withParent(from, true, source =>
    withParent(to, true, target => {
      if (source.isRoots && target.isRoots) fs.copyFileSync(source.path, target.path, flags);
      else copyFileAt(source, target, flags);
    }),
  );
};

/** Copies an entry and what is below it; symlinks stay as they are. */
export const cpSync = (
  from: string,
  to: string,
  options: { recursive: true; verbatimSymlinks: true; preserveTimestamps?: boolean },
): void => {
  withParent(from, false, source =>
    withParent(to, true, target => {
      if (isRoot()) copyTree(source.path, target.path, options.preserveTimestamps ?? false);
      else fs.cpSync(from, to, options);
    }),
  );
};

export const truncateSync = (path: string, length = 0): void => {
  const fd = openSync(path, 'r+');
  try {
    fs.ftruncateSync(fd, length);
  } finally {
    fs.closeSync(fd);
  }
};

/** Changes a file or directory, and forgets what was known where owners or modes change. */
const changeEntry = (path: string, change: (path: string) => void): void =>
  withParent(path, true, place => {
    if (!isRoot()) return change(place.path);
    if (place.isRoots) {
      change(place.path);
      if (fs.lstatSync(place.path).isDirectory()) forgetTrusted();
    } else
      withEntry(place, (entry, found) => {
        change(entry);
        if (found.isDirectory()) forgetTrusted();
      });
  });

export const chmodSync = (path: string, mode: number): void =>
  changeEntry(path, entry => fs.chmodSync(entry, mode));

export const chownSync = (path: string, uid: number, gid: number): void =>
  changeEntry(path, entry => fs.chownSync(entry, uid, gid));

export const utimesSync = (path: string, atime: fs.TimeLike, mtime: fs.TimeLike): void =>
  changeEntry(path, entry => fs.utimesSync(entry, atime, mtime));

/** Changes the owner of an entry, of a link itself. */
export const lchownSync = (path: string, uid: number, gid: number): void =>
  withParent(path, false, place => changeOwner(place, uid, gid));

const changeOwner = (place: SafePath, uid: number, gid: number): void => {
  const found = fs.lstatSync(place.path);
  if (found.isDirectory()) forgetTrusted();
  if (place.isRoots || found.isSymbolicLink()) fs.lchownSync(place.path, uid, gid);
  else withEntry(place, entry => fs.chownSync(entry, uid, gid));
};
