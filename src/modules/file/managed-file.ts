import { dirname } from 'node:path';
import { type Ownership, writeAtomic } from '../_shared/files/atomic-write.ts';
import {
  type Before,
  checkPerms,
  type DesiredPerms,
  permDifferences,
  readPerms,
  withoutSetId,
} from '../_shared/files/check-perms.ts';
import { attributeChanges, lsattrFlags } from '../_shared/files/file-attributes.ts';
import { type AccountIds, accountIds } from '../_shared/files/file-checks.ts';
import { contentOf, type FileContent } from '../_shared/files/file-content.ts';
import { hashOf } from '../_shared/files/file-hash.ts';
import { modeBits, modeText, normalizeMode } from '../_shared/files/file-mode.ts';
import { isDir, isFile, isLink, statOf } from '../_shared/files/file-paths.ts';
import { makeDirs } from '../_shared/files/make-dirs.ts';
import { applySelinux, restoreContext } from '../_shared/files/selinux.ts';
import { readFileSync, type Stats } from '../_shared/safe-fs/fs.ts';
import { followLinks } from '../_shared/safe-fs/open-parent.ts';
import type { FoundSource } from '../_shared/sources/file-source.ts';
import { failed, newReturn } from '../_shared/states/returns.ts';
import { contentDiff } from '../_shared/text/text-diff.ts';
import type { PlainDict, StateReturn } from '../api.ts';
import { backUp } from './file-backup.ts';

/** A file as a state describes it: its content, from a source or as bytes, and its permissions. */
export type DesiredFile = {
  readonly name: string;
  readonly source?: FoundSource | undefined;
  readonly contents?: Buffer | undefined;
  readonly perms: DesiredPerms;
  /** The ids of its owner and group, where they were looked up. */
  readonly ids?: AccountIds;
  /** Nothing was at its path when the state began. */
  readonly isNew?: boolean;
  /** Nothing has been waited for since. */
  readonly isSeen?: boolean;
  readonly backup?: string | null | undefined;
  readonly makedirs?: boolean;
  readonly dirMode?: string | number | null | undefined;
  readonly showChanges?: boolean;
};

/** Returns the changes that would be made, without making any. */
export const plannedChanges = async (file: DesiredFile): Promise<PlainDict> => {
  const { name, perms } = file;
  const follow = perms.follow ?? true;
  if (!statOf(name)) return { newfile: name };
  const changes: PlainDict = {};
  const target = follow ? followLinks(name) : name;
  if (!(await isCurrent(file, target))) {
    const diff = await plannedDiff(file, target);
    if (diff) changes.diff = diff;
  }
  Object.assign(changes, permDifferences(readPerms(name, follow), perms));
  if (perms.attrs) {
    const { added, removed } = attributeChanges(lsattrFlags(name) ?? perms.attrs, perms.attrs);
    if (added || removed) changes.attrs = perms.attrs;
  }
  return { ...changes, ...applySelinux(name, perms.selinux, true).changes };
};

/** Makes the file so and reports into `ret`. */
export const installFile = (
  ret: StateReturn,
  file: DesiredFile,
): StateReturn | Promise<StateReturn> => {
  const { name, perms } = file;
  if (file.isNew) return createFile(ret, file);
  if (isFile(name) || (isLink(name) && statOf(name))) return replaceFile(ret, file);
  const behindLink = isLink(name) && (perms.follow ?? true);
  return createFile(ret, behindLink ? { ...file, name: followLinks(name) } : file);
};

const replaceFile = async (ret: StateReturn, file: DesiredFile): Promise<StateReturn> => {
  const { name, perms, showChanges = true } = file;
  const follow = perms.follow ?? true;
  const linkBecomesFile = isLink(name) && !follow;
  const target = isLink(name) && follow ? followLinks(name) : name;
  const content = linkBecomesFile ? await wholeContent(file) : await newContent(file, target);
  const before = readPerms(target, true);
  if (content) {
    const diff = linkBecomesFile
      ? 'Replace symbolic link with regular file'
      : showChanges
        ? diffWith(target, content)
        : '<show_changes=False>';
    if (diff) ret.changes.diff = diff;
    backUp(target, file.backup);
    content.place(target, ownership(perms, before, file.ids));
    restoreContext(target);
  }
  const result = reportPerms(ret, file, before);
  if (!result.result) return result;
  const changed = Object.keys(ret.changes).length > 0;
  return { ...ret, comment: `File ${name} ${changed ? 'updated' : 'is in the correct state'}` };
};

