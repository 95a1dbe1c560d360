import { messageOf } from '../../../../protocol/error.ts';
import { mergeWholeFloats } from '../../../../protocol/whole-floats.ts';
import {
  type AccountName,
  checkPerms,
  type DesiredPerms,
  readPerms,
} from '../../../_shared/files/check-perms.ts';
import { accountIds, missingAccounts, warn } from '../../../_shared/files/file-checks.ts';
import { keepsMode, modeText, normalizeMode } from '../../../_shared/files/file-mode.ts';
import { exists, expandUser, isDir, isFile, lstatOf } from '../../../_shared/files/file-paths.ts';
import type { SelinuxContext } from '../../../_shared/files/selinux.ts';
import type { Stats } from '../../../_shared/safe-fs/fs.ts';
import {
  chooseSource,
  type FoundSource,
  findSource,
  SourceError,
} from '../../../_shared/sources/file-source.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import {
  __opts__,
  getContext,
  type Plain,
  type PlainDict,
  type StateReturn,
} from '../../../api.ts';
import { setQuickCheck } from '../../../quick-check.ts';
import { accumulatedFor } from '../../accumulators.ts';
import { isAlready } from '../../already.ts';
import { checkContent } from '../../check-cmd.ts';
import { encodeText } from '../../encode-text.ts';
import { refuseArguments, wrongPath } from '../../managed-arguments.ts';
import { type GivenContents, givenContents, renderContents } from '../../managed-contents.ts';
import {
  type DesiredFile,
  destinationOf,
  installFile,
  plannedChanges,
} from '../../managed-file.ts';
import { managedQuickly } from '../../quick-checks.ts';

type ManagedOptions = {
  source?: string | (string | PlainDict)[] | null;
  source_hash?: string | null;
  source_hash_name?: string | null;
  keep_source?: boolean;
  user?: AccountName;
  group?: AccountName;
  mode?: string | number | null;
  attrs?: string | null;
  template?: string | null;
  makedirs?: boolean;
  dir_mode?: string | number | null;
  context?: PlainDict | null;
  replace?: boolean;
  defaults?: PlainDict | null;
  backup?: string | null;
  show_changes?: boolean;
  create?: boolean;
  contents?: Plain;
  tmp_dir?: string;
  tmp_ext?: string;
  contents_pillar?: string | string[] | null;
  contents_grains?: string | string[] | null;
  contents_newline?: boolean;
  contents_delimiter?: string;
  encoding?: string | null;
  encoding_errors?: string;
  allow_empty?: boolean;
  follow_symlinks?: boolean;
  check_cmd?: string | null;
  skip_verify?: boolean;
  selinux?: SelinuxContext | null;
  verify_ssl?: boolean;
  use_etag?: boolean;
  owner?: AccountName;
};

/**
 * Manages a file: its content (from a source, a template, or given in the state), owner and mode.
 *
 * @param name path of the file
 * @param source `salt://`, `http(s)://` or `file://` URL or a path on this host; from a list, the first that exists
 * @param source_hash hash of a source from the web, `type=hash`, or where a file of hashes is
 * @param source_hash_name name to look up in a file of hashes
 * @param keep_source has no effect here: sources are not cached on the host
 * @param user owner
 * @param group group
 * @param mode mode in octal digits; `keep` uses the source's mode
 * @param attrs attributes as `lsattr` shows them
 * @param template renderer for the content: `liquid`, `jinja` …
 * @param makedirs make missing folders above the file
 * @param dir_mode mode of folders created by `makedirs`
 * @param context variables for the template
 * @param replace false: do not change the content of an existing file
 * @param defaults variables for the template that `context` overrides
 * @param backup `minion`: back up the replaced file, see `file.list_backups`
 * @param show_changes false: the diff is not shown
 * @param create false: do nothing if the file does not exist
 * @param contents the content: text, or a list of lines
 * @param tmp_dir where `check_cmd` finds its file
 * @param tmp_ext suffix of the name of the file passed to `check_cmd`
 * @param contents_pillar pillar key of the content
 * @param contents_grains grain with the content
 * @param contents_newline end the content with a newline
 * @param contents_delimiter separates the parts of the two keys
 * @param encoding encoding of the file for given contents
 * @param encoding_errors `strict`, `ignore` or `replace`
 * @param allow_empty false: empty contents are an error
 * @param follow_symlinks false: replace a symlink, do not write through it
 * @param check_cmd command that must succeed with the new file's path as its argument before the file is replaced
 * @param skip_verify accept a source from the web without a hash
 * @param selinux `seuser`, `serole`, `setype`, `serange`
 * @param verify_ssl false: accept any certificate of a web server, with a warning; a `source_hash` is still checked
 * @param use_etag keep a copy of a source from the web, and compare the server's ETag to decide whether it is current;
 *   then no `source_hash` is needed
 * @param owner alias of `user`
 * @unknown variables
 *
 * @example
 * /etc/motd:
 *   file.managed:
 *     - source: salt://motd.liquid
 *     - template: liquid
 *     - mode: 644
 */
