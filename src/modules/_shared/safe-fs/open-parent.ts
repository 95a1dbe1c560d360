import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  type Stats,
} from 'node:fs';
import { dirname } from 'node:path';
import { realPath } from '../files/file-paths.ts';
import { refuseForeignLinks } from './links.ts';
import { deviceOfTrusted, type Hold, holdOf, isTrusted, mounterOf, trust } from './verdicts.ts';

/** A path as a system call may take it. */
export type SafePath = {
  /** The path for the call. Its last part is an entry of the directory that was looked at. */
  readonly path: string;
  /** The path as people know it. */
  readonly shown: string;
  /** Whether only root can change what the path leads to. */
  readonly isRoots: boolean;
  /** The owner of the directory that holds the entry. */
  readonly owner: number;
  /** Lets go of the directory: the path means nothing afterwards. */
  readonly close: () => void;
};

/** A link on the way that somebody else than root can change. */
export type ForeignLink = {
  readonly path: string;
  readonly target: string;
  /** The account that can change it; -1 for more than one. */
  readonly keeper: number;
};

/** A directory on the way. */
type Here = {
  /** Its path, without links. */
  readonly real: string;
  readonly hold: Hold;
  readonly uid: number;
  readonly dev: number;
  /** The account that can change entries reached through it; 0 for root, -1 for more than one. */
  readonly keeper: number;
  /** Open where its name could come to mean another directory. */
  readonly fd?: number;
};

const { O_DIRECTORY, O_NOFOLLOW } = constants;
/** Linux's flag that opens an entry only to name it: node has no constant for it. */
export const O_PATH = 0o10000000;

let procIsThere: boolean | undefined;

/** Whether open directories have names. Where they have none, paths are checked and then used. */
export const hasHandles = (): boolean => {
  procIsThere ??= process.platform === 'linux' && existsSync('/proc/self/fd');
  return procIsThere;
};

/** The name of an open file. */
export const nameOfFd = (fd: number): string => `/proc/self/fd/${fd}`;

const nothing = (): void => {};

const asIs = (path: string): SafePath => ({
  path,
  shown: path,
  isRoots: true,
  owner: 0,
  close: nothing,
});

/**
 * Finds the place of a path without trusting anybody but root. Directories that another account
 * can change are opened one by one, none of them through a link, and the place is relative to the
 * last one: whatever is renamed meanwhile, it stays that directory. Links that only root can
 * change are followed. Links of another account are followed only to what is that account's own.
 * For other users than root, the path is used as it is.
 *
 * @param given the path
 * @param follow whether a link at the end of the path is followed
 * @throws RefusedPath for a link that root does not follow
 */
export const openParent = (given: string, follow: boolean): SafePath => {
  if (process.geteuid?.() !== 0) return asIs(given);
  const path = tidy(given);
  const at = path.lastIndexOf('/');
  if (isTrusted(path.slice(0, at) || '/') && at < path.length - 1 && !path.includes('/..')) {
    if (!follow) return asIs(path);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found?.isSymbolicLink()) return asIs(path);
  }
  return walk(path, follow);
};

/** Uses the place of a path, and lets go of it. Errors name the path as people know it. */
export const withParent = <T>(given: string, follow: boolean, use: (place: SafePath) => T): T => {
  const place = openParent(given, follow);
  try {
    return use(place);
  } catch (error) {
    throw renamed(error, place);
  } finally {
    place.close();
  }
};

/**
 * Where a path leads after its links, for what is then written there. Parts that are missing stay,
 * and with them the links before them.
 *
 * @throws RefusedPath for a link that root does not follow
 */
export const followLinks = (path: string): string => {
  if (process.geteuid?.() !== 0) return realPath(path);
  try {
    return withParent(path, true, ({ shown }) => shown);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return path;
    throw error;
  }
};

