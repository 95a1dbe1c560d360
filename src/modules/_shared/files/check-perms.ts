import type { Plain, PlainDict } from '../../api.ts';
import { chmodSync, chownSync, lchownSync } from '../safe-fs/fs.ts';
import { RefusedPath } from '../safe-fs/refused.ts';
import { attributeChanges, changeAttributes, lsattrFlags } from './file-attributes.ts';
import { modeBits, modeText, normalizeMode } from './file-mode.ts';
import { lstatOf, statOf } from './file-paths.ts';
import { gidOf, groupName, uidOf, userName } from './owner-names.ts';
import { applySelinux, type SelinuxContext } from './selinux.ts';

export type AccountName = string | number | null | undefined;

export type DesiredPerms = {
  readonly user?: AccountName;
  readonly group?: AccountName;
  readonly mode?: string | number | null | undefined;
  readonly attrs?: string | null | undefined;
  readonly selinux?: SelinuxContext | undefined;
  readonly follow?: boolean;
};

/** Owner and mode as they were before: of the file that was replaced, or of an empty new one. */
export type Before = { readonly uid: number; readonly gid: number; readonly mode: number };

export type PermsResult = {
  readonly ok: boolean;
  readonly changes: PlainDict;
  readonly comments: string[];
};

/**
 * Brings owner, group, mode, attributes and SELinux context of a path to what is wanted (in test
 * mode: reports what it would do) and returns what changed since `before`.
 */
export const checkPerms = (
  path: string,
  wanted: DesiredPerms,
  { test = false, before }: { test?: boolean; before?: Before } = {},
): PermsResult => {
  const look = (): Before => readPerms(path, wanted.follow ?? false);
  const first = before ?? look();
  if (!test) applyPerms(path, wanted);
  const now = look();
  const changes: PlainDict = {};
  const comments: string[] = [];
  const asLink = !wanted.follow && lstatOf(path)?.isSymbolicLink() === true;
  for (const key of ['user', 'group', ...(asLink ? [] : ['mode' as const])] as const) {
    const value = key === 'mode' ? (normalizeMode(wanted.mode) ?? null) : wanted[key];
    if (!isWanted(value)) continue;
    if (has(now, key, value)) {
      if (!has(first, key, value)) changes[key] = value;
    } else if (test) changes[key] = value;
    else comments.push(`Failed to change ${key} to ${value}`);
  }
  const attributes = checkAttributes(path, wanted, test);
  const selinux = applySelinux(path, wanted.selinux, test);
  Object.assign(changes, attributes.changes, selinux.changes);
  comments.push(...attributes.comments, ...selinux.comments);
  return { ok: comments.length === 0, changes, comments };
};

/** Sets what differs; what the system refuses is left for the caller's look at the result. */
export const applyPerms = (path: string, wanted: DesiredPerms): void => {
  const isSymlink = lstatOf(path)?.isSymbolicLink() === true && !wanted.follow;
  const now = readPerms(path, !isSymlink);
  const uid = isWanted(wanted.user) ? (uidOf(wanted.user) ?? now.uid) : now.uid;
  const gid = isWanted(wanted.group) ? (gidOf(wanted.group) ?? now.gid) : now.gid;
  if (uid !== now.uid || gid !== now.gid)
    attempt(() => (isSymlink ? lchownSync : chownSync)(path, uid, gid));
  const afterChown = uid !== now.uid || gid !== now.gid;
  const mode =
    modeBits(normalizeMode(wanted.mode) ?? '-') ??
    (afterChown && statOf(path)?.isFile() ? withoutSetId(now.mode) : now.mode);
  if (!isSymlink && mode !== undefined && (mode !== now.mode || afterChown))
    attempt(() => chmodSync(path, mode));
};

/** A mode without setuid and setgid: a program that one account made must not run as another. */
export const withoutSetId = (mode: number): number => mode & ~0o6000;

/** The wanted user, group and mode where they differ from the current ones, as Salt lists them. */
export const permDifferences = (current: Before, wanted: DesiredPerms): PlainDict => {
  const changes: PlainDict = {};
  if (isWanted(wanted.user) && !has(current, 'user', wanted.user)) changes.user = wanted.user;
  if (isWanted(wanted.group) && !has(current, 'group', wanted.group)) changes.group = wanted.group;
  const mode = normalizeMode(wanted.mode);
  if (mode !== undefined && modeText(current.mode) !== mode) changes.mode = mode;
  return changes;
};

export const readPerms = (path: string, follow: boolean): Before => {
  const found = (follow ? statOf(path) : undefined) ?? lstatOf(path);
  if (!found) return { uid: -1, gid: -1, mode: 0 };
  return { uid: found.uid, gid: found.gid, mode: found.mode & 0o7777 };
};

const isWanted = (value: Plain | undefined): value is string | number =>
  (typeof value === 'string' && value !== '') || typeof value === 'number';

const has = (perms: Before, key: 'user' | 'group' | 'mode', value: string | number): boolean => {
  if (key === 'mode') return modeText(perms.mode) === value;
  const id = key === 'user' ? perms.uid : perms.gid;
  if (typeof value === 'number') return id === value;
  return (key === 'user' ? userName(id) : groupName(id)) === value || idOf(key, value) === id;
};

const idOf = (key: 'user' | 'group', name: string): number | undefined =>
  key === 'user' ? uidOf(name) : gidOf(name);

const checkAttributes = (
  path: string,
  { attrs, follow }: DesiredPerms,
  test: boolean,
): { changes: PlainDict; comments: string[] } => {
  const none = { changes: {}, comments: [] };
  if (typeof attrs !== 'string') return none;
  const found = follow ? statOf(path) : lstatOf(path);
  if (!found || found.isDirectory() || found.isSymbolicLink()) return none;
  const old = lsattrFlags(path);
  if (old === undefined) return none;
  const { added, removed } = attributeChanges(old, attrs);
  if (!added && !removed) return none;
  if (!test) {
    attempt(() => added && changeAttributes('add', added, [path]));
    attempt(() => removed && changeAttributes('remove', removed, [path]));
    const left = attributeChanges(lsattrFlags(path) ?? '', attrs);
    if (left.added || left.removed)
      return { changes: {}, comments: [`Failed to change attributes to ${attrs}`] };
  }
  return { changes: { attrs: { old, new: attrs } }, comments: [] };
};

const attempt = (work: () => unknown): void => {
  try {
    work();
  } catch (error) {
    if (error instanceof RefusedPath) throw error;
    // The caller compares the result with what was wanted and reports the difference.
  }
};