export const managed = (
  name: string,
  {
    source = null,
    source_hash = '',
    source_hash_name = null,
    keep_source: _keepSource = true,
    user = null,
    group = null,
    mode = null,
    attrs = null,
    template = null,
    makedirs = false,
    dir_mode = null,
    context = null,
    replace = true,
    defaults = null,
    backup = '',
    show_changes = true,
    create = true,
    contents = null,
    tmp_dir = '',
    tmp_ext = '',
    contents_pillar = null,
    contents_grains = null,
    contents_newline = true,
    contents_delimiter = ':',
    encoding = null,
    encoding_errors = 'strict',
    allow_empty = true,
    follow_symlinks = true,
    check_cmd = null,
    skip_verify = false,
    selinux = null,
    verify_ssl = true,
    use_etag = false,
    owner = null,
  }: ManagedOptions = {},
): StateReturn | Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Destination file name is required');
  const keepMode = keepsMode(mode);
  const wantedMode = keepMode ? undefined : normalizeMode(mode);
  const given = { contents, contents_pillar, contents_grains };
  const refusal = refuseArguments(given, Boolean(source), keepMode);
  if (refusal) return failed(ret, refusal);
  if (!verify_ssl && [source].flat().some(isSecure)) warn(ret, uncheckedServer);
  const manage = (resolved: GivenContents): StateReturn | Promise<StateReturn> => {
    if (resolved.error !== undefined) return failed(ret, resolved.error);
    if (!create && !isFile(path))
      return { ...ret, comment: `File ${path} is not present and is not set for creation` };
    const user_ = user ?? owner;
    const ids = accountIds(user_, group);
    const entry = lstatOf(path);
    const isDirectory = entry?.isSymbolicLink() ? isDir(path) : entry?.isDirectory() === true;
    const problem =
      missingAccounts(user_, group, ids) || wrongPath(path, context, defaults, isDirectory);
    if (problem) return failed(ret, problem);
    const perms: DesiredPerms = {
      user: user_,
      group,
      mode: wantedMode,
      attrs,
      selinux: selinux ?? undefined,
      follow: follow_symlinks,
    };
    const keepsContent = !replace || (!source && resolved.text === undefined);
    if (keepsContent && exists(path)) return onlyPerms(ret, path, perms);
    const accumulator = accumulatedFor(path);
    const variables = accumulator ? mergeWholeFloats(context, { accumulator }) : context;
    const { env: saltenv } = getContext();
    const desired = (found: FoundSource | undefined, text: string | undefined): DesiredFile => ({
      name: path,
      source: found,
      contents:
        text === undefined ? undefined : encodeText(text, encoding ?? undefined, encoding_errors),
      perms: keepMode && found?.mode !== undefined ? { ...perms, mode: found.mode } : perms,
      ids,
      // A command that checks the content may make the file.
      isNew: entry === undefined && !check_cmd,
      backup,
      makedirs,
      dirMode: dir_mode,
      showChanges: show_changes,
    });
    const settle = (file: DesiredFile): StateReturn | Promise<StateReturn> =>
      isAlready(file, entry, ids)
        ? inCorrectState(ret)
        : change(ret, file, { check_cmd, tmp_dir, tmp_ext });
    try {
      const found = source
        ? sourceFor(source, entry, {
            name: path,
            source_hash,
            source_hash_name,
            user: user_,
            group,
            mode,
            attrs,
            template,
            context: variables,
            defaults,
            skip_verify,
            verify_ssl,
            use_etag,
            saltenv,
            follow_symlinks,
          })
        : undefined;
      const { text } = resolved;
      const rendering = { name: path, template, context: variables, defaults, saltenv };
      const settled =
        !(found instanceof Promise) && (!template || text === undefined)
          ? settle({ ...desired(found, text), isSeen: true })
          : withContents(found, text, rendering).then(([known, rendered]) =>
              settle(desired(known, rendered)),
            );
      return settled instanceof Promise ? settled.catch(error => unmanaged(ret, error)) : settled;
    } catch (error) {
      return unmanaged(ret, error);
    }
  };
  const looked = givenContents({ ...given, contents_delimiter, contents_newline, allow_empty });
  return looked instanceof Promise ? looked.then(manage) : manage(looked);
};