/** The place's path for a program that this process starts while the place is open. */
export const forProgram = ({ path }: SafePath): string =>
  path.replace(/^\/proc\/self\//, `/proc/${process.pid}/`);

/** An error of a system call that names the path as people know it. */
export const renamed = (error: unknown, { path, shown }: SafePath): unknown => {
  if (path === shown || !(error instanceof Error)) return error;
  error.message = error.message.replaceAll(path, shown);
  const places = error as { path?: unknown; dest?: unknown };
  if (places.path === path) places.path = shown;
  if (places.dest === path) places.dest = shown;
  return error;
};

/** A path from `/`, with single slashes and none at its end. `..` stays: it goes up from where a link leads. */
const tidy = (given: string): string => {
  const full = given.startsWith('/') ? given : `${process.cwd()}/${given}`;
  const plain = full.includes('//') || full.includes('/.') || full.endsWith('/');
  return plain ? `/${partsOf(full).join('/')}` : full;
};

const partsOf = (path: string): string[] =>
  path.split('/').filter(part => part !== '' && part !== '.');

const mostLinks = 40;

const walk = (path: string, follow: boolean): SafePath => {
  const links: ForeignLink[] = [];
  let pending = partsOf(path);
  let hops = 0;
  let here = top();
  const goTo = (next: Here): void => {
    if (here.fd !== undefined && here.fd !== next.fd) closeSync(here.fd);
    here = next;
  };
  try {
    for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
      if (name === '..') {
        pending = [...partsOf(dirname(here.real)), ...pending];
        goTo(top());
        continue;
      }
      const isLast = pending.length === 0;
      if (isLast && !follow) return placeIn(here, name, links);
      const real = `${here.real}/${name}`;
      const dev = isLast || here.fd !== undefined ? undefined : deviceOfTrusted(real);
      if (dev !== undefined) {
        here = { real, hold: 'root', uid: 0, dev, keeper: 0 };
        continue;
      }
      const entry = entryPath(here, name);
      const found = lstatSync(entry, { throwIfNoEntry: false });
      if (found?.isSymbolicLink()) {
        hops += 1;
        if (hops > mostLinks)
          throw systemError('ELOOP', 'too many symbolic links encountered', path);
        const target = readlinkSync(entry);
        const keeper = linkKeeper(here, found);
        if (keeper !== 0) links.push({ path: real, target, keeper });
        if (target.startsWith('/')) goTo(top());
        pending = [...partsOf(target), ...pending];
        continue;
      }
      if (isLast) return placeIn(here, name, links);
      if (!found) throw systemError('ENOENT', 'no such file or directory', path);
      if (!found.isDirectory()) throw systemError('ENOTDIR', 'not a directory', path);
      goTo(enter(here, name, found));
    }
    return placeIn(here, '.', links);
  } catch (error) {
    if (here.fd !== undefined) closeSync(here.fd);
    throw error;
  }
};

/** Returns `/`, which belongs to root wherever root can be distinguished from others. */
const top = (): Here => {
  const dev = deviceOfTrusted('/') ?? lstatSync('/').dev;
  trust('/', dev);
  return { real: '', hold: 'root', uid: 0, dev, keeper: 0 };
};

const entryPath = ({ fd, real }: Here, name: string): string =>
  fd === undefined ? `${real}/${name}` : `${nameOfFd(fd)}/${name}`;

/** The account that decides where a link leads. */
const linkKeeper = (here: Here, link: Stats): number => {
  if (here.keeper !== 0) return here.keeper;
  if (here.hold === 'root' || (here.hold !== 'other' && link.uid === 0)) return 0;
  return here.hold === 'sticky' ? link.uid : -1;
};

const enter = (here: Here, name: string, found: Stats): Here => {
  const real = `${here.real}/${name}`;
  const stays =
    here.keeper === 0 && (here.hold === 'root' || (here.hold === 'sticky' && found.uid === 0));
  const entry = entryPath(here, name);
  if (stays) {
    const mounter = here.dev === found.dev ? 0 : mounterOf(entry, found.dev);
    const hold = holdOf(found);
    if (mounter === 0 && (hold === 'root' || hold === 'sticky')) {
      if (hold === 'root') trust(real, found.dev);
      return { real, hold, uid: 0, dev: found.dev, keeper: 0 };
    }
    return opened(entry, real, mounter === 0 && hold === 'group' ? 0 : mounter || undefined);
  }
  return opened(entry, real, here.keeper || (here.hold === 'sticky' ? undefined : -1));
};

/** A directory that is held open: `keeper` is its owner where it is left out. */
const opened = (entry: string, real: string, keeper: number | undefined): Here => {
  if (!hasHandles()) {
    const found = lstatSync(entry);
    return { real, ...heldBy(found, keeper) };
  }
  const fd = openSync(entry, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  return { real, fd, ...heldBy(fstatSync(fd), keeper) };
};

const heldBy = (found: Stats, keeper: number | undefined): Omit<Here, 'real' | 'fd'> => {
  const { uid, dev } = found;
  const hold = keeper === 0 ? 'group' : 'other';
  if (keeper === undefined) return { hold, uid, dev, keeper: uid === 0 ? -1 : uid };
  // In a directory of one account, one of another is under both.
  const isBoths = keeper > 0 && uid !== 0 && uid !== keeper;
  return { hold, uid, dev, keeper: isBoths ? -1 : keeper };
};

const placeIn = (here: Here, name: string, links: readonly ForeignLink[]): SafePath => {
  const path = name === '.' && here.fd !== undefined ? nameOfFd(here.fd) : entryPath(here, name);
  const shown = name === '.' ? here.real || '/' : `${here.real}/${name}`;
  if (links.length > 0) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    const owners = name === '.' ? [here.uid] : [here.uid, ...(found ? [found.uid] : [])];
    refuseForeignLinks(links, shown, owners);
  }
  const { fd, uid, hold, keeper } = here;
  return {
    path,
    shown,
    isRoots: hold === 'root' && keeper === 0,
    owner: uid,
    close: fd === undefined ? nothing : () => closeSync(fd),
  };
};

const systemError = (code: string, text: string, path: string): Error =>
  Object.assign(new Error(`${code}: ${text}, '${path}'`), { code, path });
