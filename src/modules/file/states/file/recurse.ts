import { join, normalize } from 'node:path';
import type { AccountName } from '../../../_shared/files/check-perms.ts';
import { missingAccounts } from '../../../_shared/files/file-checks.ts';
import { normalizeMode } from '../../../_shared/files/file-mode.ts';
import { exists, expandUser, isAbs, isDir, isLink } from '../../../_shared/files/file-paths.ts';
import { parseSource } from '../../../_shared/sources/source-url.ts';
import { failed, inPlan, newReturn } from '../../../_shared/states/returns.ts';
import { __env__, __opts__, __salt__, type PlainDict, type StateReturn } from '../../../api.ts';
import type { ControlFolder } from '../../control-folder.ts';
import { requiredPaths, superfluous, topmost } from '../../directory-checks.ts';
import type { RecursedAnswer } from '../../managed-file.ts';
import { NewFiles, type RecursedOptions } from '../../new-files.ts';
import { expectRecursed, PresentFiles, recursedFiles, sourceIn } from '../../recursed-files.ts';
import { directory } from './directory.ts';
import { managed } from './managed.ts';
import { symlink } from './symlink.ts';

type RecurseOptions = {
  keep_source?: boolean;
  clean?: boolean;
  require?: PlainDict[] | null;
  user?: AccountName;
  group?: AccountName;
  dir_mode?: string | number | null;
  file_mode?: string | number | null;
  sym_mode?: string | number | null;
  template?: string | null;
  context?: PlainDict | null;
  replace?: boolean;
  defaults?: PlainDict | null;
  include_empty?: boolean;
  backup?: string | null;
  include_pat?: string | string[] | null;
  exclude_pat?: string | string[] | null;
  maxdepth?: number | null;
  keep_symlinks?: boolean;
  force_symlinks?: boolean;
  mode?: string | number | null;
  show_changes?: boolean;
  owner?: AccountName;
};

/**
 * Manages a directory tree after a folder of the file server.
 *
 * @param name the directory
 * @param source the folder, `salt://…`; from a list, the first that exists
 * @param keep_source has no effect here: sources are not cached on the host
 * @param clean remove entries that are neither in the folder nor managed by a required file state
 * @param require the requisite; its file states say what `clean` keeps
 * @param user owner of all
 * @param group group of all
 * @param dir_mode mode of directories
 * @param file_mode mode of files; `keep` uses the source's modes
 * @param sym_mode mode of directories made for symlinks
 * @param template renderer for every file
 * @param context variables for the templates
 * @param replace false: do not change existing files
 * @param defaults variables for the templates that `context` overrides
 * @param include_empty also make empty directories
 * @param backup `minion`: back up replaced files
 * @param include_pat only these: globs, or `E@` and a regular expression
 * @param exclude_pat not these
 * @param maxdepth how deep to go: 0 for the files of the folder itself
 * @param keep_symlinks create symlinks of the folder as symlinks
 * @param force_symlinks replace an existing entry in the place of a symlink
 * @param mode not allowed: use file_mode and dir_mode
 * @param show_changes false: diffs are not shown
 * @param owner alias of `user`
 * @unknown variables
 *
 * @example
 * /opt/code/flask:
 *   file.recurse:
 *     - source: salt://code/flask
 *     - include_empty: True
 */