/** Creates a file where nothing is, and reports into `ret`. */
const createFile = (ret: StateReturn, file: DesiredFile): StateReturn | Promise<StateReturn> => {
  const { name, perms } = file;
  if (!isDir(dirname(name))) {
    if (!file.makedirs) return failed(ret, 'Parent directory not present');
    const mode = file.dirMode ?? traversable(perms.mode);
    makeDirs(dirname(name), { user: perms.user, group: perms.group, mode });
  }
  const content = wholeContent(file) ?? contentOf('');
  return content instanceof Promise
    ? content.then(arrived => placeNew(ret, { ...file, isSeen: false }, arrived))
    : placeNew(ret, file, content);
};

/** Owner and mode that new files have in common, and how they are reported. */
export type NewFileKind = {
  readonly wanted: DesiredPerms;
  readonly owned: Ownership;
  /** As if the file had been there before it got owner and mode. */
  readonly before: Before;
  /** The answer for the last file of `placeSource`, which most of the next ones share. */
  last?: { readonly made: Stats; readonly answer: RecursedAnswer };
};

/** The part of one file in the answer of `file.recurse`; its comment is empty where all is well. */
export type RecursedAnswer = Pick<StateReturn, 'result' | 'changes' | 'comment'>;

/** @param hasContent whether the content is given: such a file is made with a mode of its own */
export const kindOfNew = (
  perms: DesiredPerms,
  hasContent: boolean,
  ids?: AccountIds,
): NewFileKind => {
  const open = (): number => 0o666 & ~process.umask();
  const wanted = { ...perms, mode: normalizeMode(perms.mode) ?? modeText(open()) };
  return {
    wanted,
    owned: ownership(wanted, undefined, ids),
    before: {
      uid: process.geteuid?.() ?? 0,
      gid: process.getegid?.() ?? 0,
      mode: hasContent ? 0o600 : open(),
    },
  };
};

/** As `createFile`, in a directory that exists. */
const placeNew = (ret: StateReturn, file: DesiredFile, content: FileContent): StateReturn => {
  const { name, perms, source, contents } = file;
  const kind = kindOfNew(perms, Boolean(source || perms.mode), file.ids);
  const made = content.place(name, kind.owned, file.isNew === true && file.isSeen === true);
  restoreContext(name);
  if (source || contents) ret.changes.diff = 'New file';
  else ret.changes.new = `file ${name} created`;
  const result = reportNew(ret, name, kind, made);
  if (!result.result) return result;
  return { ...ret, comment: source || contents ? `File ${name} updated` : 'Empty file' };
};

/**
 * Puts the content of a source where nothing is, as was just seen.
 *
 * @returns the same object for several files, where they turned out alike
 */
export const placeSource = (name: string, kind: NewFileKind, bytes: Buffer): RecursedAnswer => {
  const made = writeAtomic(name, bytes, kind.owned, true);
  restoreContext(name);
  if (made && kind.last && isAlike(made, kind.last.made)) return kind.last.answer;
  const ret = { ...newReturn(name), changes: { diff: 'New file' } };
  const { result, changes, comment } = reportNew(ret, name, kind, made);
  const answer = { result, changes, comment };
  if (made && result) kind.last = { made, answer };
  return answer;
};

const isAlike = (one: Stats, other: Stats): boolean =>
  one.mode === other.mode && one.uid === other.uid && one.gid === other.gid;

/** Adds the owner and the mode of a new file to its answer, which fails where they are not as wanted. */
const reportNew = (
  ret: StateReturn,
  name: string,
  { wanted, owned, before }: NewFileKind,
  made: Stats | undefined,
): StateReturn => {
  const changes = made && changesOfNew(made, wanted, owned, before);
  if (!changes) return reportPerms(ret, { name, perms: wanted }, before);
  Object.assign(ret.changes, changes);
  return ret;
};

/**
 * Returns what `checkPerms` reports of a new file that has its owner and mode; undefined where it does
 * not have them, or where that is not all.
 */
