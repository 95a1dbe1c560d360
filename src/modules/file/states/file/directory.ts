import {
  type AccountName,
  checkPerms,
  type DesiredPerms,
} from '../../../_shared/files/check-perms.ts';
import { missingAccounts } from '../../../_shared/files/file-checks.ts';
import { normalizeMode } from '../../../_shared/files/file-mode.ts';
import {
  expandUser,
  isAbs,
  isDir,
  isFile,
  isLink,
  linkExists,
} from '../../../_shared/files/file-paths.ts';
import { gidOf, uidOf } from '../../../_shared/files/owner-names.ts';
import { renameSync } from '../../../_shared/safe-fs/fs.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { plainStr } from '../../../_shared/text/python-text.ts';
import { __opts__, __salt__, type PlainDict, type StateReturn } from '../../../api.ts';
import { setQuickCheck } from '../../../quick-check.ts';
import {
  desiredBelow,
  metaChanges,
  recurseSet,
  requiredPaths,
  superfluous,
  topmost,
  walk,
} from '../../directory-checks.ts';
import { createDirectory } from '../../new-directory.ts';
import { directoryQuickly } from '../../quick-checks.ts';

type DirectoryOptions = {
  user?: AccountName;
  group?: AccountName;
  recurse?: string[] | null;
  max_depth?: number | null;
  dir_mode?: string | number | null;
  file_mode?: string | number | null;
  makedirs?: boolean;
  clean?: boolean;
  require?: PlainDict[] | null;
  exclude_pat?: string | string[] | null;
  follow_symlinks?: boolean;
  force?: boolean;
  backupname?: string | null;
  allow_symlink?: boolean;
  children_only?: boolean;
  mode?: string | number | null;
  owner?: AccountName;
};

/**
 * Manages a directory: that it is there, who owns it, and, when asked, what is in it.
 *
 * @param name the directory
 * @param user owner
 * @param group group
 * @param recurse apply `user`, `group`, `mode` to all below; `ignore_files`, `ignore_dirs`, `silent`
 * @param max_depth maximum depth of `recurse`
 * @param dir_mode mode of directories
 * @param file_mode mode of files below; by default, `dir_mode`
 * @param makedirs make missing directories above
 * @param clean remove entries that no required file state manages
 * @param require the requisite; its file states say what `clean` keeps
 * @param exclude_pat globs, or `E@` and a regular expression, that `clean` leaves alone
 * @param follow_symlinks apply owner and mode to the target of a symlink
 * @param force replace a file or symlink at this place
 * @param backupname move a file at this place here
 * @param allow_symlink false: a symlink to a directory is not good enough
 * @param children_only leave the directory itself as it is
 * @param mode another word for dir_mode
 * @param owner alias of `user`
 * @unknown ignored
 *
 * @example
 * /srv/app:
 *   file.directory:
 *     - user: www-data
 *     - mode: 755
 *     - makedirs: True
 */
export const directory = async (
  name: string,
  {
    user = null,
    group = null,
    recurse = null,
    max_depth = null,
    dir_mode = null,
    file_mode = null,
    makedirs = false,
    clean = false,
    require: required = null,
    exclude_pat = null,
    follow_symlinks = false,
    force = false,
    backupname = null,
    allow_symlink = true,
    children_only = false,
    mode = null,
    owner = null,
  }: DirectoryOptions = {},
): Promise<StateReturn> => {
  const given = expandUser(name);
  const ret = newReturn(given);
  if (!given) return failed(ret, 'Must provide name to file.directory');
  const path = given === '/' ? given : given.replace(/\/$/, '');
  if (max_depth !== null && clean) return failed(ret, 'Cannot specify both max_depth and clean');
  const dirMode = normalizeMode(dir_mode || mode);
  const shared = { user: user ?? owner, group, follow: follow_symlinks };
  const perms = {
    dir: { ...shared, mode: dirMode },
    file: { ...shared, mode: normalizeMode(file_mode) ?? dirMode },
  };
  const problem = missingAccounts(shared.user, group);
  if (problem) return failed(ret, problem);
  if (!isAbs(path)) return failed(ret, `Specified file ${path} is not an absolute path`);
  const inTheWay = await clearPlace(ret, path, { force, backupname, allow_symlink });
  if (inTheWay) return failed(ret, inTheWay);

  const set = recurseSet(recurse);
  if (typeof set === 'string') return failed(ret, set);
  const wanted: Wanted = { path, perms, recurse: set, maxDepth: max_depth };
  const removals = clean ? superfluous(path, await requiredPaths(required), exclude_pat) : [];
  const planned = plan(wanted, removals, children_only);
  if (Object.keys(planned).length === 0 && Object.keys(ret.changes).length === 0)
    return { ...ret, comment: `The directory ${path} is in the correct state` };
  if (__opts__.test) return testAnswer(ret, planned);
  if (!isDir(path)) return createDirectory(ret, path, perms.dir, makedirs);
  return update(
    { ...ret, changes: { ...ret.changes, ...planned } },
    wanted,
    removals,
    children_only,
  );
};