export const recurse = async (
  name: string,
  source: string | string[],
  {
    keep_source: _keepSource = true,
    clean = false,
    require: required = null,
    user = null,
    group = null,
    dir_mode = null,
    file_mode = null,
    sym_mode = null,
    template = null,
    context = null,
    replace = true,
    defaults = null,
    include_empty = false,
    backup = '',
    include_pat = null,
    exclude_pat = null,
    maxdepth = null,
    keep_symlinks = false,
    force_symlinks = false,
    mode = null,
    show_changes = true,
    owner = null,
  }: RecurseOptions = {},
): Promise<StateReturn> => {
  const path = normalize(expandUser(name)).replace(/(.)\/$/, '$1');
  const ret = newReturn(expandUser(name));
  if (mode !== null)
    return failed(
      ret,
      "'mode' is not allowed in 'file.recurse'. Please use 'file_mode' and 'dir_mode'.",
    );
  const problem = missingAccounts(user ?? owner, group);
  if (problem) return failed(ret, problem);
  if (!isAbs(path)) return failed(ret, `Specified file ${path} is not an absolute path`);
  const sources = [source].flat().map(each => String(each).replace(/\/+$/, ''));
  const wrong = sources.find(each => !each.startsWith('salt://'));
  if (wrong !== undefined) return failed(ret, `Invalid source '${wrong}' (must be a salt:// URI)`);
  const selection = { include_empty, keep_symlinks, include_pat, exclude_pat, maxdepth };
  const owners = { user: user ?? owner, group };
  const dirMode = normalizeMode(dir_mode) ?? null;
  const options = { ...owners, mode: file_mode, template, context, defaults };
  const present = new PresentFiles(path, { ...owners, mode: file_mode }, replace && !template);
  const fresh = newFilesOf(path, options, dirMode);
  // Only the whole list shows which entries are in the way, and which files are behind links.
  const early = clean || keep_symlinks ? undefined : fresh;
  const found = await endAfter(early, () =>
    recursedFiles(path, sources, __env__.name, {
      ...selection,
      hashes: !template,
      compare: (folder, file) => {
        present.compare(folder, file);
        if (!early || !present.isAbsent(file)) return;
        early.add(folder, file);
        early.begin();
      },
    }),
  );
  if (!found) {
    if (sources.length > 1)
      return failed(ret, 'Recurse failed: none of the specified sources were found');
    const { path: missing, saltenv = __env__.name } = parseSource(sources[0] ?? '');
    return failed(
      ret,
      `The directory '${missing}' does not exist on the salt fileserver in saltenv '${saltenv}'`,
    );
  }
  if (!isDir(path) && exists(path))
    return failed(ret, `The path ${path} exists and is not a directory`);

  if (!isDir(path) && !__opts__.test)
    await __salt__['file.makedirs_perms']?.(path, { ...owners, mode: dirMode });
  const { folder, files, dirs, emptyDirs, links } = found;
  const report = newReport();
  for (const [link, target] of links) {
    const linking = { ...owners, makedirs: true, force: force_symlinks, mode: sym_mode };
    report.add(join(path, link), await symlink(join(path, link), target, linking));
  }
  for (const dir of dirs) {
    if (clean && exists(dir) && !isDir(dir))
      if (
        await makeRoom(
          report,
          dir,
          `Replacing ${dir} with a directory`,
          'Replaced file with a directory',
        )
      )
        continue;
    report.add(
      dir,
      fresh?.dirs.get(dir) ??
        (await directory(dir, { ...owners, dir_mode: dirMode, makedirs: true })),
    );
  }
  const others = await present.missing(found);
  const more = { makedirs: true, dir_mode: dirMode, replace, backup, show_changes };
  await makeFiles(report, path, folder, others, { present, fresh, clean, options, more });
  if (clean) {
    const kept = [
      ...files.map(file => join(path, file)),
      ...dirs,
      ...links.map(([link]) => join(path, link)),
    ];
    const others = await requiredPaths(required);
    const own = [...kept.filter(each => isLink(each) || !isDir(each)), ...emptyDirs];
    const removed = superfluous(path, { ...others, paths: [...own, ...others.paths] }, exclude_pat);
    if (removed.length > 0) await report.removed(removed);
  }
  return report.finish(ret, path);
};

/** Makes new files of these options together; undefined where each needs a state of its own. */
const newFilesOf = (
  path: string,
  { template, context, defaults, ...perms }: RecursedOptions,
  dirMode: string | null,
): NewFiles | undefined => {
  if (__opts__.test || template || context !== null || defaults !== null) return undefined;
  const { user, group } = perms;
  return new NewFiles(path, perms, {
    root: async () => {
      if (!exists(path))
        await __salt__['file.makedirs_perms']?.(path, { user, group, mode: dirMode });
    },
    dir: dir => directory(dir, { user, group, dir_mode: dirMode, makedirs: true }),
  });
};