const changesOfNew = (
  found: Stats,
  { user, group, mode, attrs, selinux }: DesiredPerms,
  owned: Ownership,
  before: Before,
): PlainDict | undefined => {
  if (typeof attrs === 'string' || selinux) return undefined;
  if (!found.isFile() || modeText(found.mode) !== mode) return undefined;
  const changes: PlainDict = {};
  for (const [key, value, id] of [
    ['user', user, 'uid'],
    ['group', group, 'gid'],
  ] as const) {
    if (value === null || value === undefined || value === '') continue;
    if (owned[id] !== found[id]) return undefined;
    if (before[id] !== found[id]) changes[key] = value;
  }
  if (modeText(before.mode) !== mode) changes.mode = mode;
  return changes;
};

const reportPerms = (
  ret: StateReturn,
  { name, perms }: Pick<DesiredFile, 'name' | 'perms'>,
  before: Before,
): StateReturn => {
  const { ok, changes, comments } = checkPerms(name, { follow: true, ...perms }, { before });
  Object.assign(ret.changes, changes);
  return ok ? ret : failed(ret, comments.join('; '));
};

/** Returns the content to write; undefined if the file already contains it. */
const newContent = async (file: DesiredFile, target: string): Promise<FileContent | undefined> =>
  (await isCurrent(file, target)) ? undefined : wholeContent(file);

const isCurrent = async ({ source, contents }: DesiredFile, target: string): Promise<boolean> => {
  if (source) {
    const { hash_type, hsum } = source.sum;
    const now = isFile(target) ? await hashOf(target, hash_type) : undefined;
    return now === hsum;
  }
  if (contents === undefined) return true;
  const found = statOf(target);
  return found?.size === contents.length && readFileSync(target).equals(contents);
};

const wholeContent = ({
  source,
  contents,
}: DesiredFile): FileContent | undefined | Promise<FileContent> =>
  source ? source.content() : contents && contentOf(contents);

const largestDiff = 16 * 1024 * 1024;

const isLarge = (target: string, size: number): boolean =>
  (statOf(target)?.size ?? 0) + size > largestDiff;

/** Large files are not transferred for a diff. */
const plannedDiff = async (file: DesiredFile, target: string): Promise<string | undefined> => {
  if (isLarge(target, file.source?.size ?? 0)) return 'Replace large file';
  const content = await wholeContent(file);
  const diff = content && diffWith(target, content);
  content?.discard();
  return diff;
};

const diffWith = (target: string, content: FileContent): string => {
  if (isLarge(target, content.size)) return 'Replace large file';
  const size = statOf(target)?.size ?? 0;
  return contentDiff(size > 0 ? readFileSync(target) : Buffer.alloc(0), content.bytes());
};

const ownership = (perms: DesiredPerms, before?: Before, ids?: AccountIds): Ownership => {
  const { uid = before?.uid, gid = before?.gid } = ids ?? accountIds(perms.user, perms.group);
  const stays = uid === before?.uid && gid === before?.gid;
  const inherited = before && (stays ? before.mode : withoutSetId(before.mode));
  const mode = modeBits(normalizeMode(perms.mode) ?? '-') ?? inherited;
  return {
    ...(uid !== undefined && uid >= 0 && { uid }),
    ...(gid !== undefined && gid >= 0 && { gid }),
    ...(mode !== undefined && { mode }),
  };
};

/**
 * Derives the mode of created parent folders from the file's mode: users who may read may also
 * enter.
 */
const traversable = (mode: string | number | null | undefined): string | undefined =>
  normalizeMode(mode)
    ?.slice(-3)
    .replace(/[1-7]/g, digit => String(Number(digit) | 1));

/**
 * Returns the existing file to compare a source with; its hash is computed once, when it is first
 * needed.
 *
 * @param entry what is there now
 */
export const destinationOf = (
  name: string,
  follow: boolean,
  entry: Stats | undefined,
): { path: string; sha256: () => Promise<string> } | undefined => {
  const isLinked = entry?.isSymbolicLink() === true;
  if (isLinked && !follow) return undefined;
  const found = isLinked ? statOf(name) : entry;
  if (!found?.isFile()) return undefined;
  let known: Promise<string> | undefined;
  return {
    path: name,
    sha256: () => {
      known ??= hashOf(name);
      return known;
    },
  };
};
