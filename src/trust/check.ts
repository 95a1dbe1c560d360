import {
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  type Stats,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { TsaltError } from '../protocol/error.ts';
import { owners } from './owners.ts';

/** An unsafe file or folder on a path, and why another user controls it. */
type Flaw = { readonly path: string; readonly stat: Stats; readonly why: 'owner' | 'mode' };

/** Folders that were checked, by path, with their path without links. */
const safeFolders = new Map<string, string>();

const mostLinks = 40;

/**
 * Refuses a file that another user could write or replace: the file, each folder above it and each
 * link on the way must belong to the caller, to root or to a user of `--trust-owner`, and must not
 * be world-writable (except folders with the sticky bit). Group-writable files are accepted,
 * because users commonly have a group of their own. A missing file is not refused.
 *
 * @param path the file to be read or run
 * @param what its name in messages, with an article: `The roster`; the path is added to it
 * @param entry the `lstat` of the path, where it was just made
 * @throws TsaltError `untrusted`
 */
export const checkTrusted = (path: string, what: string, entry?: Stats): void => {
  const flaw = flawOf(path, entry);
  if (flaw !== undefined) throw untrusted(path, what, flaw);
};

const flawOf = (path: string, entry?: Stats): Flaw | undefined => {
  // Windows has neither owners nor modes.
  if (process.geteuid === undefined || owners().anyone) return undefined;
  const isSafeEntry = entry && !entry.isSymbolicLink() && whyNot(entry) === undefined;
  if (isSafeEntry && safeFolders.has(path.slice(0, path.lastIndexOf('/')))) return undefined;
  const full = resolve(path);
  const folder = dirname(full);
  const known = safeFolders.get(folder);
  if (known !== undefined) return walk(known, [full.slice(folder === '/' ? 1 : folder.length + 1)]);
  return walk('/', full.split('/').slice(1), folder);
};

/** Follows the path from `start`, link by link. */
const walk = (start: string, names: string[], lexicalFolder?: string): Flaw | undefined => {
  let at = start;
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (names.length === 0 && links === 0 && lexicalFolder !== undefined)
      safeFolders.set(lexicalFolder, at);
    if (name === '' || name === '.') continue;
    const next = join(at, name);
    // Descriptors of this process, and devices: other users cannot replace them.
    if (/^\/(?:dev|proc)(?:\/|$)/.test(next)) return undefined;
    const stat = statOf(next);
    if (stat === undefined) return undefined;
    const why = whyNot(stat);
    if (why !== undefined) return { path: next, stat, why };
    if (stat.isSymbolicLink()) {
      links += 1;
      if (links > mostLinks) return undefined;
      const target = readlinkSync(next);
      names.unshift(...target.split('/'));
      if (target.startsWith('/')) at = '/';
    } else at = next;
  }
  return undefined;
};

/** A file without readable metadata cannot be read afterwards either; reading it reports why. */
const statOf = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

const whyNot = (stat: Stats): Flaw['why'] | undefined => {
  if (!owners().uids.has(stat.uid)) return 'owner';
  const isOpen = (stat.mode & 0o002) !== 0 && !stat.isSymbolicLink();
  const isSticky = stat.isDirectory() && (stat.mode & 0o1000) !== 0;
  return isOpen && !isSticky ? 'mode' : undefined;
};

const untrusted = (path: string, what: string, { path: at, stat, why }: Flaw): TsaltError => {
  const mode = (stat.mode & 0o7777).toString(8).padStart(4, '0');
  const subject = at === resolve(path) ? 'it' : `the ${kindOf(stat)} that leads to it`;
  const [reason, remedy] =
    why === 'owner'
      ? [
          `belongs to ${nameOf(stat.uid)}`,
          `Use a file and a folder of your own, or trust this user by --trust-owner ${bareName(stat.uid)}.`,
        ]
      : [
          `can be written by every user (mode ${mode})`,
          'Take that right away (chmod o-w), or accept it by --trust-owner anyone.',
        ];
  // Hosts may receive the message, so the path is stored separately.
  return new TsaltError('untrusted', `${what} is not used: ${subject} ${reason}.`, {
    at: { file: at },
    hint: `Another user could decide what this run does. ${remedy}`,
  });
};

/**
 * Opens a file for writing, for its owner only. Refuses a link, a pipe or a file of another user,
 * who could redirect or read the text.
 *
 * @param flags of open(2), as in `constants` of `node:fs`
 * @returns the descriptor
 * @throws TsaltError `untrusted`, and whatever `openSync` throws
 */
export const openTrusted = (path: string, flags: number, what: string): number => {
  checkLast(path, statOf(path), what);
  const handle = openSync(path, flags, 0o600);
  try {
    // Checks the opened file: the target of the caller's link may have been replaced meanwhile.
    checkLast(path, fstatSync(handle), what);
    return handle;
  } catch (error) {
    closeSync(handle);
    throw error;
  }
};

const checkLast = (path: string, stat: Stats | undefined, what: string): void => {
  if (process.geteuid === undefined || owners().anyone || stat === undefined) return;
  // A terminal or a pipe that another process has opened for this program.
  if (stat.isCharacterDevice() || /^\/(?:dev|proc)\//.test(resolve(path))) return;
  if (!owners().uids.has(stat.uid))
    throw untrusted(path, what, { path: resolve(path), stat, why: 'owner' });
};

const kindOf = (stat: Stats): string =>
  stat.isSymbolicLink() ? 'link' : stat.isDirectory() ? 'folder' : 'file';

const nameOf = (uid: number): string => {
  const name = bareName(uid);
  return name === String(uid) ? `the user with uid ${uid}` : `${name} (uid ${uid})`;
};

const bareName = (uid: number): string => {
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    const line = lines.find(one => one.split(':')[2] === String(uid));
    return line?.split(':')[0] || String(uid);
  } catch {
    return String(uid);
  }
};