/** Ends what began while the files were listed, also where listing them failed. */
const endAfter = async <T>(early: NewFiles | undefined, list: () => Promise<T>): Promise<T> => {
  try {
    return await list();
  } finally {
    if (early?.hasBegun) await early.end();
  }
};

type FilesToMake = {
  readonly present: PresentFiles;
  readonly fresh: NewFiles | undefined;
  readonly clean: boolean;
  readonly options: RecursedOptions;
  /** Arguments of `file.managed` beside these. */
  readonly more: Parameters<typeof managed>[1] & { readonly replace: boolean };
};

/** Makes files as they should be: all new ones together, each other one as a state. */
const makeFiles = async (
  report: Report,
  path: string,
  folder: ControlFolder,
  files: readonly string[],
  { present, fresh, clean, options, more }: FilesToMake,
): Promise<void> => {
  if (fresh && !fresh.hasBegun) {
    for (const file of files) if (present.isAbsent(file)) fresh.add(folder, file);
    fresh.begin();
    await fresh.end();
  }
  const rest = fresh ? files.filter(file => !fresh.made.has(file)) : files;
  const endFiles = expectRecursed(path, folder, rest, present.isAbsent, options);
  const below = path === '/' ? '' : path;
  for (const file of files) {
    const dest = `${below}/${file}`;
    const answer = fresh?.made.get(file);
    if (answer) {
      report.add(dest, answer);
      continue;
    }
    if (clean && isDir(dest) && more.replace)
      if (
        await makeRoom(
          report,
          dest,
          `Replacing directory ${dest} with a file`,
          'Replaced directory with a new file',
        )
      )
        continue;
    report.add(dest, await managed(dest, { ...options, ...more, source: sourceIn(folder, file) }));
  }
  endFiles();
};

type Report = {
  add: (path: string, result: RecursedAnswer) => void;
  removed: (paths: string[]) => Promise<void>;
  finish: (ret: StateReturn, path: string) => StateReturn;
};

const newReport = (): Report => {
  const comments = new Map<string, string[]>();
  const changes: PlainDict = {};
  let result: boolean | null = true;
  const comment = (path: string, ...lines: string[]): void => {
    comments.set(path, [...(comments.get(path) ?? []), ...lines]);
  };
  return {
    add: (path, one) => {
      if (one.result === false || result === true) result = one.result;
      if (one.result !== true && one.comment) comment(path, ...[one.comment].flat());
      if (Object.keys(one.changes).length > 0) changes[path] = one.changes;
    },
    removed: async paths => {
      if (__opts__.test) {
        if (result) result = null;
        comment('removed', ...paths);
        Object.assign(changes, inPlan({ removed: topmost(paths) }));
        return;
      }
      for (const path of paths.toReversed()) await __salt__['file.remove']?.(path);
      changes.removed = topmost(paths);
    },
    finish: (ret, path) => {
      const text = [...comments]
        .map(([key, lines]) => `\n#### ${key} ####\n${lines.join('\n')}`)
        .join('\n')
        .trim();
      const same = Object.keys(changes).length === 0 && result === true;
      const summary = same
        ? `The directory ${path} is in the correct state`
        : `Recursively updated ${path}`;
      return { ...ret, changes, result, comment: same ? summary : text || summary };
    },
  };
};

/** Removes what stands where something of another kind belongs; true in test mode: all is said. */
const makeRoom = async (
  report: Report,
  path: string,
  planned: string,
  done: string,
): Promise<boolean> => {
  if (__opts__.test) {
    report.add(path, {
      changes: inPlan({ diff: done }),
      result: null,
      comment: planned,
    });
    return true;
  }
  await __salt__['file.remove']?.(path);
  report.add(path, { changes: { diff: done }, result: true, comment: '' });
  return false;
};