setQuickCheck(managed, managedQuickly);

/** Waits for the source, and renders contents that are a template. */
const withContents = async (
  source: FoundSource | undefined | Promise<FoundSource | undefined>,
  text: string | undefined,
  {
    template,
    ...options
  }: Omit<Parameters<typeof renderContents>[1], 'template'> & {
    readonly template: string | null;
  },
): Promise<readonly [FoundSource | undefined, string | undefined]> => {
  const found = await source;
  return template && text !== undefined
    ? [found, await renderContents(text, { ...options, template })]
    : [found, text];
};

/** Changes the file, or says in test mode what would change. */
const change = (
  ret: StateReturn,
  file: DesiredFile,
  { check_cmd, tmp_dir, tmp_ext }: { check_cmd: string | null; tmp_dir: string; tmp_ext: string },
): StateReturn | Promise<StateReturn> => {
  if (__opts__.test) return testAnswer(ret, file);
  if (!check_cmd) return installFile(ret, file);
  return checkContent(file, check_cmd, tmp_dir, tmp_ext).then(checked =>
    'result' in checked ? { ...ret, ...checked } : installFile(ret, checked),
  );
};

/** An error of the work is the state's failure. */
const unmanaged = (ret: StateReturn, error: unknown): StateReturn => {
  const message = messageOf(error);
  return failed(
    { ...ret, changes: {} },
    error instanceof SourceError ? message : `Unable to manage file: ${message}`,
  );
};

const uncheckedServer =
  'verify_ssl is False: anybody between this host and the web server can replace the file. Add a source_hash to verify it.';

const isSecure = (source: string | PlainDict | null): boolean =>
  /^https:/i.test(typeof source === 'string' ? source : (Object.keys(source ?? {})[0] ?? ''));

const onlyPerms = (ret: StateReturn, name: string, perms: DesiredPerms): StateReturn => {
  const { test } = __opts__;
  const current = modeText(readPerms(name, perms.follow ?? true).mode);
  const { ok, changes, comments } = checkPerms(name, perms, { test });
  const changed = Object.keys(changes).length > 0;
  const mode = normalizeMode(perms.mode);
  const comment = test
    ? mode !== undefined && mode !== current
      ? `File ${name} will be updated with permissions ${mode} from its current state of ${current}`
      : `File ${name} not updated`
    : ok && !changed
      ? `File ${name} exists with proper permissions. No changes made.`
      : comments.join('; ');
  return { ...ret, changes, comment, result: ok ? (test && changed ? null : true) : false };
};

type SourceArguments = { readonly name: string; readonly follow_symlinks: boolean } & Omit<
  Parameters<typeof findSource>[1],
  'dest' | 'near'
>;

const sourceFor = (
  source: string | (string | PlainDict)[],
  entry: Stats | undefined,
  options: SourceArguments,
): FoundSource | Promise<FoundSource> => {
  const { name, follow_symlinks } = options;
  const wanted = {
    ...options,
    dest: destinationOf(name, follow_symlinks, entry),
    near: __opts__.test ? undefined : name,
  };
  return Array.isArray(source) ? firstOf(source, wanted) : findSource(source, wanted);
};

const firstOf = async (
  sources: (string | PlainDict)[],
  options: Parameters<typeof findSource>[1],
): Promise<FoundSource> => {
  const { source_hash, saltenv, verify_ssl } = options;
  const chosen = await chooseSource(sources, source_hash, saltenv, { verify: verify_ssl });
  return findSource(chosen.source, { ...options, source_hash: chosen.source_hash });
};

const testAnswer = async (ret: StateReturn, file: DesiredFile): Promise<StateReturn> => {
  const changes = await plannedChanges(file);
  if (Object.keys(changes).length === 0) return inCorrectState(ret);
  if ('diff' in changes && !file.showChanges) changes.diff = '<show_changes=False>';
  return {
    ...ret,
    changes,
    result: null,
    comment: `The file ${file.name} is set to be changed\nNote: No changes made, actual changes may\nbe different due to other states.`,
  };
};

const inCorrectState = (ret: StateReturn): StateReturn => ({
  ...ret,
  comment: `${__opts__.test ? 'The file' : 'File'} ${ret.name} is in the correct state`,
});