setQuickCheck(directory, directoryQuickly);

type Wanted = {
  path: string;
  perms: { dir: DesiredPerms; file: DesiredPerms };
  recurse: Set<string>;
  maxDepth: number | null;
};

const clearPlace = async (
  ret: StateReturn,
  path: string,
  {
    force,
    backupname,
    allow_symlink,
  }: Required<Pick<DirectoryOptions, 'force' | 'allow_symlink'>> & {
    backupname: string | null;
  },
): Promise<string | undefined> => {
  const blocked = isFile(path) || (isLink(path) && (force || !allow_symlink || !isDir(path)));
  if (!blocked) return undefined;
  const what = isFile(path) ? 'file' : 'symlink';
  if (backupname === null && !force) return `Specified location ${path} exists and is a ${what}`;
  if (backupname !== null && linkExists(backupname) && !force)
    return `File exists where the backup target ${backupname} should go`;
  const subject = what === 'file' ? 'File' : 'Symlink';
  if (__opts__.test) {
    ret.changes.forced = `${subject} would be forcibly replaced`;
    return undefined;
  }
  if (backupname !== null) {
    await __salt__['file.remove']?.(backupname);
    renameSync(path, backupname);
    return undefined;
  }
  await __salt__['file.remove']?.(path);
  ret.changes.forced = `${subject} was forcibly replaced`;
  return undefined;
};

const plan = (
  { path, perms, recurse, maxDepth }: Wanted,
  removals: string[],
  childrenOnly: boolean,
): PlainDict => {
  const changes: PlainDict = {};
  const note = (entry: string, differing: PlainDict): void => {
    if (Object.keys(differing).length > 0) changes[entry] = differing;
  };
  if (recurse.size > 0)
    for (const entry of walk(path, maxDepth)) {
      const wanted = desiredBelow(entry, recurse, perms);
      if (wanted) note(entry.path, metaChanges(entry.path, wanted));
    }
  if (!childrenOnly) note(path, metaChanges(path, perms.dir));
  for (const entry of removals) changes[entry] = { removed: 'Removed due to clean' };
  if (!isDir(path)) changes[path] = { directory: 'new' };
  return changes;
};

const testAnswer = (ret: StateReturn, planned: PlainDict): StateReturn => {
  const lines = Object.entries(planned).flatMap(([path, changes]) =>
    Object.entries(changes as PlainDict).map(
      ([key, value]) => `${path}: ${key} - ${plainStr(value)}\n`,
    ),
  );
  return {
    ...ret,
    result: null,
    changes: { ...ret.changes, ...planned },
    comment: `The following files will be changed:\n${lines.join('')}`,
  };
};

const update = async (
  ret: StateReturn,
  { path, perms, recurse, maxDepth }: Wanted,
  removals: string[],
  childrenOnly: boolean,
): Promise<StateReturn> => {
  const changes: PlainDict = { ...ret.changes };
  const problems: string[] = ownersMissing(recurse, perms.dir);
  const apply = (entry: string, wanted: DesiredPerms): PlainDict => {
    const result = checkPerms(entry, wanted);
    problems.push(...result.comments);
    return result.changes;
  };
  if (!childrenOnly) Object.assign(changes, apply(path, perms.dir));
  for (const entry of recurse.size > 0 ? walk(path, maxDepth) : []) {
    const wanted = desiredBelow(entry, recurse, perms);
    if (wanted) apply(entry.path, wanted);
  }
  for (const entry of removals.toReversed()) await __salt__['file.remove']?.(entry);
  const final: PlainDict = recurse.has('silent') ? { recursion: 'Changes silenced' } : changes;
  if (removals.length > 0) final.removed = topmost(removals);
  if (problems.length > 0) return failed({ ...ret, changes: final }, problems.join('; '));
  const comment =
    removals.length > 0
      ? `Files cleaned from directory ${path}`
      : childrenOnly
        ? `Directory ${path}/* updated`
        : `Directory ${path} updated`;
  return { ...ret, changes: final, comment };
};

const ownersMissing = (recurse: Set<string>, { user, group }: DesiredPerms): string[] => {
  const problems: string[] = [];
  if (recurse.has('user') && (user === null || user === undefined || uidOf(user) === undefined))
    problems.push(
      'user not specified, but configured as a target for recursive ownership management',
    );
  if (recurse.has('group') && (group === null || group === undefined || gidOf(group) === undefined))
    problems.push(
      'group not specified, but configured as a target for recursive ownership management',
    );
  return problems;
};
